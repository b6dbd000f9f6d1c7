/** The names of agencies as they are compared: "ENERGY, DEPARTMENT OF" and "U.S. Dept. of Energy" are one. */
import { fold } from "../text/fold.ts";

/** The form that all styles of a name share. A text in parentheses does not count. */
export function normalForm(name: string): string {
  const inOrder = name
    .replace(/\([^)]*\)?/g, " ")
    .replace(/^([^,]+(?:, [^,]+)*),\s*((?:department|dept\.?|office|bureau) of(?: the)?)\s*$/i, "$2 $1");
  return plainWords(inOrder.replace(/&amp;|&/g, " and ").replace(/['’]/g, ""))
    .replace(/\bdept\b/g, "department")
    .replace(/\blab(?=s?\b)/g, "laboratory")
    .replace(/\blaboratorys\b/g, "laboratories")
    .replace(/\bunited states\b|\bu s\b/g, "us")
    .replace(/\bthe /g, "")
    .replace(/^us | us$| the$/g, "");
}

/** The words of a text with one blank between them, in lower case: any text is found in another at the beginning of a word. */
export function plainWords(text: string): string {
  return fold(text)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
