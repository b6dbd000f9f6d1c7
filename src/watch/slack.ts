/** Messages for Slack's incoming webhooks, and for programs that take the same. */
import { type Digest, type DigestEntry, digestOf, moreInWords } from "./digest.ts";
import type { Message } from "./message.ts";
import type { Zone } from "./watch.ts";

/** Slack's limits: blocks of a message, characters of a header and of a section. */
const [BLOCKS_MAX, HEADER_MAX, SECTION_MAX] = [50, 150, 3000];
const ENTRIES_MAX = 8;
/** For notifications, and for programs that do not support blocks. */
const TEXT_MAX = 3500;

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
