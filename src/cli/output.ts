/** How commands print results: JSON, tables, and values for people. */
import { withCommas } from "../text/in-words.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";

/** A table with one column per property, numbers aligned to the right. Returns `empty` if there are no rows. */
export function table(rows: readonly Record<string, string | number | null>[], empty: string): string {
  const [first] = rows;
  if (first === undefined) return empty;
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => formatCell(row[name] ?? null)));
  const widths = names.map((name, column) => Math.max(name.length, ...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const numeric = names.map((name) => rows.every((row) => typeof row[name] !== "string") && rows.some((row) => row[name] !== null));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const padding = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
        return numeric[column] ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd();
  return [line(names.map((name) => name.replaceAll("_", " "))), ...cells.map(line)].join("\n");
}

function formatCell(cell: string | number | null): string {
  if (cell === null) return "–";
  return typeof cell === "number" ? withCommas(cell) : toSecond(oneLine(cell));
}

/** Turns a formatted instant into "2026-01-31 17:00:00Z". Returns other text unchanged. */
export function toSecond(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z$/, "$1 $2Z");
}

/** The instant in UTC, or null for null. */
export function instantOrNull(instant: EpochMs | null): string | null {
  return instant === null ? null : formatInstant(instant);
}

const INSTANT = /_at$|^as_of$|^waits_until$/;
type InstantName = `${string}_at` | "as_of" | "waits_until";
type Formatted<Name, Value> = Name extends InstantName ? (Value extends number ? string : Value) : Value;

/** A row with its instants in UTC, as JSON and tables have them. */
export function withInstants<Row extends object>(row: Row): { [Name in keyof Row]: Formatted<Name, Row[Name]> } {
  const formatted = Object.entries(row).map(([name, value]) => [name, INSTANT.test(name) && value !== null ? formatInstant(value) : value]);
  return Object.fromEntries(formatted) as ReturnType<typeof withInstants<Row>>;
}

export const TERMINAL_WIDTH = 79;

/** One entry of a list in a help text: its name or columns, and a description that is wrapped in a column of its own. */
export function helpEntry(lead: string, about: string): string {
  return indented(about, " ".repeat(lead.length + 4), `  ${lead}  `).join("\n");
}

/** Breaks a text into lines of at most `width` columns. A longer word is not broken: an address must be whole to be copied. */
export function wrapped(text: string, width: number): string[] {
  return Bun.wrapAnsi(text, width).split("\n");
}

/** The text in lines for a terminal, behind an indent; the first one behind `first`. */
export function indented(text: string, indent: string, first = indent, width = TERMINAL_WIDTH): string[] {
  return wrapped(text, width - indent.length).map((line, n) => (n === 0 ? first : indent) + line);
}

const segments = new Intl.Segmenter();

/** Cuts the line to the width, with an ellipsis if something is cut off. */
export function cut(line: string, columns: number): string {
  if (Bun.stringWidth(line) <= columns) return line;
  let shown = "";
  for (const { segment } of segments.segment(line)) {
    if (Bun.stringWidth(shown + segment) >= columns) break;
    shown += segment;
  }
  return `${shown}…`;
}
