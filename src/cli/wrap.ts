/** Breaks a text into lines of at most `width` columns. A longer word is not broken: an address must be whole to be copied. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || Bun.stringWidth(line) + 1 + Bun.stringWidth(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
