/** Imports are remembered: which files, when, what came of it; and whether a killed one is being run again. */
import { desc, eq } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { insertInto, pick, query, selectAll, update } from "../../db/query.ts";
import { imports } from "../../db/schema/sqlite/catalog.ts";

/** Each record that was read is in exactly one of the next five numbers; the last three count what else the import did. */
export type Summary = {
  read: number;
  added: number;
  changed: number;
  unchanged: number;
  /** Further versions of an opportunity that is counted already. */
  merged: number;
  rejected: number;
  removed: number;
  /** Stored records that now name a record of this import as their parent or as the canonical one. */
  linked: number;
  events: number;
};

export const emptySummary: Readonly<Summary> = {
  read: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  merged: 0,
  rejected: 0,
  removed: 0,
  linked: 0,
  events: 0,
};

export type FileDigest = { name: string; bytes: number; sha256: string };

export type ImportRow = typeof imports.$inferSelect;

const insertImport = insertInto(imports, { key: "id" });
const updateProgress = query(pick(imports, "id", "counts", "last_instant"), ({ id, ...values }) =>
  update(imports).set(values).where(eq(imports.id, id)),
);
const updateFinish = query(pick(imports, "id", "counts", "finished_at"), ({ id, ...values }) =>
  update(imports).set(values).where(eq(imports.id, id)),
);
const newestFirst = () => selectAll(imports).orderBy(desc(imports.id));
const allImports = query({}, newestFirst);
const newestImport = query({}, () => newestFirst().limit(1));

export type Begun = {
  format: string;
  files: FileDigest[];
  sources: string[];
  snapshot: boolean;
  asOf: number | undefined;
  startedAt: number;
};

/** Opens the import's row, or the one that it left behind when it was killed. */
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

/** Part of each chunk's transaction: what has come of the import so far. */
export async function recordProgress(sql: CatalogSql, id: number, summary: Summary, instant: number): Promise<void> {
  await sql.run(updateProgress, { id, counts: JSON.stringify(summary), last_instant: instant });
}

export async function finishImport(sql: CatalogSql, id: number, summary: Summary, now: number): Promise<void> {
  await sql.run(updateFinish, { id, counts: JSON.stringify(summary), finished_at: now });
}

/** The same import, killed before it finished, if nothing has been written since: its remaining chunks then follow as if it had lived. */
export async function findUnfinished(sql: CatalogSql, { format, files, snapshot, asOf }: Begun): Promise<ImportRow | undefined> {
  const newest = await sql.get(newestImport);
  if (newest === undefined || newest.finished_at !== null || newest.format !== format || newest.as_of !== (asOf ?? null)) return undefined;
  const digests = (list: FileDigest[]) => list.map(({ sha256 }) => sha256).join();
  const same = digests(JSON.parse(newest.files) as FileDigest[]) === digests(files) && newest.snapshot === (snapshot ? 1 : 0);
  return same ? newest : undefined;
}

/** All imports, the newest first. */
export async function listImports(sql: CatalogSql): Promise<ImportRow[]> {
  return sql.all(allImports);
}
