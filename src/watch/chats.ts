/** Messages for Slack's incoming webhooks and for a workflow of Microsoft Teams, which takes adaptive cards. */
import { ellipsized } from "../text/quoted.ts";
import { type Digest, type DigestEntry, digestOf, moreInWords } from "./digest.ts";
import type { Message } from "./message.ts";
import type { Zone } from "./watch.ts";

const ENTRIES_MAX = 8;

// ---- Slack. The text is for notifications, and for programs that do not support blocks.

const [BLOCKS_MAX, HEADER_MAX, SECTION_MAX, TEXT_MAX] = [50, 150, 3000, 3500];

/** A message of Slack, within its limits. */
export function slackMessage(message: Message, zone: Zone) {
  const digest = digestOf(message, zone, (sections) => Math.min(ENTRIES_MAX, Math.floor((BLOCKS_MAX - 2) / sections) - 2));
  const parts = partsOf(digest);
  const blocks = parts.map((text) => ({ type: "section", text: { type: "mrkdwn", text: cut(text, SECTION_MAX) } }));
  const header = { type: "header", text: { type: "plain_text", text: cut(digest.subject, HEADER_MAX) } };
  return { text: joined([`*${escaped(digest.subject)}*`, ...parts], TEXT_MAX), blocks: [header, ...blocks].slice(0, BLOCKS_MAX) };
}

function partsOf({ note, sections }: Digest): string[] {
  const noted = note === null ? [] : [escaped(note)];
  return noted.concat(
    sections.flatMap((section) => {
      const { heading, isUrgent, entries } = section;
      const last = moreInWords(section);
      return [`${isUrgent ? ":rotating_light: " : ""}*${heading}*`, ...entries.map(entryText), ...(last === "" ? [] : [`_${last}_`])];
    }),
  );
}

function entryText({ title, url, facts, changes }: DigestEntry): string {
  // An address in <address|text> must not contain the characters that end it.
  const name = url === null ? `*${escaped(title)}*` : `<${escaped(url.replaceAll("|", "%7C"))}|${escaped(title)}>`;
  return [name, ...changes.map((change) => `• ${escaped(change)}`), escaped(facts)].join("\n");
}

/** Formatting characters in texts only change how they look. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, max - 1)
    .replace(/&[a-z]*$|<[^>]*$/, "")
    .toWellFormed()}…`;
}

function joined(parts: readonly string[], max: number): string {
  let text = "";
  for (const [n, part] of parts.entries()) {
    if (text.length + part.length + 20 > max) return `${text}\n_and more_`;
    text += (n === 0 ? "" : "\n") + part;
  }
  return text;
}

// ---- Teams. It refuses more than 28 KB.

const [BYTES_MAX, BLOCK_MAX] = [26_000, 1500];

/** As many blocks as there is room for. `page` is the page of the watch, if it has one. */
export function teamsMessage(message: Message, zone: Zone, page?: string) {
  const { subject, note, sections } = digestOf(message, zone, (count) => Math.max(1, Math.floor((ENTRIES_MAX * 3) / (count + 2))));
  const blocks = [
    block(inMarkdown(subject), { size: "large", weight: "bolder" }),
    ...(note === null ? [] : [block(inMarkdown(note))]),
    ...sections.flatMap((section) => {
      const [last, color] = [moreInWords(section), section.isUrgent ? "attention" : "default"];
      const heading = block(inMarkdown(section.heading), { weight: "bolder", separator: true, color });
      return [heading, ...section.entries.flatMap(entryBlocks), ...(last === "" ? [] : [block(inMarkdown(last), { isSubtle: true })])];
    }),
  ];
  const foot = page === undefined ? [] : [block(`[Change or pause this watch](${page})`, { isSubtle: true, separator: true })];
  const withBody = (body: readonly ReturnType<typeof block>[]) => {
    const $schema = "http://adaptivecards.io/schemas/adaptive-card.json";
    const content = { type: "AdaptiveCard", version: "1.4", $schema, msteams: { width: "Full" }, body: [...body, ...foot] };
    return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }] };
  };
  let shown = withBody(blocks);
  for (let count = blocks.length; count > 1 && Buffer.byteLength(JSON.stringify(shown)) > BYTES_MAX; )
    shown = withBody([...blocks.slice(0, --count), block("and more", { isSubtle: true })]);
  return shown;
}

function entryBlocks({ title, url, facts, changes }: DigestEntry) {
  const name =
    url === null ? inMarkdown(title) : `[${inMarkdown(title)}](${url.replace(/[()]/g, encodeURIComponent).replaceAll(" ", "%20")})`;
  return [
    block([`**${name}**`, ...changes.map((change) => `- ${inMarkdown(change)}`)].join("\n\n"), { spacing: "medium" }),
    block(inMarkdown(facts), { isSubtle: true, spacing: "none", size: "small" }),
  ];
}

function block(text: string, style: Readonly<Record<string, unknown>> = {}) {
  return { type: "TextBlock", text: ellipsized(text, BLOCK_MAX), wrap: true, ...style };
}

function inMarkdown(text: string): string {
  return text.replace(/[\\*_[\]()#`<>~]/g, "\\$&");
}
