/** Makes foreign text safe to print: escapes characters that move the cursor, hide text or forge a line. All output passes here. */

/** Unicode's control characters except the tab, plus those that reorder text or end a line in some programs. */
const UNSAFE = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g;
const UNSAFE_IN_LINES = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g;

/** Escapes unsafe characters and line feeds as \uXXXX: for a message, or for a value within a line. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Escapes unsafe characters as \uXXXX and keeps line feeds. JSON keeps its meaning. */
export function safeLines(text: string): string {
  return text.replace(UNSAFE_IN_LINES, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
