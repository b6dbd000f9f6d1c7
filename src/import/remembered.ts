/** Imports are remembered: which files, when, what came of it; and whether a killed one is being run again. */
import type { CatalogDb } from "../../db/open.ts";

export type Summary = {
  read: number;
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
  rejected: number;
  events: number;
};

export type FileDigest = { name: string; bytes: number; sha256: string };

export type ImportRow = {
  id: number;
  format: string;
  files: string;
  sources: string;
  snapshot: number;
  as_of: number | null;
  started_at: number;
  finished_at: number | null;
  last_instant: number | null;
  counts: string;
};

export type Begun = {
  format: string;
  files: FileDigest[];
  sources: string[];
  snapshot: boolean;
  asOf: number | undefined;
  startedAt: number;
};

/** Opens the import's row, or the one that it left behind when it was killed. */
export function beginImport(db: CatalogDb, begun: Begun): number {
  const unfinished = findUnfinished(db, begun);
  if (unfinished !== undefined) return unfinished.id;
  const { format, files, sources, snapshot, asOf, startedAt } = begun;
  const row = db.sqlite
    .query<{ id: number }, (string | number | null)[]>(
      "insert into imports (format, files, sources, snapshot, as_of, started_at, counts) values (?, ?, ?, ?, ?, ?, '{}') returning id",
    )
    .get(format, JSON.stringify(files), JSON.stringify(sources), snapshot ? 1 : 0, asOf ?? null, startedAt);
  return row?.id ?? 0;
}

/** Part of each chunk's transaction: what has come of the import so far. */
export function recordProgress({ sqlite }: CatalogDb, id: number, summary: Summary, instant: number): void {
  sqlite.query("update imports set counts = ?, last_instant = ? where id = ?").run(JSON.stringify(summary), instant, id);
}

export function finishImport({ sqlite }: CatalogDb, id: number, summary: Summary, now: number): void {
  sqlite.query("update imports set counts = ?, finished_at = ? where id = ?").run(JSON.stringify(summary), now, id);
}

/** The same import, killed before it finished, if nothing has been written since: its remaining chunks then follow as if it had lived. */
export function findUnfinished({ sqlite }: CatalogDb, { format, files, snapshot, asOf }: Begun): ImportRow | undefined {
  const newest = sqlite.query<ImportRow, []>("select * from imports order by id desc limit 1").get();
  if (newest === null || newest.finished_at !== null || newest.format !== format || newest.as_of !== (asOf ?? null)) return undefined;
  const digests = (list: FileDigest[]) => list.map(({ sha256 }) => sha256).join();
  const same = digests(JSON.parse(newest.files) as FileDigest[]) === digests(files) && newest.snapshot === (snapshot ? 1 : 0);
  return same ? newest : undefined;
}

/** All imports, the newest first. */
export async function listImports({ all }: CatalogDb): Promise<ImportRow[]> {
  return all("select * from imports order by id desc");
}
