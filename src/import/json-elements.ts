/**
 * The elements of one array in a JSON document, one after another, so that a document of any size needs little memory.
 * Brackets and strings are only told apart here; what is JSON and what is not, `JSON.parse` decides on each element and on the rest.
 */

import { isObject, type JsonObject } from "../text/json-value.ts";
import { utf8Text } from "./input.ts";

/** Longest element in characters. The longest real one, with the whole text of its announcement, has some 300,000. */
const ELEMENT_MAX = 16_000_000;
/** So much of an element that is too long is shown. */
const SHOWN_MAX = 1000;
/** Longest text around the array: envelope members before and behind it. */
const AROUND_MAX = 1_000_000;
const DEPTH_MAX = 100;
/** So far back a bracket's name is looked for: looking further would take its time at each of a million brackets. */
const LEAD_MAX = 500;

/** What stands around the array, the array itself being empty. */
export type Around = (document: unknown) => void;

/** An element, or what is wrong with it, with its text. */
export type Element = { value: unknown } | Unreadable;
type Unreadable = { fault: string; text: string };

/**
 * The elements of the array at `path`, member names with dots between, or of the document itself. Where there is no such array,
 * or the document is damaged, an Error says so; `around` is told of the rest of the document when all of it was read.
 */
export async function* jsonElements(bytes: AsyncIterable<Uint8Array>, path = "", around: Around = () => {}): AsyncIterable<Element> {
  const scan = createScan(path);
  for await (const text of utf8Text(bytes)) yield* scan.take(text);
  around(scan.finish());
}

/** An element that is an object of the kind that is wanted, by its place from 1 on; or why it is refused. */
export type FoundObject =
  | { kind: "object"; line: number; raw: JsonObject }
  | { kind: "rejected"; line: number; raw: unknown; reason: string };

/** Says what is wrong with an object, after "element 1 ": `has no id`. */
type FaultOf = (object: JsonObject) => string | undefined;

/** The objects among the elements of a document's array. Throws when there are elements, and none of them is one. */
export async function* jsonObjects(
  bytes: AsyncIterable<Uint8Array>,
  path = "",
  { around, faultOf = () => undefined }: { around?: Around | undefined; faultOf?: FaultOf } = {},
): AsyncIterable<FoundObject> {
  let line = 0;
  let firstFault: string | undefined;
  let isAny = false;
  for await (const element of jsonElements(bytes, path, around)) {
    line++;
    const raw = "fault" in element ? element.text : element.value;
    const fault = "fault" in element ? element.fault : isObject(element.value) ? faultOf(element.value) : "is not an object";
    isAny ||= fault === undefined;
    firstFault ??= fault;
    if (fault !== undefined) yield { kind: "rejected", line, raw, reason: `the element ${fault}` };
    else if (isObject(raw)) yield { kind: "object", line, raw };
  }
  if (firstFault !== undefined && !isAny) throw new Error(`element 1 ${firstFault}`);
}

/** The first character that is not white space, by which formats tell JSON, XML and CSV apart; "" in an empty file. */
export async function firstCharacter(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    const [first] = decoder.decode(chunk, { stream: true }).trimStart();
    if (first !== undefined) return first;
  }
  return "";
}

/** The first piece of a file: enough to tell layouts apart. */
export async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const chunk of bytes) return new TextDecoder().decode(chunk);
  return "";
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];

function createScan(path: string) {
  const names = path === "" ? [] : path.split(".");
  /** What stands before each bracket on the way to the array. */
  const leads = [/^\s*$/, ...names.map((name) => new RegExp(`(?<!\\\\)"${name}"\\s*:\\s*$`))];
  const missing = path === "" ? "it is not a JSON array" : `it has no array "${path}"`;

  let depth = 0;
  /** So many of the open brackets lead to the array, which is reached with the last of `leads`. */
  let matched = 0;
  let found = false;
  let inString = false;
  let escaped = false;
  let place = 0;
  let element = "";
  let fault: string | undefined;
  let isTooLong = false;
  let rest = "";

  const inArray = () => matched === leads.length;

  function endElement(): Element {
    place++;
    const read: Element = fault === undefined ? readElement(element) : { fault, text: element };
    element = "";
    fault = undefined;
    isTooLong = false;
    return read;
  }

  function addToElement(text: string): void {
    if (isTooLong) return;
    element += text;
    if (element.length <= ELEMENT_MAX) return;
    isTooLong = true;
    fault ??= `has more than ${ELEMENT_MAX} characters`;
    element = element.slice(0, SHOWN_MAX).toWellFormed();
  }

  function* take(text: string): Iterable<Element> {
    let start = 0;
    const keep = (end: number) => {
      if (inArray()) addToElement(text.slice(start, end));
      else rest += text.slice(start, end);
      start = end;
      if (rest.length > AROUND_MAX) throw new Error(found ? `it has more than ${AROUND_MAX} characters around the array` : missing);
    };
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === BACKSLASH) escaped = true;
        else if (code === QUOTE) inString = false;
      } else if (code === QUOTE) {
        inString = true;
      } else if (code === COMMA) {
        if (!inArray() || depth !== matched) continue;
        keep(at);
        yield endElement();
        start = at + 1;
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        if (
          depth === matched &&
          !inArray() &&
          isNext(code === OPEN_ARRAY, rest.slice(-LEAD_MAX) + text.slice(Math.max(start, at - LEAD_MAX), at))
        ) {
          keep(at + 1);
          matched++;
          if (inArray() && found) throw new Error(`it has the array "${path}" twice`);
          found ||= inArray();
        }
        if (++depth > DEPTH_MAX) {
          if (!inArray()) throw new Error(`it is nested more than ${DEPTH_MAX} deep`);
          fault ??= `is nested more than ${DEPTH_MAX} deep`;
        }
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        if (depth === matched) {
          keep(at);
          if (inArray() && (place > 0 || element.trim() !== "")) yield endElement();
          element = "";
          matched--;
        }
        depth--;
      }
    }
    keep(text.length);
  }

  function isNext(array: boolean, before: string): boolean {
    return array === (matched === names.length) && leads[matched]?.test(before) === true;
  }

  function finish(): unknown {
    if (inArray()) throw new Error(`it ends in the middle, behind ${place} elements`);
    const document = parse(rest, "it is not JSON");
    if (!found) throw new Error(missing);
    return document;
  }

  return { take, finish };
}

function readElement(text: string): Element {
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
