/** @jsxImportSource hono/jsx */
/** A digest as mail: plain text, and HTML that works on a phone, in dark mode and in clients without style sheets. */
import { describeFilter, storedFilter } from "../filter/filter.ts";
import { parseInstantMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { type Digest, type DigestEntry, type DigestSection, digestOf, moreInWords } from "./digest.ts";
import type { Message } from "./message.ts";
import type { Zone } from "./watch.ts";

export type Mail = { subject: string; text: string; html: string };

/** The columns of the text. RFC 3676 advises less than 78; some are left for the marks of replies. */
const COLUMNS = 72;
const LEADS_TO = "All opportunities and what changed:";

/** `pages` is the address at which the pages of this server are, if mails lead to them. */
export function mailOf(message: Message, zone: Zone, pages?: string): Mail {
  const digest = digestOf(message, zone);
  const foot = footOf(message, zone);
  return {
    subject: digest.subject,
    text: textOf(digest, foot, pages),
    html: `<!doctype html>\n${<Page digest={digest} foot={foot} pages={pages} />}\n`,
  };
}

/** Why the reader gets this, and what the dates mean. */
function footOf({ timestamp, data: { watch, filter, muted } }: Message, zone: Zone): string[] {
  const conditions = describeFilter(storedFilter(filter), parseInstantMs(timestamp) ?? 0).map(oneLine);
  return [
    `You get this because of the watch "${watch}" of fundfeed: ${conditions.length === 0 ? "all opportunities" : conditions.join("; ")}.`,
    ...(muted === undefined ? [] : [`Muted, and left out: ${muted === 1 ? "1 opportunity" : `${muted} opportunities`}.`]),
    `Dates are those of the time zone ${zone}.`,
  ];
}

function textOf({ subject, note, sections }: Digest, foot: readonly string[], pages: string | undefined): string {
  const lines = [
    ...wrapped(subject, ""),
    "",
    ...(note === null ? [] : [...wrapped(note, ""), ""]),
    ...sections.flatMap((section) => {
      const last = moreInWords(section);
      return [
        section.heading.toUpperCase(),
        "",
        ...section.entries.flatMap((entry) => entryLines(entry, pages)),
        ...(last === "" ? [] : [last, ""]),
      ];
    }),
    "-- ", // Mail programs show what follows as a signature.
    ...foot.flatMap((line) => wrapped(line, "")),
    ...(pages === undefined ? [] : [`${LEADS_TO} ${pages}/`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** The page of an opportunity with its history. */
function pageOf({ id }: DigestEntry, pages: string): string {
  return `${pages}/opportunities/${id}`;
}

function entryLines(entry: DigestEntry, pages: string | undefined): string[] {
  const { title, url, facts, changes } = entry;
  return [
    ...wrapped(title, ""),
    ...changes.flatMap((change) => wrapped(`* ${change}`, "  ")),
    ...wrapped(facts, "  "),
    ...(url ? [`  ${url}`] : []),
    ...(pages === undefined ? [] : [`  History: ${pageOf(entry, pages)}`]),
    "",
  ];
}

function wrapped(text: string, indent: string): string[] {
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

type PageProps = { digest: Digest; foot: readonly string[]; pages: string | undefined };

function Page({ digest: { subject, note, sections }, foot, pages }: PageProps) {
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
        <div style="max-width:640px;margin:0 auto;padding:20px 16px;font-size:16px;line-height:1.45;">
          <h1 style="font-size:20px;line-height:1.3;margin:0 0 20px;">{subject}</h1>
          {note !== null && <p style={`margin:0 0 20px;${BREAK}`}>{note}</p>}
          {sections.map((section) => (
            <SectionBlock section={section} pages={pages} />
          ))}
          <div class="faint rule" style="border-top:1px solid #dfe5e5;margin-top:28px;padding-top:12px;font-size:13px;color:#56656a;">
            {foot.map((line) => (
              <p style={`margin:0 0 6px;${BREAK}`}>{line}</p>
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
        </div>
      </body>
    </html>
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
