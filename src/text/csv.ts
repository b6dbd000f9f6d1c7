/** Writes CSV (RFC 4180) that a spreadsheet opens without running anything. */
import { safeLines } from "./terminal-text.ts";

export const BYTE_ORDER_MARK = "\ufeff";

/** A cell that begins so may be taken for a formula (OWASP, CSV Injection); the fullwidth signs too. */
const FORMULA = /^[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
/** A number is not a formula, although it may begin with a minus. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/** One line, with CRLF at its end. */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => csvCell(cell ?? "")).join(",")}\r\n`;
}

/** Control characters other than tab and line feed are escaped as \uXXXX. What looks like a formula gets an apostrophe in front of it. */
function csvCell(text: string): string {
  const lines = safeLines(text.replace(/\r\n?/g, "\n"));
  const harmless = FORMULA.test(lines) && !NUMBER.test(lines) ? `'${lines}` : lines;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
