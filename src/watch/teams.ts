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

type TextBlock = { type: "TextBlock"; text: string; wrap: true } & Readonly<Record<string, unknown>>;

/** As many blocks as there is room for. `page` is the page of the watch, if it has one. */
export function teamsMessage(message: Message, zone: Zone, page?: string) {
  const digest = digestOf(message, zone, (sections) => Math.max(1, Math.floor((ENTRIES_MAX * 3) / (sections + 2))));
  const blocks = [
    block(escaped(digest.subject), { size: "large", weight: "bolder" }),
    ...(digest.note === null ? [] : [block(escaped(digest.note))]),
    ...digest.sections.flatMap((section) => {
      const last = moreInWords(section);
      const heading = block(escaped(section.heading), {
        weight: "bolder",
        separator: true,
        color: section.isUrgent ? "attention" : "default",
      });
      return [heading, ...section.entries.flatMap(entryBlocks), ...(last === "" ? [] : [block(escaped(last), { isSubtle: true })])];
    }),
  ];
  const card = {
    type: "AdaptiveCard",
    version: "1.4",
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    msteams: { width: "Full" },
  };
  const foot = page === undefined ? [] : [block(`[Change or pause this watch](${page})`, { isSubtle: true, separator: true })];
  const withBody = (body: readonly TextBlock[]) => ({
    type: "message",
    attachments: [
      { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: { ...card, body: [...body, ...foot] } },
    ],
  });
  const more = block("and more", { isSubtle: true });
  let shown = blocks;
  while (shown.length > 1 && Buffer.byteLength(JSON.stringify(withBody([...shown, more]))) > BYTES_MAX) shown = shown.slice(0, -1);
  return withBody(shown.length === blocks.length ? blocks : [...shown, more]);
}

function entryBlocks({ title, url, facts, changes }: DigestEntry): TextBlock[] {
  const name = url === null ? escaped(title) : `[${escaped(title)}](${url.replace(/[()]/g, encodeURIComponent).replaceAll(" ", "%20")})`;
  return [
    block([`**${name}**`, ...changes.map((change) => `- ${escaped(change)}`)].join("\n\n"), { spacing: "medium" }),
    block(escaped(facts), { isSubtle: true, spacing: "none", size: "small" }),
  ];
}

function block(text: string, style: Readonly<Record<string, unknown>> = {}): TextBlock {
  return {
    type: "TextBlock",
    text: text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX - 1).toWellFormed()}…`,
    wrap: true,
    ...style,
  };
}

/** The characters of Markdown in a card. */
function escaped(text: string): string {
  return text.replace(/[\\*_[\]()#`<>~]/g, "\\$&");
}
