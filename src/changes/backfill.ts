/** Backfills: imports of old files as of a past instant. Until one has finished, no status turn may store a later instant. (E-100) */
import { desc, isNotNull } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { pick, query, select } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { imports } from "../../db/schema/sqlite/catalog.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";

const newestImport = query({}, () =>
  select(pick(imports, "as_of", "finished_at"))
    .from(imports)
    .orderBy(desc(imports.id))
    .limit(1),
);
const newestStoringImport = query({}, () =>
  select(pick(imports, "format", "started_at", "last_instant"))
    .from(imports)
    .where(isNotNull(imports.last_instant))
    .orderBy(desc(imports.last_instant))
    .limit(1),
);

export class BackfillUnfinished extends Failure {}

/** Throws `BackfillUnfinished` if the newest import is a backfill that runs, or was killed and can be repeated. */
export async function refuseDuringBackfill(sql: CatalogSql): Promise<void> {
  const newest = await sql.get(newestImport);
  if (newest === undefined || newest.as_of === null || newest.finished_at !== null) return;
  throw new BackfillUnfinished(
    `Statuses do not change while the import as of ${formatInstant(newest.as_of)} is unfinished. If it is not running, repeat it with the same files and --as-of; any import without --as-of gives it up`,
  );
}

/** A clause with the instant of the newest change and its cause. */
export async function describeNewest(sql: CatalogSql, newest: EpochMs): Promise<string> {
  const imported = await sql.get(newestStoringImport);
  const cause =
    imported?.last_instant === newest
      ? `the import of ${imported.format} that began at ${formatInstant(imported.started_at)}`
      : "a server's status turn, fundfeed refresh or fundfeed redact";
  return `the catalog holds changes up to ${formatInstant(newest)}, stored by ${cause}`;
}
