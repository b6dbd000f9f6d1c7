/** The catalog, directory, messages and progress of `import`, `pull` and `redact`, and how they print an outcome. */
import { rmSync } from "node:fs";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalogAt } from "../../db/open.ts";
import { NoData } from "../../db/opening.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { ImportContext, ImportOutcome, ImportProgress } from "../import/context.ts";
import { temporaryDirectory } from "../runtime/left-behind.ts";
import type { Machine } from "../runtime/machine.ts";
import { counted, withCommas } from "../text/in-words.ts";
import type { CliCommand, CommonOptions } from "./command.ts";
import { progressReporter } from "./progress.ts";

const YIELD_EVERY_MS = 100;

/** Runs `work` with the catalog and a directory for its files: the data directory, or on PostgreSQL a temporary one. */
export async function withImportContext<T>(command: CliCommand, work: (context: ImportContext) => Promise<T>): Promise<T> {
  const { data, database } = command.opts<CommonOptions>();
  using kept = new DisposableStack();
  const directory = database === undefined ? data : temporaryIn(kept);
  return await command.withCatalog((db) => work(importContextOf(command, db, directory)));
}

/** Like `withImportContext`, for a dry run: the catalog is only read, and if there is none, an empty one in memory takes its place. */
export async function withReadOnlyContext<T>(command: CliCommand, work: (context: ImportContext) => Promise<T>): Promise<T> {
  using kept = new DisposableStack();
  const directory = temporaryIn(kept);
  const now = command.machine.now();
  await using db = await openCatalogAt({ ...command.opts<CommonOptions>(), mode: "read" }, now).catch((error: unknown) => {
    if (error instanceof NoData) return openCatalog(":memory:", now);
    throw error;
  });
  return await work(importContextOf(command, db, directory));
}

function importContextOf(command: CliCommand, db: CatalogDb, directory: string): ImportContext {
  const { now, printError } = command.machine;
  const report = progressReporter(command.machine);
  let yieldedAt = now();
  const progress = async (state: ImportProgress) => {
    report({ ...state, unit: "records" });
    if (state.share < 1 && now() - yieldedAt < YIELD_EVERY_MS) return;
    await Bun.sleep(0); // Signals are delivered by the event loop.
    yieldedAt = now();
  };
  return { db, directory, now, notify: printError, progress };
}

function temporaryIn(kept: DisposableStack): string {
  return kept.adopt(temporaryDirectory("import"), (directory) => rmSync(directory, { recursive: true, force: true }));
}

/** The counts of an import in one line: "3 read: 2 added, …; 0 removed, …". A dry run counts no links. */
export function formatOutcome(outcome: ImportOutcome, isDryRun = false): string {
  const { read, added, changed, unchanged, merged, rejected, removed, linked, events } = outcome;
  const counts = (named: Record<string, number>) =>
    Object.entries(named)
      .map(([name, count]) => `${withCommas(count)} ${name}`)
      .join(", ");
  const ofRead = counts({ added, changed, unchanged, merged, rejected });
  const others = isDryRun ? `${counts({ removed })}, links not counted` : counts({ removed, linked });
  return `${counts({ read })}: ${ofRead}; ${others}, ${counted(events, "event")}`;
}

/** Prints the most frequent reasons for rejections, and the files that list all of them. */
export function printRejects({ printError }: Machine, { reasons = [], rejects }: Pick<ImportOutcome, "reasons" | "rejects">): void {
  for (const { reason, records, file, line } of reasons)
    printError(`${withCommas(records)} rejected: ${reason}; first at ${file === "-" ? "standard input" : file}:${line}`);
  for (const file of rejects) printError(`Rejected records with their reasons are in ${file}`);
}
