/**
 * The elements of one array in a JSON document, one after another, so that a document of any size needs little memory.
 * Brackets and strings are only told apart here; what is JSON and what is not, `JSON.parse` decides on each element and on the rest.
 */

import { utf8Text } from "./input.ts";

/** Longest element in characters. The longest real one, with the whole text of its announcement, has some 300,000. */
const ELEMENT_MAX = 16_000_000;
/** Longest text around the array: envelope members before and behind it. */
const AROUND_MAX = 1_000_000;
const DEPTH_MAX = 100;
/** So far back a bracket's name is looked for: looking further would take its time at each of a million brackets. */
const LEAD_MAX = 500;

/** What stands around the array, the array itself being empty. */
export type Around = (document: unknown) => void;

/**
 * The elements of the array at `path`, member names with dots between, or of the document itself. Where there is no such array,
 * or the document is damaged, an Error says so; `around` is told of the rest of the document when all of it was read.
 */
export async function* jsonElements(bytes: AsyncIterable<Uint8Array>, path = "", around: Around = () => {}): AsyncIterable<unknown> {
  const scan = createScan(path);
  for await (const text of utf8Text(bytes)) yield* scan.take(text);
  around(scan.finish());
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

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];

function createScan(path: string) {
  const names = path === "" ? [] : path.split(".");
  /** What stands before each bracket on the way to the array. */
  const leads = [/^\s*$/, ...names.map((name) => new RegExp(`(?<!\\\\)"${name}"\\s*:\\s*$`))];
  const fault = path === "" ? "it is not a JSON array" : `it has no array "${path}"`;

  let depth = 0;
  /** So many of the open brackets lead to the array, which is reached with the last of `leads`. */
  let matched = 0;
  let found = false;
  let inString = false;
  let escaped = false;
  let place = 0;
  let element = "";
  let rest = "";

  const inArray = () => matched === leads.length;

  function endElement(): unknown {
    place++;
    const text = element;
    element = "";
    return parse(text, `element ${place} is not JSON`);
  }

  function* take(text: string): Iterable<unknown> {
    let start = 0;
    const keep = (end: number) => {
      if (inArray()) element += text.slice(start, end);
      else rest += text.slice(start, end);
      start = end;
      if (element.length > ELEMENT_MAX) throw new Error(`element ${place + 1} has more than ${ELEMENT_MAX} characters`);
      if (rest.length > AROUND_MAX) throw new Error(found ? `it has more than ${AROUND_MAX} characters around the array` : fault);
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
        if (++depth > DEPTH_MAX) throw new Error(`it is nested more than ${DEPTH_MAX} deep`);
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
    if (!found) throw new Error(fault);
    return document;
  }

  return { take, finish };
}

function parse(text: string, fault: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(fault);
  }
}
