/** Messages for Microsoft Teams: an adaptive card, for a workflow "when a Teams webhook request is received". */
import { type DigestEntry, digestOf, moreInWords } from "./digest.ts";
import type { Message } from "./message.ts";
import type { Zone } from "./watch.ts";

/** Teams refuses more than 28 KB. */
const BYTES_MAX = 26_000;
/** Opportunities that a section shows, or fewer if there are many sections. */
const ENTRIES_MAX = 8;
/** Characters of one text. */
const TEXT_MAX = 1500;

/** As many blocks as there is room for. `page` is the page of the watch, if it has one. */
export function teamsMessage(message: Message, zone: Zone, page?: string) {
  const { subject, note, sections } = digestOf(message, zone, (count) => Math.max(1, Math.floor((ENTRIES_MAX * 3) / (count + 2))));
  const blocks = [
    block(escaped(subject), { size: "large", weight: "bolder" }),
    ...(note === null ? [] : [block(escaped(note))]),
    ...sections.flatMap((section) => {
      const [last, color] = [moreInWords(section), section.isUrgent ? "attention" : "default"];
      const heading = block(escaped(section.heading), { weight: "bolder", separator: true, color });
      return [heading, ...section.entries.flatMap(entryBlocks), ...(last === "" ? [] : [block(escaped(last), { isSubtle: true })])];
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
  const name = url === null ? escaped(title) : `[${escaped(title)}](${url.replace(/[()]/g, encodeURIComponent).replaceAll(" ", "%20")})`;
  return [
    block([`**${name}**`, ...changes.map((change) => `- ${escaped(change)}`)].join("\n\n"), { spacing: "medium" }),
    block(escaped(facts), { isSubtle: true, spacing: "none", size: "small" }),
  ];
}

function block(text: string, style: Readonly<Record<string, unknown>> = {}) {
  const shown = text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX - 1).toWellFormed()}…`;
  return { type: "TextBlock", text: shown, wrap: true, ...style };
}

/** The characters of Markdown in a card. */
function escaped(text: string): string {
  return text.replace(/[\\*_[\]()#`<>~]/g, "\\$&");
}
