/** @jsxImportSource hono/jsx */
/** A digest as mail: plain text, and HTML that works on a phone, in dark mode and in clients without style sheets. */
import { describeFilter, storedFilter } from "../filter/filter.ts";
import { parseInstantMs } from "../text/instant.ts";
import { ellipsized } from "../text/quoted.ts";
import { oneLine } from "../text/terminal-text.ts";
import { type Digest, type DigestEntry, type DigestSection, digestOf, moreInWords } from "./digest.ts";
import type { Message } from "./message.ts";
import type { Zone } from "./watch.ts";
import { zoneInWords } from "./watch-form.ts";

export type Mail = { subject: string; text: string; html: string };

/** RFC 3676 advises less than 78; some are left for the marks of replies. */
const COLUMNS = 72;
const LEADS_TO = "All opportunities and what changed:";

/** To the watch if it is a member's, and to unsubscribe. */
export type MailLinks = { watch?: string; stop: string };

export type MailPart = { message: Message; zone: Zone; links?: MailLinks | undefined };

type WrittenPart = { digest: Digest; foot: string[]; dates: string; links: MailLinks | undefined };

/** One mail with the messages of one or several watches. `pages` is the address of the pages, if mails link to them. */
export function mailOf(parts: readonly MailPart[], pages?: string): Mail {
  const written = parts.map(({ message, zone, links }): WrittenPart => {
    return { digest: digestOf(message, zone), foot: footOf(message, pages), dates: `Dates are in ${zoneInWords(zone)}.`, links };
  });
  const subject = subjectOf(parts, written);
  const html = `<!doctype html>\n${<Page subject={subject} parts={written} pages={pages} />}\n`;
  return { subject, text: textOf(subject, written, pages), html };
}

function subjectOf(parts: readonly MailPart[], [first, ...others]: readonly WrittenPart[]): string {
  if (others.length === 0) return first?.digest.subject ?? "";
  const subject = `${parts.length} watches: ${parts.map(({ message: { data } }) => oneLine(data.title ?? data.watch)).join(", ")}`;
  return ellipsized(subject, 119);
}

function footOf({ timestamp, data: { watch, title, filter, muted } }: Message, pages: string | undefined): string[] {
  const conditions = describeFilter(storedFilter(filter), parseInstantMs(timestamp) ?? 0).map(oneLine);
  const about = conditions.length === 0 ? "all opportunities" : conditions.join("; ");
  const why = title === undefined ? `of the watch "${watch}" of fundfeed` : `you saved "${oneLine(title)}" at ${pages ?? "fundfeed"}`;
  return [
    `You get this because ${why}: ${about}.`,
    ...(muted === undefined ? [] : [`Muted, and left out: ${muted === 1 ? "1 opportunity" : `${muted} opportunities`}.`]),
  ];
}

function textOf(subject: string, parts: readonly WrittenPart[], pages: string | undefined): string {
  const isOne = parts.length === 1;
  const lines = [
    ...mailLines(subject, ""),
    "",
    ...parts.flatMap(({ digest: { subject, note, sections } }) => [
      ...(isOne ? [] : [...mailLines(subject, ""), "=".repeat(Math.min(COLUMNS, subject.length)), ""]),
      ...(note === null ? [] : [...mailLines(note, ""), ""]),
      ...sections.flatMap((section) => {
        const last = moreInWords(section);
        const entries = section.entries.flatMap((entry) => entryLines(entry, pages));
        return [section.heading.toUpperCase(), "", ...entries, ...(last === "" ? [] : [last, ""])];
      }),
    ]),
    "-- ", // Mail programs show what follows as a signature.
    ...parts.flatMap((part) => [
      ...footLines(part, parts).flatMap((line) => mailLines(line, "")),
      ...(part.links?.watch === undefined ? [] : [`Change or pause it: ${part.links.watch}`]),
    ]),
    ...stopOf(parts).map((stop) => `Stop these mails: ${stop}`),
    ...(pages === undefined ? [] : [`${LEADS_TO} ${pages}/`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Dates are explained in each part if that differs, otherwise once below the last part. */
function footLines({ foot, dates, ...part }: WrittenPart, parts: readonly WrittenPart[]): string[] {
  const isRepeatedBelow = parts.every((other) => other.dates === dates) && part.digest !== parts.at(-1)?.digest;
  return isRepeatedBelow ? foot : [...foot, dates];
}

function stopOf(parts: readonly WrittenPart[]): string[] {
  return [...new Set(parts.flatMap(({ links }) => links?.stop ?? []))];
}

function pageOf({ id }: DigestEntry, pages: string): string {
  return `${pages}/opportunities/${id}`;
}

function entryLines(entry: DigestEntry, pages: string | undefined): string[] {
  const { title, url, facts, changes } = entry;
  return [
    ...mailLines(title, ""),
    ...changes.flatMap((change) => mailLines(`* ${change}`, "  ")),
    ...mailLines(facts, "  "),
    ...(url ? [`  ${url}`] : []),
    ...(pages === undefined ? [] : [`  History: ${pageOf(entry, pages)}`]),
    "",
  ];
}

/** The lines of a text, each with this indent. */
export function mailLines(text: string, indent: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > COLUMNS) lines.push(indent + word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

// ---- HTML. Styles are inline, as mail programs remove others. Classes only serve dark mode.

const DARK = `
@media (prefers-color-scheme: dark) {
  .page { background: #0e1316 !important; color: #dfe7e8 !important; }
  .faint { color: #94a3a8 !important; }
  .link { color: #4fd1b5 !important; }
  .urgent { color: #ff9d8f !important; }
  .rule { border-color: #2a3439 !important; }
  .change { background: #161d21 !important; color: #dfe7e8 !important; }
}`;
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;";
const LINK = "color:#0a6c5c;";
const BREAK = "overflow-wrap:anywhere;";

type PageProps = { subject: string; parts: readonly WrittenPart[]; pages: string | undefined };

function Page({ subject, parts, pages }: PageProps) {
  const isOne = parts.length === 1;
  return (
    <MailFrame subject={subject}>
      {parts.map(({ digest: { subject, note, sections } }) => (
        <>
          {!isOne && <h2 style="font-size:19px;line-height:1.3;margin:32px 0 16px;">{subject}</h2>}
          {note !== null && <p style={`margin:0 0 20px;${BREAK}`}>{note}</p>}
          {sections.map((section) => (
            <SectionBlock section={section} pages={pages} />
          ))}
        </>
      ))}
      <div class="faint" style="margin-top:28px;font-size:13px;color:#56656a;">
        {parts.map((part) => (
          <>
            {footLines(part, parts).map((line) => (
              <p style={`margin:0 0 6px;${BREAK}`}>{line}</p>
            ))}
            {part.links?.watch !== undefined && <FootLink href={part.links.watch}>Change or pause it</FootLink>}
          </>
        ))}
        {stopOf(parts).map((stop) => (
          <FootLink href={stop}>Stop these mails</FootLink>
        ))}
        {pages !== undefined && (
          <p style={`margin:0 0 6px;${BREAK}`}>
            {LEADS_TO}{" "}
            <a class="link" href={`${pages}/`} style={LINK}>
              {new URL(pages).host}
            </a>
          </p>
        )}
      </div>
    </MailFrame>
  );
}

/** The style of all mails. */
export function MailFrame({ subject, children }: { subject: string; children: unknown }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{subject}</title>
        <style>{DARK}</style>
      </head>
      <body class="page" style={`margin:0;padding:0;background:#ffffff;color:#1b2529;${FONT}`}>
        <main>
          <div style="max-width:640px;margin:0 auto;padding:20px 16px;font-size:16px;line-height:1.45;">
            <h1 style="font-size:20px;line-height:1.3;margin:0 0 20px;">{subject}</h1>
            {children}
          </div>
        </main>
      </body>
    </html>
  );
}

function FootLink({ href, children }: { href: string; children?: string }) {
  return (
    <p style={`margin:0 0 6px;${BREAK}`}>
      <a class="link" href={href} style={LINK}>
        {children}
      </a>
    </p>
  );
}

function SectionBlock({ section, pages }: { section: DigestSection; pages: string | undefined }) {
  const { heading, isUrgent, entries } = section;
  const last = moreInWords(section);
  const color = isUrgent ? "color:#b3261e;" : "";
  return (
    <div style="margin:0 0 24px;">
      <h2
        class={isUrgent ? "urgent rule" : "rule"}
        style={`font-size:17px;margin:0 0 4px;padding-bottom:6px;border-bottom:2px solid #dfe5e5;${color}`}
      >
        {heading}
      </h2>
      {entries.map((entry) => (
        <EntryBlock entry={entry} pages={pages} />
      ))}
      {last !== "" && (
        <p class="faint" style="margin:10px 0 0;color:#56656a;">
          {last}
        </p>
      )}
    </div>
  );
}

function EntryBlock({ entry, pages }: { entry: DigestEntry; pages: string | undefined }) {
  const { title, url, facts, changes } = entry;
  return (
    <div class="rule" style="padding:12px 0;border-bottom:1px solid #dfe5e5;">
      <div style={`font-weight:600;${BREAK}`}>
        {url === null ? (
          title
        ) : (
          <a class="link" href={url} style="color:#0a6c5c;text-decoration:none;">
            {title}
          </a>
        )}
      </div>
      {changes.map((change) => (
        <div class="change" style={`margin:6px 0 0;padding:6px 10px;background:#f5f7f7;border-radius:6px;font-size:15px;${BREAK}`}>
          {change}
        </div>
      ))}
      <div class="faint" style={`margin-top:6px;font-size:14px;color:#56656a;${BREAK}`}>
        {facts}
        {pages !== undefined && (
          <>
            {" · "}
            <a class="link" href={pageOf(entry, pages)} style={LINK}>
              history
            </a>
          </>
        )}
      </div>
    </div>
  );
}
