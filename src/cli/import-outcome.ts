/** How `import` and `pull` print what became of the records. */
import type { ImportOutcome } from "../import/context.ts";
import type { Machine } from "../runtime/machine.ts";
import { formatCount } from "./output.ts";

/** The counts of an import in one line: "3 read: 2 added, …; 0 removed, …". */
export function formatOutcome(outcome: ImportOutcome): string {
  const { read, added, changed, unchanged, merged, rejected, removed, linked, events } = outcome;
  const counts = (named: Record<string, number>) =>
    Object.entries(named)
      .map(([name, count]) => `${formatCount(count)} ${name}`)
      .join(", ");
  const ofRead = counts({ added, changed, unchanged, merged, rejected });
  return `${counts({ read })}: ${ofRead}; ${counts({ removed, linked })}, ${formatCount(events, "event")}`;
}

/** Prints the most frequent reasons for rejections, and the files that list all of them. */
export function printRejects({ printError }: Machine, { reasons = [], rejects }: Pick<ImportOutcome, "reasons" | "rejects">): void {
  for (const { reason, records, file, line } of reasons)
    printError(`${formatCount(records)} rejected: ${reason}; first at ${file === "-" ? "standard input" : file}:${line}`);
  for (const file of rejects) printError(`Rejected records with their reasons are in ${file}`);
}
