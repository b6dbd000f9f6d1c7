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

export function mailOf(message: Message, zone: Zone): Mail {
  const digest = digestOf(message, zone);
  const foot = footOf(message, zone);
  return { subject: digest.subject, text: textOf(digest, foot), html: `<!doctype html>\n${<Page digest={digest} foot={foot} />}\n` };
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

function textOf({ subject, note, sections }: Digest, foot: readonly string[]): string {
  const lines = [
    ...wrapped(subject, ""),
    "",
    ...(note === null ? [] : [...wrapped(note, ""), ""]),
    ...sections.flatMap((section) => {
      const last = moreInWords(section);
      return [section.heading.toUpperCase(), "", ...section.entries.flatMap(entryLines), ...(last === "" ? [] : [last, ""])];
    }),
    "-- ", // Mail programs show what follows as a signature.
    ...foot.flatMap((line) => wrapped(line, "")),
  ];
  return `${lines.join("\n")}\n`;
}

function entryLines({ title, url, facts, changes }: DigestEntry): string[] {
  return [
    ...wrapped(title, ""),
    ...changes.flatMap((change) => wrapped(`* ${change}`, "  ")),
    ...wrapped(facts, "  "),
    ...(url ? [`  ${url}`] : []),
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
  .page { background: #16181d !important; color: #e6e8ec !important; }
  .faint { color: #a3a9b5 !important; }
  .link { color: #8ab4ff !important; }
  .urgent { color: #ff9d8a !important; }
  .rule { border-color: #3a3f4a !important; }
  .change { background: #23262e !important; color: #e6e8ec !important; }
}`;
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;";
const BREAK = "overflow-wrap:anywhere;";

function Page({ digest: { subject, note, sections }, foot }: { digest: Digest; foot: readonly string[] }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{subject}</title>
        <style>{DARK}</style>
      </head>
      <body class="page" style={`margin:0;padding:0;background:#ffffff;color:#1b1f27;${FONT}`}>
        <div style="max-width:640px;margin:0 auto;padding:20px 16px;font-size:16px;line-height:1.45;">
          <h1 style="font-size:20px;line-height:1.3;margin:0 0 20px;">{subject}</h1>
          {note !== null && <p style={`margin:0 0 20px;${BREAK}`}>{note}</p>}
          {sections.map((section) => (
            <SectionBlock section={section} />
          ))}
          <div class="faint rule" style="border-top:1px solid #d8dce3;margin-top:28px;padding-top:12px;font-size:13px;color:#5b6270;">
            {foot.map((line) => (
              <p style={`margin:0 0 6px;${BREAK}`}>{line}</p>
            ))}
          </div>
        </div>
      </body>
    </html>
  );
}

function SectionBlock({ section }: { section: DigestSection }) {
  const { heading, isUrgent, entries } = section;
  const last = moreInWords(section);
  const color = isUrgent ? "color:#b3261e;" : "";
  return (
    <div style="margin:0 0 24px;">
      <h2
        class={isUrgent ? "urgent rule" : "rule"}
        style={`font-size:17px;margin:0 0 4px;padding-bottom:6px;border-bottom:2px solid #d8dce3;${color}`}
      >
        {heading}
      </h2>
      {entries.map((entry) => (
        <EntryBlock entry={entry} />
      ))}
      {last !== "" && (
        <p class="faint" style="margin:10px 0 0;color:#5b6270;">
          {last}
        </p>
      )}
    </div>
  );
}

function EntryBlock({ entry: { title, url, facts, changes } }: { entry: DigestEntry }) {
  return (
    <div class="rule" style="padding:12px 0;border-bottom:1px solid #e8ebf0;">
      <div style={`font-weight:600;${BREAK}`}>
        {url === null ? (
          title
        ) : (
          <a class="link" href={url} style="color:#0b57d0;text-decoration:none;">
            {title}
          </a>
        )}
      </div>
      {changes.map((change) => (
        <div class="change" style={`margin:6px 0 0;padding:6px 10px;background:#f3f5f8;border-radius:6px;font-size:15px;${BREAK}`}>
          {change}
        </div>
      ))}
      <div class="faint" style={`margin-top:6px;font-size:14px;color:#5b6270;${BREAK}`}>
        {facts}
      </div>
    </div>
  );
}
