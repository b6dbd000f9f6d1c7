/** Turns upstream text that may hold HTML into plain text. */
import { decodeHTMLStrict } from "entities/decode";

const SUMMARY_LENGTH = 500;
/** A summary is first made from the head of a long text. The plain head must exceed a summary by the margin, else the whole text is used. */
const HEAD_LENGTH = 1000;
const HEAD_MARGIN = 100;
/** Upstreams escape text up to a few times, so it is decoded until nothing changes, within this limit. */
const DECODINGS_MAX = 8;

/** Plain text: no markup, entities decoded, white space collapsed, in Unicode's normalization form C. */
export function plainText(text: string): string {
  if (text === "") return "";
  return tidy(dropMarkup(decodeEntities(text)));
}

/** The paragraphs of a text that may hold HTML, each as plain text. An item of a list is one that begins with a bullet or its number. */
export function plainParagraphs(text: string): string[] {
  const parts = decodeEntities(text)
    .split(PARAGRAPH_END)
    .flatMap((part) => part.split(ITEM_START));
  return parts.flatMap((part) => {
    const paragraph = plainText(part);
    if (paragraph === "" || BULLET_ALONE.test(paragraph)) return [];
    return ITEM_TAG.test(part) && withoutBullet(paragraph) === undefined ? `• ${paragraph}` : paragraph;
  });
}

/** The text of an item behind its bullet; undefined for any other paragraph. */
export function withoutBullet(paragraph: string): string | undefined {
  return /^(?:[•‣▪●◦■]\s?|[*·–—-]\s)(.*)$/s.exec(paragraph)?.[1];
}

const PARAGRAPH_END = /<\/(?:p|div|li|h\d|tr)\s*>|<br\s*\/?>|\n\s*\n/i;
/** Before a bullet character, anywhere; before other bullets and numbers, on a new line; before an item's tag. */
const ITEM_START = /(?<=\s)(?=[•‣▪●◦■])|\n(?=[ \t]{0,9}(?:[*·–—-]|\(?\d{1,2}[.)]|\([a-z]\))[ \t])|(?=<li[\s/>])/i;
const ITEM_TAG = /^\s*<li[\s/>]/i;
const BULLET_ALONE = /^[•‣▪●◦■*·–—-]$/;

/** About the first 500 characters as plain text, cut after a whole word; null if no text is left. */
export function summaryOf(text: string | null | undefined): string | null {
  if (!text) return null;
  const plain = plainHead(text) ?? plainText(text);
  if (plain.length <= SUMMARY_LENGTH) return plain === "" ? null : plain;
  const lastBlank = plain.lastIndexOf(" ", SUMMARY_LENGTH);
  return `${plain.slice(0, lastBlank > SUMMARY_LENGTH / 2 ? lastBlank : SUMMARY_LENGTH).toWellFormed()}…`;
}

/** Whether two texts are equal apart from white space, letter case, punctuation, markup and entities. */
export function isSameWording(one: string, other: string): boolean {
  const [a, b] = [plainText(one), plainText(other)];
  for (let [i, j] = [0, 0]; ; i++, j++) {
    while (asciiWording[a.charCodeAt(i)] === "") i++;
    while (asciiWording[b.charCodeAt(j)] === "") j++;
    const [x, y] = [asciiWording[a.charCodeAt(i)], asciiWording[b.charCodeAt(j)]];
    if (x === undefined || y === undefined) return wordingOf(a) === wordingOf(b); // How a non-ASCII character folds depends on its neighbors.
    if (x !== y) return false;
  }
}

function wordingOf(plain: string): string {
  return plain
    .toUpperCase()
    .toLowerCase() // Upper case first, which turns "ß" into "SS".
    .replace(/[\p{P}\s]+/gu, ""); // Removed, not unified: "co-op" equals "coop", "web site" equals "website".
}

const asciiWording = Array.from({ length: 128 }, (_, code) => wordingOf(String.fromCharCode(code)));

/** Decodes HTML character references that end with ";", until none is left: upstreams escape once, twice or not at all. */
export function decodeEntities(text: string): string {
  let decoded = text;
  for (let round = 0; round < DECODINGS_MAX && decoded.includes("&"); round++) {
    const next = decodeHTMLStrict(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

/** The head of a long text in plain text; `undefined` if the text is short, or if markup leaves too little of the head for a summary. */
function plainHead(text: string): string | undefined {
  if (text.length <= HEAD_LENGTH) return undefined;
  const head = decodeEntities(text.slice(0, HEAD_LENGTH));
  const cutTag = head.indexOf("<", head.lastIndexOf(">") + 1);
  const plain = tidy(dropMarkup(cutTag === -1 ? head : head.slice(0, cutTag)));
  return plain.length > SUMMARY_LENGTH + HEAD_MARGIN ? plain : undefined;
}

function dropMarkup(text: string): string {
  if (!text.includes("<")) return text;
  return text.replace(HIDDEN, " ").replace(INLINE_TAG, "").replace(TAG, " ");
}

// Each takes linear time on any text: it looks for its end at most once per "<", or takes the whole rest.
const HIDDEN = /<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const INLINE_TAG = /<\/?(?:a|abbr|b|big|del|em|font|i|ins|mark|o:p|s|small|span|strong|sub|sup|u|wbr)(?=[\s/>])[^<>]*>/gi;
const TAG = /<[/!?]?[a-z][a-z0-9:-]*(?=[\s/>])[^<>]*>/gi;

/** Unicode's Stream-Safe Text Format (UAX #15): a joiner after 30 marks, because `normalize` takes quadratic time on a run of marks. */
function streamSafe(text: string): string {
  return text.length < LONG_RUN_LENGTH ? text : text.replace(MARKS, "$&\u034f");
}

const MARKS = /\p{M}{30}/gu;
const LONG_RUN_LENGTH = 1000;

/** Removes soft hyphens and zero-width characters, and turns other runs of white space into one blank. */
function tidy(text: string): string {
  if (!BEYOND_ASCII.test(text) && !text.includes("  ")) return text.trim();
  const collapsed = text
    .replace(/[\u00ad\u200b\u2060\ufeff]+/g, "")
    .replace(/\s{2,}|[^\S ]/g, " ") // Skips single blanks, by far the most frequent.
    .trim();
  return streamSafe(collapsed).normalize("NFC");
}

const BEYOND_ASCII = /[^ -~]/;

const windows1252 = new TextDecoder("windows-1252");

/** C1 control characters (128 to 159), which no text has, read as Windows-1252: U+0092 becomes an apostrophe. */
export function withoutC1Controls(text: string): string {
  return text.replace(/[\x80-\x9f]/g, (control) => windows1252.decode(Uint8Array.of(control.charCodeAt(0))));
}
