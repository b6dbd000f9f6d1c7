/** Counts that transactions keep in step: reading them costs the same however many records there are. */
import { and, asc, desc, eq, gt, lte, sql } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { jsonOf, parameter, pick, query, select } from "../../db/query.ts";
import { counts } from "../../db/schema/sqlite/catalog.ts";

/**
 * - `posted`: how many records of a source were posted on a day (`changes/counts.ts`). It may be 0.
 * - `agency`: how many records of a source say the same about their agency (`published-agencies.ts`). It may be 0.
 * - `imports`: sums over the finished imports of a format.
 */
type Count = typeof counts.$inferSelect;

const add = query({ sums: jsonOf<Count>() }, ({ sums }, { jsonElements, jsonMember }) => {
  const member = (name: string) => jsonMember(sql.identifier("value"), name);
  return sql`insert into ${counts} (kind, subject, name, number)
    select ${member("kind")}, ${member("subject")}, ${member("name")}, cast(${member("number")} as bigint)
    from ${jsonElements(sums)} where true
    on conflict (kind, subject, name) do update set number = ${counts.number} + excluded.number`;
});
const newestPosted = query({ source: counts.subject, until: counts.name, limit: parameter<number>() }, ({ source, until, limit }) =>
  select({ day: counts.name })
    .from(counts)
    .where(and(eq(counts.kind, "posted"), eq(counts.subject, source), lte(counts.name, until), gt(counts.number, 0)))
    .orderBy(desc(counts.name))
    .limit(limit),
);
const ofKind = query(pick(counts, "kind"), ({ kind }) =>
  select(pick(counts, "subject", "name", "number"))
    .from(counts)
    .where(eq(counts.kind, kind))
    .orderBy(asc(counts.subject)),
);

/** Adds to counts, in one statement. */
export async function addToCounts(sql: CatalogSql, sums: readonly Count[]): Promise<void> {
  if (sums.length > 0) await sql.run(add, { sums });
}

export async function listCounts(sql: Pick<CatalogSql, "all">, kind: Count["kind"]): Promise<Omit<Count, "kind">[]> {
  return sql.all(ofKind, { kind });
}

/** Days on which a source posted records, until `until`, the newest first: YYYY-MM-DD. */
export async function listPostingDays(sql: Pick<CatalogSql, "all">, source: string, until: string, limit: number): Promise<string[]> {
  return (await sql.all(newestPosted, { source, until, limit })).map(({ day }) => day);
}
