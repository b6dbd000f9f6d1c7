/** Looks at the brackets of a JSON text before a parser does: a parser takes 70 bytes for each level of `[[[[…`, and cannot be interrupted. */

/** No document of an API or an upstream nests deeper than a dozen levels. A value of a record may have 100, and stands in some others. */
export const NESTING_MAX = 120;

/** `elements` counts those of an array that is the whole text; 0 for anything else. */
type JsonShape = { isTooDeep: boolean; elements: number };

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125];

/** The shape of a text, which need not be JSON. Each character may be one of the text, or one byte of its UTF-8. */
export function shapeOfJson(text: string): JsonShape {
  let [depth, elements, isArray, isEmpty] = [0, 0, false, true];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      isEmpty = false;
      at = endOfString(text, at + 1);
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      if (depth === 0) isArray = code === OPEN_BRACKET;
      else isEmpty = false;
      if (++depth > NESTING_MAX) return { isTooDeep: true, elements };
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    else if (code === COMMA && depth === 1 && isArray) elements++;
    else if (depth > 0 && code > 32) isEmpty = false;
  }
  return { isTooDeep: false, elements: isArray && !isEmpty ? elements + 1 : 0 };
}

/** The value of a JSON text of others. Throws a SyntaxError also if it nests too deeply. */
export function parseBounded(text: string): unknown {
  if (shapeOfJson(text).isTooDeep) throw new SyntaxError(`it nests deeper than ${NESTING_MAX} levels`);
  return JSON.parse(text);
}

/** Where the quote stands that ends a string; the end of the text if none does. */
function endOfString(text: string, from: number): number {
  for (let at = from; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let start = at;
    while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start--;
    if ((at - start) % 2 === 0) return at;
  }
}
