/** The import log, which shows whether a killed import is being run again. */

import { desc } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { insertInto, parameter, query, selectAll, selectSome, updateBy } from "../../db/query.ts";
import { imports } from "../../db/schema/sqlite/catalog.ts";
import { addToCounts } from "../sources/counts.ts";
import { noteImport } from "../sources/news.ts";
import type { EpochMs } from "../text/instant.ts";

/**
 * Counts of an import. Each record read is counted in exactly one of the five numbers after `read`; the last three count what else was
 * done.
 */
export const emptySummary = {
  read: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  /** Further records of an opportunity that is already counted. */
  merged: 0,
  rejected: 0,
  removed: 0,
  /** Stored records that now refer to a record of this import as their parent or canonical record. */
  linked: 0,
  events: 0,
};

export type Summary = typeof emptySummary;

export type FileDigest = { name: string; bytes: number; sha256: string };

type ImportRow = typeof imports.$inferSelect;

const insertImport = insertInto(imports, { key: "id" });
const updateProgress = updateBy(imports, ["counts", "last_instant"], "id");
const updateFinish = updateBy(imports, ["counts", "finished_at"], "id");
const importById = selectSome(imports, ["format", "sources", "as_of"], "id");
const newestImports = query({ limit: parameter<number>() }, ({ limit }) => selectAll(imports).orderBy(desc(imports.id)).limit(limit));

export type Begun = {
  format: string;
  files: FileDigest[];
  sources: string[];
  snapshot: boolean;
  asOf: EpochMs | undefined;
  startedAt: EpochMs;
};

/** Adds the import to the log, or resumes the row of a killed one. Returns the row's id. */
export async function beginImport(sql: CatalogSql, begun: Begun): Promise<number> {
  const unfinished = await findUnfinished(sql, begun);
  if (unfinished !== undefined) return unfinished.id;
  const { format, files, sources, snapshot, asOf, startedAt } = begun;
  return sql.insert(insertImport, {
    format,
    files: JSON.stringify(files),
    sources: JSON.stringify(sources),
    snapshot: snapshot ? 1 : 0,
    as_of: asOf ?? null,
    started_at: startedAt,
    finished_at: null,
    last_instant: null,
    counts: "{}",
  });
}

/** The counts of a killed import that this one continues. */
export async function countsBefore(sql: CatalogSql, begun: Begun): Promise<Summary> {
  return { ...emptySummary, ...(JSON.parse((await findUnfinished(sql, begun))?.counts ?? "{}") as Partial<Summary>) };
}

/** The counts of a killed import and its second run as one: what the first stored is unchanged for the second. */
export function inTotal(before: Summary, { read, merged, rejected, ...summary }: Summary): Summary {
  const added = before.added + summary.added;
  const unchanged = summary.unchanged - before.added - before.changed;
  const changed = before.changed + summary.changed + Math.min(0, unchanged); // A record that both runs changed counts once.
  const [removed, linked, events] = [before.removed + summary.removed, before.linked + summary.linked, before.events + summary.events];
  return { read, added, changed, unchanged: Math.max(0, unchanged), merged, rejected, removed, linked, events };
}

/** Saves the counts so far. */
export async function recordProgress(sql: CatalogSql, id: number, summary: Summary, instant: EpochMs): Promise<void> {
  await sql.run(updateProgress, { id, counts: JSON.stringify(summary), last_instant: instant });
}

/** Logs the end, and adds to the totals of the format and to the last imports of the sources. */
export async function finishImport(db: CatalogDb, id: number, summary: Summary, now: EpochMs): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.run(updateFinish, { id, counts: JSON.stringify(summary), finished_at: now });
    const { format = "", sources = "[]", as_of = null } = (await sql.get(importById, { id })) ?? {};
    const totals = Object.entries({ imports: 1, ...summary });
    const sums = totals.map(([name, number]) => ({ kind: "imports" as const, subject: format, name, number }));
    await addToCounts(sql, sums);
    if (format === "events") return;
    for (const source of JSON.parse(sources) as string[]) await noteImport(sql, source, now, as_of);
  });
}

/** The row of the same import, if it was killed and no other was begun since. */
export async function findUnfinished(sql: CatalogSql, { format, files, snapshot, asOf }: Begun): Promise<ImportRow | undefined> {
  const [newest] = await listImports(sql, 1);
  if (newest === undefined || newest.finished_at !== null || newest.format !== format || newest.as_of !== (asOf ?? null)) return undefined;
  const digests = (list: FileDigest[]) => list.map(({ sha256 }) => sha256).join();
  const same = digests(JSON.parse(newest.files) as FileDigest[]) === digests(files) && newest.snapshot === (snapshot ? 1 : 0);
  return same ? newest : undefined;
}

export async function listImports(sql: CatalogSql, limit: number): Promise<ImportRow[]> {
  return sql.all(newestImports, { limit });
}
