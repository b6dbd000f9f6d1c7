/** `?` becomes `$1`, `$2` and so on, but in texts, quoted names and comments. The operators of JSON that are spelled with `?` are lost to us. */
export function numbered(statement: string): string {
  const known = translated.get(statement);
  if (known !== undefined) return known;
  let count = 0;
  const text = statement.replace(SKIPPED_OR_PLACEHOLDER, (token) => (token === "?" ? `$${++count}` : token));
  translated.set(statement, text);
  return text;
}

const SKIPPED_OR_PLACEHOLDER = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\?/gs;

/** As many as the program spells. */
const translated = new Map<string, string>();
