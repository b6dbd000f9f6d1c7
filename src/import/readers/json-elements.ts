/**
 * Reads the elements of one array in a JSON document one by one, in constant memory. The scanner only tracks strings and brackets;
 * `JSON.parse` parses each element, and the rest. For 60 MB this takes 0.3 s of processor time and a peak of 63 MB in all; `JSON.parse` of
 * the whole takes 0.23 s and 265 MB, and one bad element would fail the whole file.
 */
import { NESTING_MAX, parseBounded, shapeOfJson } from "../../../clients/typescript/src/json-scan.ts";
import { isObject, type JsonObject } from "../../text/json-value.ts";
import type { Input } from "../format.ts";
import { TEXT_MAX, utf8Text, wholeText } from "./input.ts";

const SHOWN_MAX = 1000;
const AROUND_MAX = 1_000_000;
const DEPTH_MAX = 100;
/** Characters before a bracket in which its name is looked for. Without a limit, a million brackets would take quadratic time. */
const LEAD_MAX = 500;

export type Around = (document: unknown) => void;

type Element = ({ value: unknown } | { fault: string }) & { text: string };

/** The elements of the array at `path` (names joined by dots), then `around`. Throws if there is none, or the document is damaged. */
export async function* jsonElements(bytes: AsyncIterable<Uint8Array>, path = "", around: Around = () => {}): AsyncIterable<Element> {
  const scanner = new ElementScanner(path);
  for await (const text of utf8Text(bytes)) yield* scanner.take(text);
  around(scanner.finish());
}

/** An object of the wanted kind, or why the element is none. `line` counts elements from 1. */
export type FoundObject =
  | { kind: "object"; line: number; raw: JsonObject; json?: string }
  | { kind: "rejected"; line: number; raw: unknown; reason: string };

type FaultOf = (object: JsonObject) => string | undefined;

/** The objects in the array at `path`. Throws as `jsonElements`, and if no element is of the wanted kind. */
export async function* jsonObjects(
  bytes: AsyncIterable<Uint8Array>,
  path = "",
  { around, faultOf = () => undefined }: { around?: Around | undefined; faultOf?: FaultOf } = {},
): AsyncIterable<FoundObject> {
  let line = 0;
  let firstFault: string | undefined;
  let hasObjects = false;
  for await (const element of jsonElements(bytes, path, around)) {
    line++;
    const raw = "fault" in element ? element.text : element.value;
    const fault = "fault" in element ? element.fault : isObject(element.value) ? faultOf(element.value) : "is not an object";
    hasObjects ||= fault === undefined;
    firstFault ??= fault;
    if (fault !== undefined) yield { kind: "rejected", line, raw, reason: `the element ${fault}` };
    else if (isObject(raw)) yield { kind: "object", line, raw, json: element.text };
  }
  if (firstFault !== undefined && !hasObjects) throw new Error(`element 1 ${firstFault}`);
}

/** The JSON of a file that holds one document. */
export async function wholeDocument({ bytes }: Pick<Input, "bytes">): Promise<unknown> {
  return parse(await wholeText(utf8Text(bytes())), "it is not JSON");
}

const firstCharacters = new WeakMap<Input, Promise<string>>();

/** The first character but white space, which tells JSON, XML and CSV apart; "" if there is none. Memoized. */
export function firstCharacter(input: Input): Promise<string> {
  return firstCharacters.getOrInsertComputed(input, readFirstCharacter);
}

async function readFirstCharacter({ bytes }: Input): Promise<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes()) {
    const [first] = decoder.decode(chunk, { stream: true }).trimStart();
    if (first !== undefined) return first;
  }
  return "";
}

/** The first piece of a file, which is enough to tell layouts apart. */
export async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const chunk of bytes) return new TextDecoder().decode(chunk);
  return "";
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];

/**
 * Splits a document into the elements of one array and the rest. For the path `data.hits`, the characters go:
 *
 *     document   { "data": { "hits": [ {"id":[1]} , 7 ] , "total":2 } }
 *     depth     0 1         2         3 4    5  43   3 2             1 0
 *     matched   0 1         2         3 3    3  33   3 2             1 0
 *     goes to   rest ···················│ element │·│ rest ···········
 *
 * `depth` counts the open brackets, `matched` those that lead to the array. The array is open while `matched` is at its greatest. Only a
 * comma at the array's own depth ends an element. In a string, brackets and commas mean nothing.
 */
class ElementScanner {
  /** What must precede each bracket on the way to the array. */
  private readonly leads: readonly RegExp[];
  private readonly missing: string;

  private depth = 0;
  private matched = 0;
  private isFound = false;

  private inString = false;
  private inEscape = false;

  /** The present piece, and where in it the characters begin that were not kept yet. */
  private piece = "";
  private start = 0;
  private rest = "";
  private readonly element = new ElementText();
  private ended: Element[] = [];
  private count = 0;

  constructor(private readonly path: string) {
    const names = path === "" ? [] : path.split(".");
    this.leads = [/^\s*$/, ...names.map((name) => new RegExp(`(?<!\\\\)"${name}"\\s*:\\s*$`))];
    this.missing = path === "" ? "it is not a JSON array" : `it has no array "${path}"`;
  }

  /** Scans the next piece. Returns the elements that end in it. */
  take(piece: string): Element[] {
    if (piece === "") return [];
    this.piece = piece;
    this.start = 0;
    this.ended = [];
    for (let at = this.inString ? this.endOfString(this.inEscape ? 1 : 0) + 1 : 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE) at = this.endOfString(at + 1);
      else if (code === COMMA) this.takeComma(at);
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.openBracket(code === OPEN_ARRAY, at);
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.closeBracket(at);
    }
    this.keep(piece.length);
    return this.ended;
  }

  finish(): unknown {
    if (this.inArray()) throw new Error(`it ends in the middle, after ${this.count} elements`);
    const document = parse(this.rest, "it is not JSON");
    if (!this.isFound) throw new Error(this.missing);
    return document;
  }

  private inArray(): boolean {
    return this.matched === this.leads.length;
  }

  /** The closing quote of a string; the end of the piece if it has not come yet. */
  private endOfString(from: number): number {
    let end = this.piece.indexOf('"', from);
    while (end !== -1 && isEscaped(this.piece, from, end)) end = this.piece.indexOf('"', end + 1);
    this.inString = end === -1;
    this.inEscape = this.inString && isEscaped(this.piece, from, this.piece.length);
    return this.inString ? this.piece.length : end;
  }

  private takeComma(at: number): void {
    if (!this.inArray() || this.depth !== this.matched) return;
    this.keep(at);
    this.endElement();
    this.start = at + 1;
  }

  private openBracket(isArray: boolean, at: number): void {
    if (this.depth === this.matched && !this.inArray() && this.leadsToArray(isArray, at)) {
      this.keep(at + 1);
      this.matched++;
      if (this.inArray() && this.isFound) throw new Error(`it has the array "${this.path}" twice`);
      this.isFound ||= this.inArray();
    }
    if (++this.depth <= DEPTH_MAX) return;
    if (!this.inArray()) throw new Error(`it is nested more than ${DEPTH_MAX} deep`);
    this.element.spoil(`is nested more than ${DEPTH_MAX} deep`);
  }

  private leadsToArray(isArray: boolean, at: number): boolean {
    const before = this.rest.slice(-LEAD_MAX) + this.piece.slice(Math.max(this.start, at - LEAD_MAX), at);
    return isArray === (this.matched === this.leads.length - 1) && this.leads[this.matched]?.test(before) === true;
  }

  private closeBracket(at: number): void {
    if (this.depth === this.matched) {
      this.keep(at);
      if (this.inArray() && (this.count > 0 || !this.element.isBlank())) this.endElement();
      this.element.clear();
      this.matched--;
    }
    this.depth--;
  }

  private keep(end: number): void {
    const kept = this.piece.slice(this.start, end);
    this.start = end;
    if (this.inArray()) this.element.add(kept);
    else this.rest += kept;
    if (this.rest.length > AROUND_MAX)
      throw new Error(this.isFound ? `it has more than ${AROUND_MAX} characters around the array` : this.missing);
  }

  private endElement(): void {
    this.count++;
    this.ended.push(this.element.parsed());
    this.element.clear();
  }
}

/** The text of one element, and its first fault. Of a text that is too long, only the beginning. */
class ElementText {
  private text = "";
  private isTooLong = false;
  private fault: string | undefined;

  add(text: string): void {
    if (this.isTooLong) return;
    this.text += text;
    if (this.text.length <= TEXT_MAX) return;
    this.isTooLong = true;
    this.spoil(`has more than ${TEXT_MAX} characters`);
    this.text = this.text.slice(0, SHOWN_MAX).toWellFormed();
  }

  spoil(fault: string): void {
    this.fault ??= fault;
  }

  /** JSON's white space (RFC 8259, section 2) is less than `trim` removes. */
  isBlank(): boolean {
    return !/[^ \t\n\r]/.test(this.text);
  }

  parsed(): Element {
    return this.fault === undefined ? parseElement(this.text) : { fault: this.fault, text: this.text };
  }

  clear(): void {
    this.text = "";
    this.isTooLong = false;
    this.fault = undefined;
  }
}

/** Whether an odd number of backslashes precedes a character of a string that begins at `from`. */
function isEscaped(text: string, from: number, at: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start--;
  return (at - start) % 2 === 1;
}

function parseElement(text: string): Element {
  try {
    return { value: parseBounded(text), text };
  } catch {
    return { fault: shapeOfJson(text).isTooDeep ? `is nested more than ${NESTING_MAX} deep` : "is not JSON", text };
  }
}

function parse(text: string, fault: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    throw new Error(fault);
  }
}
