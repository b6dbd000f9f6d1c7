/**
 * XML, strictly, in constant memory: tags must match, entities are the five of XML itself, a document type may be named but not
 * declared in the file. Native searches from tag to tag read some 300 MB a second, which saxes reads at 80.
 */

import { messageOf } from "../../db/reason.ts";

/** Most characters of one tag, comment or section. The longest real text between two tags has some 100,000. */
const MARKUP_MAX = 10_000_000;
/** A text goes to its handler in pieces of this size where no tag comes. */
const TEXT_PIECE = 64 * 1024;
const DEPTH_MAX = 1_000_000;
/** Most characters since a mark. The longest real record has some 100,000. */
export const KEPT_MAX = 10_000_000;

export type XmlHandlers = {
  open: (name: string, attributes: Attributes) => void;
  /** What stands between two tags; several times where it is long, and where there are comments or CDATA sections. */
  text: (text: string) => void;
  close: (name: string) => void;
  /** A character or an entity that XML does not have, in the text that follows or in the tag that was opened last. It stays as it is written. */
  fault: (reason: string) => void;
};

export type Attributes = { readonly [name: string]: string };

export type XmlReader = {
  /** Throws an Error with the line where the text stops being XML. */
  write: (text: string) => void;
  /** Says that there is no more: the root must be closed. */
  end: () => void;
  /** Keeps the document's text from the tag on that is being told of. */
  mark: () => void;
  /** What was kept, with the tag that is being told of; `undefined` where that is too long. */
  sinceMark: () => string | undefined;
};

/** A reader of one document. */
export function createXmlReader(handlers: XmlHandlers): XmlReader {
  const open: string[] = [];
  const names = new Map<string, string>();
  let rooted = false;
  /** What was read without finding its end, and what has come since. */
  let [held, pieces] = ["", ""];
  let line = 1;
  let text = "";
  let isDubious = false;
  /** Where in the text the markup that is being told of begins and ends. */
  let [begin, behind] = [0, 0];
  let kept = "";
  let keptFrom = -1;

  function write(chunk: string): void {
    pieces += chunk;
    // Markup without an end is read again from its beginning, so not before there is as much again of it: reading it at each piece would
    // take time that grows with the square of its length.
    if (pieces.length >= held.length) read();
  }

  function read(): void {
    text = held + pieces;
    pieces = "";
    isDubious = FORBIDDEN.test(text);
    let at = 0;
    try {
      for (let next = takeMarkup(at); next !== -1; next = takeMarkup(at)) at = next;
      if (text.length - at > TEXT_PIECE) at = takePiece(at);
    } catch (error) {
      throw new Error(`line ${line + newlinesIn(text, Math.max(at, text.indexOf("<", at)))}: ${messageOf(error)}`);
    }
    line += newlinesIn(text, at);
    held = text.slice(at);
    if (held.length > MARKUP_MAX) throw new Error(`line ${line}: a tag, comment or section of more than ${MARKUP_MAX} characters`);
    if (keptFrom === -1) return;
    if (kept.length <= KEPT_MAX) kept += text.slice(keptFrom, at);
    keptFrom = 0;
  }

  function mark(): void {
    kept = "";
    keptFrom = begin;
  }

  function sinceMark(): string | undefined {
    const all = kept.length > KEPT_MAX ? undefined : kept + text.slice(keptFrom, behind);
    kept = "";
    keptFrom = -1;
    return all;
  }

  /** Reads the text from `at` on and the markup behind it; tells where that ends, or -1 when it does not end yet. */
  function takeMarkup(at: number): number {
    const start = text.indexOf("<", at);
    if (start === -1) return -1;
    const firstEnd = text.indexOf(">", start) + 1;
    if (firstEnd === 0) return -1;
    const kind = text.charCodeAt(start + 1);
    begin = start;
    if (kind === SLASH) {
      behind = firstEnd;
      if (start > at) takeText(text.slice(at, start));
      takeClosing(start + 2, firstEnd - 1);
      return firstEnd;
    }
    const plain = kind === BANG || kind === QUESTION ? undefined : names.get(text.slice(start + 1, firstEnd - 1));
    const end = plain === undefined ? endOfMarkup(text, start) : firstEnd;
    if (end === -1) return -1;
    behind = end;
    if (start > at) takeText(text.slice(at, start));
    if (plain !== undefined) opened(plain, NO_ATTRIBUTES);
    else if (kind !== BANG && kind !== QUESTION) takeOpening(text.slice(start + 1, end - 1));
    else if (text.startsWith(CDATA, start)) tell(text.slice(start + CDATA.length, end - 3));
    else takeDeclaration(text.slice(start, end));
    return end;
  }

  /** Takes text that no tag follows yet, but for an entity at its end and a line break that may be half of one. */
  function takePiece(at: number): number {
    if (text.indexOf("<", at) !== -1) return at;
    const lastReference = text.lastIndexOf("&");
    const end = lastReference >= text.length - REFERENCE_MAX ? lastReference : text.length - 1;
    if (end > at) takeText(text.slice(at, end));
    return Math.max(at, end);
  }

  function takeText(piece: string): void {
    tell(piece.includes("&") ? piece.replace(REFERENCE, decodedIn(handlers.fault)) : piece);
  }

  function tell(piece: string): void {
    if (isDubious && FORBIDDEN.test(piece)) handlers.fault(NO_CHARACTER);
    if (open.length > 0) handlers.text(piece.includes("\r") ? piece.replace(/\r\n?/g, "\n") : piece);
    else if (piece.trim() !== "") throw new Error("text outside the root element");
  }

  function takeOpening(tag: string): void {
    const [, name, attributes = "", empty] = TAG.exec(tag) ?? [];
    if (name === undefined) throw new Error(`<${tag.slice(0, 60)}> is no tag`);
    if (tag === name && names.size < NAMES_KEPT) names.set(tag, name);
    const faults: string[] = isDubious && FORBIDDEN.test(tag) ? [NO_CHARACTER] : [];
    opened(name, attributes === "" ? NO_ATTRIBUTES : readAttributes(attributes, (reason) => void faults.push(reason)));
    if (faults[0] !== undefined) handlers.fault(faults[0]);
    if (empty === "/") closed();
  }

  function opened(name: string, attributes: Attributes): void {
    if (open.length === 0 && rooted) throw new Error("a second root element");
    rooted = true;
    open.push(name);
    if (open.length > DEPTH_MAX) throw new Error(`elements are nested more than ${DEPTH_MAX} deep`);
    handlers.open(name, attributes);
  }

  function closed(): void {
    handlers.close(open.at(-1) ?? "");
    open.pop();
  }

  function takeClosing(start: number, end: number): void {
    const name = open.at(-1) ?? "";
    const matches = text.startsWith(name, start) && (start + name.length === end || text.slice(start + name.length, end).trim() === "");
    if (!matches || name === "")
      throw new Error(`</${text.slice(start, Math.min(end, start + 60))}> where ${name === "" ? "nothing is open" : `<${name}> is open`}`);
    closed();
  }

  function end(): void {
    read();
    if (held.trim() !== "" || open.length > 0 || !rooted) {
      throw new Error(`line ${line}: it ends ${open.length > 0 ? `inside <${open.at(-1)}>` : "without a whole root element"}`);
    }
  }

  return { write, end, mark, sinceMark };
}

const [BANG, DOUBLE_QUOTE, SINGLE_QUOTE, SLASH, QUESTION] = [33, 34, 39, 47, 63];
const CDATA = "<![CDATA[";
const NAMES_KEPT = 1000;
const NO_ATTRIBUTES: Attributes = {};

const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
const NO_CHARACTER = "a character that XML does not allow";
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|&/g;
/** Longest reference: `&#1114111;`. */
const REFERENCE_MAX = 10;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const TAG = /^([\p{L}_:][\p{L}\p{N}_:.-]*)((?:\s+[\p{L}_:][\p{L}\p{N}_:.-]*\s*=\s*(?:"[^<"]*"|'[^<']*'))*)\s*(\/?)$/u;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Just behind the markup that begins at `start`, or -1 where the text ends before it. */
function endOfMarkup(text: string, start: number): number {
  if (text.startsWith("<!--", start)) return endOf("-->", text, start + 4);
  if (text.startsWith(CDATA, start)) return endOf("]]>", text, start);
  if (text.startsWith("<?", start)) return endOf("?>", text, start);
  return endOfTag(text, start);
}

/** The first ">" that is in no attribute's value. */
function endOfTag(text: string, start: number): number {
  let end = text.indexOf(">", start);
  for (let at = start; end !== -1; at++) {
    if (at > end) end = text.indexOf(">", at);
    if (at === end) return end + 1;
    const code = text.charCodeAt(at);
    if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) continue;
    at = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", at + 1);
    if (at === -1) return -1;
  }
  return -1;
}

function endOf(mark: string, text: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
}

/** Comments, processing instructions and the name of a document type say nothing; an encoding must be the one that is read. */
function takeDeclaration(markup: string): void {
  if (markup.startsWith("<!DOCTYPE") && !markup.includes("[")) return;
  if (markup.startsWith("<!") && !markup.startsWith("<!--"))
    throw new Error(`declarations of a document type are refused: ${markup.slice(0, 60)}`);
  const encoding = /^<\?xml\s[^>]*\bencoding\s*=\s*["']([^"']*)["']/.exec(markup)?.[1];
  if (encoding !== undefined && !/^(utf-?8|us-ascii)$/i.test(encoding)) throw new Error(`its encoding is ${encoding}, not UTF-8`);
}

function readAttributes(text: string, fault: XmlHandlers["fault"]): Attributes {
  const attributes: Record<string, string> = Object.create(null); // An attribute may be called anything, `__proto__` too.
  for (const [, name = "", double, single = ""] of text.matchAll(ATTRIBUTE)) {
    if (name in attributes) throw new Error(`the attribute ${name} is there twice`);
    attributes[name] = (double ?? single).replace(REFERENCE, decodedIn(fault));
  }
  return attributes;
}

/** What stands for a reference; the reference itself where it is none of XML's. */
function decodedIn(fault: XmlHandlers["fault"]) {
  return (whole: string, name?: string, decimal?: string, hexadecimal?: string): string => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hexadecimal ?? "0", 16);
    const character = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\0";
    if (!FORBIDDEN.test(character)) return character;
    fault(whole === "&" ? 'an "&" that begins no entity of XML' : `${whole} is no character of XML`);
    return whole;
  };
}

function newlinesIn(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
