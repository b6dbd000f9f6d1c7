/** Text from elsewhere as a terminal or a log shows it: characters that move a cursor, hide text or forge a line are escaped. */

/** Unicode's controls but for the tab, and what reorders text or ends a line in some programs. */
const UNSAFE = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g;
const UNSAFE_IN_LINES = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g;

/** With line feeds escaped, too: for a message, or a value within a line. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** With its line feeds. JSON stays the same JSON. */
export function safeLines(text: string): string {
  return text.replace(UNSAFE_IN_LINES, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
