/**
 * Reads the elements of one array in a JSON document one by one, in constant memory. The scanner only tracks strings and brackets;
 * `JSON.parse` parses each element, and the rest. For 60 MB this takes 0.5 s of processor time and a peak of 63 MB in all; `JSON.parse`
 * of the whole takes 0.23 s and 265 MB, and one bad element would fail the whole file.
 */

import { isObject, type JsonObject } from "../text/json-value.ts";
import { utf8Text } from "./input.ts";

/** Most characters of an element. The longest real one, with the whole text of its announcement, has some 300,000. */
const ELEMENT_MAX = 16_000_000;
/** Characters that are shown of an element that is too long. */
const SHOWN_MAX = 1000;
/** Most characters around the array: the other members of its document. */
const AROUND_MAX = 1_000_000;
const DEPTH_MAX = 100;
/** Most characters before a bracket in which its name is looked for. Without a limit, a million brackets would take quadratic time. */
const LEAD_MAX = 500;

/** Called with the document around the array, in which the array is empty. */
export type Around = (document: unknown) => void;

/** An element, or what is wrong with it and its text. */
export type Element = { value: unknown } | { fault: string; text: string };

/**
 * The elements of the array at `path` (member names joined by dots), or of the document itself. Calls `around` at the end of the document.
 * Throws if there is no such array, or the document is damaged.
 */
export async function* jsonElements(bytes: AsyncIterable<Uint8Array>, path = "", around: Around = () => {}): AsyncIterable<Element> {
  const scanner = createScanner(path);
  for await (const text of utf8Text(bytes)) yield* scanner.take(text);
  around(scanner.finish());
}

/** An element that is an object of the wanted kind, or why it is not. `line` counts elements from 1. */
export type FoundObject =
  | { kind: "object"; line: number; raw: JsonObject }
  | { kind: "rejected"; line: number; raw: unknown; reason: string };

/** What is wrong with an object, such as `has no id`; undefined if nothing is. */
type FaultOf = (object: JsonObject) => string | undefined;

/** The objects in the array at `path`. Throws as `jsonElements`, and if there are elements of which none is an object of the wanted kind. */
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
    else if (isObject(raw)) yield { kind: "object", line, raw };
  }
  if (firstFault !== undefined && !hasObjects) throw new Error(`element 1 ${firstFault}`);
}

/** The first character that is not white space, by which formats tell JSON, XML and CSV apart; "" if the file is empty. */
export async function firstCharacter(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
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

function createScanner(path: string) {
  const names = path === "" ? [] : path.split(".");
  /** What must precede each bracket on the way to the array. */
  const leads = [/^\s*$/, ...names.map((name) => new RegExp(`(?<!\\\\)"${name}"\\s*:\\s*$`))];
  const missing = path === "" ? "it is not a JSON array" : `it has no array "${path}"`;

  let depth = 0;
  /** How many of the open brackets lead to the array. The array is open when it is `leads.length`. */
  let matched = 0;
  let isFound = false;
  let inString = false;
  let isEscaped = false;
  /** The present piece of the document, and where in it the characters begin that were not kept yet. */
  let [text, start] = ["", 0];
  /** The document without the elements. */
  let rest = "";
  /** The elements that ended in the present piece, how many ended in all, and the text of the present one. */
  let ended: Element[] = [];
  let count = 0;
  let element = "";
  let fault: string | undefined;
  let isTooLong = false;

  const inArray = () => matched === leads.length;

  /** Scans the next piece of the document. Returns the elements that end in it. */
  function take(piece: string): Element[] {
    [text, start, ended] = [piece, 0, []];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) inString = false;
      } else if (code === QUOTE) inString = true;
      else if (code === COMMA) takeComma(at);
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) openBracket(code === OPEN_ARRAY, at);
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) closeBracket(at);
    }
    keep(text.length);
    return ended;
  }

  function takeComma(at: number): void {
    if (!inArray() || depth !== matched) return;
    keep(at);
    endElement();
    start = at + 1;
  }

  function openBracket(isArray: boolean, at: number): void {
    if (depth === matched && !inArray() && leadsToArray(isArray, at)) {
      keep(at + 1);
      matched++;
      if (inArray() && isFound) throw new Error(`it has the array "${path}" twice`);
      isFound ||= inArray();
    }
    if (++depth <= DEPTH_MAX) return;
    if (!inArray()) throw new Error(`it is nested more than ${DEPTH_MAX} deep`);
    fault ??= `is nested more than ${DEPTH_MAX} deep`;
  }

  function leadsToArray(isArray: boolean, at: number): boolean {
    const before = rest.slice(-LEAD_MAX) + text.slice(Math.max(start, at - LEAD_MAX), at);
    return isArray === (matched === names.length) && leads[matched]?.test(before) === true;
  }

  function closeBracket(at: number): void {
    if (depth === matched) {
      keep(at);
      if (inArray() && (count > 0 || element.trim() !== "")) endElement();
      element = "";
      matched--;
    }
    depth--;
  }

  /** Adds the characters up to `end` to the element or to the rest. */
  function keep(end: number): void {
    const kept = text.slice(start, end);
    start = end;
    if (inArray()) addToElement(kept);
    else rest += kept;
    if (rest.length > AROUND_MAX) throw new Error(isFound ? `it has more than ${AROUND_MAX} characters around the array` : missing);
  }

  function addToElement(kept: string): void {
    if (isTooLong) return;
    element += kept;
    if (element.length <= ELEMENT_MAX) return;
    isTooLong = true;
    fault ??= `has more than ${ELEMENT_MAX} characters`;
    element = element.slice(0, SHOWN_MAX).toWellFormed();
  }

  function endElement(): void {
    count++;
    ended.push(fault === undefined ? parseElement(element) : { fault, text: element });
    element = "";
    fault = undefined;
    isTooLong = false;
  }

  /** Ends the document. Returns what is around the array. */
  function finish(): unknown {
    if (inArray()) throw new Error(`it ends in the middle, after ${count} elements`);
    const document = parse(rest, "it is not JSON");
    if (!isFound) throw new Error(missing);
    return document;
  }

  return { take, finish };
}

function parseElement(text: string): Element {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: "is not JSON", text };
  }
}

function parse(text: string, fault: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(fault);
  }
}
