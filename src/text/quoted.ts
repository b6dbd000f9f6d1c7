/** Quotes foreign text in a message or a line: what someone else wrote stays apart from our own words. */
import { oneLine } from "./terminal-text.ts";

/** Invisible characters, with which text for a model can be hidden from people. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const QUOTED_MAX = 160;

/** The beginning of a foreign text in quotes, on one line, without characters that hide or reorder text. */
export function quoted(text: string, max = QUOTED_MAX): string {
  const visible = oneLine(text.replace(INVISIBLE, ""));
  return JSON.stringify(ellipsized(visible, max));
}

export function ellipsized(text: string, max: number): string {
  return text.length > max ? `${beginning(text, max)}…` : text;
}

/** The first characters, without half a surrogate pair at the end. */
export function beginning(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
