/** The change feed for people at a terminal: by day, and by opportunity, each change in words. */
import { styleText } from "node:util";
import type { FeedEntry } from "../events/feed.ts";
import { entryInWords } from "../events/in-words.ts";
import { grouping, type Printer, standingOf } from "../feed/printers.ts";
import { numberInWords } from "../opportunities/number.ts";
import { alsoAt, alsoAtInWords } from "../opportunities/related.ts";
import { dateInWords, weekdayInWords } from "../text/date-in-words.ts";
import { clockOf } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { cut, wrapped } from "./output.ts";

const [NUMBER_MAX, TITLE_MIN, AGENCY_MIN] = [20, 10, 8];
const [TIME, SEVERITY] = [7, 15];

type Color = "bold" | "dim" | "green" | "red" | "yellow";
const colors: Readonly<Record<string, Color>> = { critical: "red", material: "yellow" };

const NEW = "new · ";

export function tablePrinter(width: number, hasColors: boolean): Printer {
  const groups = grouping();
  const painted = (text: string, color: Color | undefined) =>
    hasColors && color !== undefined ? styleText(color, text, { validateStream: false }) : text;

  const headOf = (entry: FeedEntry): string[] => {
    const { event, opportunity, duplicates } = entry;
    const number = cut(oneLine(numberInWords(opportunity)), NUMBER_MAX);
    const title = cut(oneLine(opportunity.title), Math.max(TITLE_MIN, width - TIME - Bun.stringWidth(number) - 2));
    const isNew = event.type === "opportunity_added";
    const facts = factsLine(entry, width - TIME - (isNew ? NEW.length : 0));
    const where = alsoAtInWords(alsoAt(duplicates), opportunity.status);
    return [
      `${clockOf(event.detected_at)}  ${painted(number, "bold")}  ${title}`,
      " ".repeat(TIME) + (isNew ? painted(NEW, "green") : "") + painted(facts, "dim"),
      ...(where === null ? [] : [" ".repeat(TIME) + painted(cut(oneLine(where), width - TIME), "dim")]),
    ];
  };
  const changesOf = (entry: FeedEntry): string[] => {
    const { event } = entry;
    const severity = cut(oneLine(event.severity), SEVERITY - 2);
    const tag = painted(severity, colors[event.severity]) + " ".repeat(SEVERITY - Bun.stringWidth(severity));
    const room = width - TIME - SEVERITY;
    const lines = entryInWords(entry).flatMap((words) => wrapped(oneLine(words), room).map((line) => cut(line, room)));
    return lines.map((line, n) => " ".repeat(TIME) + (n === 0 ? tag : " ".repeat(SEVERITY)) + line);
  };
  const linesOf = (entry: FeedEntry): string[] => {
    const { isFirst, isNewDay, isNewSet } = groups.next(entry);
    const day = isNewDay
      ? [...(isFirst ? [] : [""]), `${weekdayInWords(entry.event.detected_at)}, ${dateInWords(entry.event.detected_at)} (UTC)`, ""]
      : [];
    const head = isNewSet ? headOf(entry) : [];
    return [...day, ...head, ...(isNewSet && entry.event.type === "opportunity_added" ? [] : changesOf(entry))];
  };
  return { entries: (batch) => batch.flatMap((entry) => linesOf(entry).map((line) => `${line}\n`)).join("") };
}

/** If they do not fit, the name of the agency is cut: the deadline matters more. */
function factsLine(entry: FeedEntry, width: number): string {
  const [first = "", ...others] = standingOf(entry).map(oneLine);
  const rest = others.map((fact) => ` · ${fact}`).join("");
  return cut(cut(first, Math.max(AGENCY_MIN, width - Bun.stringWidth(rest))) + rest, width);
}
