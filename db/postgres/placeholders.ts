/** Replaces `?` by `$1`, `$2` and so on, outside of strings, quoted names and comments. JSON operators that contain `?` cannot be used. */
export function numbered(statement: string): string {
  const known = translated.get(statement);
  if (known !== undefined) return known;
  let count = 0;
  const text = statement.replace(SKIPPED_OR_PLACEHOLDER, (token) => (token === "?" ? `$${++count}` : token));
  translated.set(statement, text);
  return text;
}

const SKIPPED_OR_PLACEHOLDER = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\?/gs;

const translated = new Map<string, string>();
