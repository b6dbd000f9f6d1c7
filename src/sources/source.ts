/** The named sources (D-13), and what is stored of every source. */

import { asc, eq, sql as fragment } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { deleteBy, insertInto, orUpdate, parameter, query, type RowsOf, select, selectAll } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { facets, opportunities, sources } from "../../db/schema/sqlite/catalog.ts";
import { didYouMean } from "../text/closest.ts";
import { SOURCE_CODE, upperCaseCode } from "../text/source-code.ts";
import type { SourceEntry } from "./entry.ts";
import { listPostedDays } from "./news.ts";

const CODE = new RegExp(SOURCE_CODE);

const allSources = query({}, () => selectAll(sources).orderBy(asc(sources.code)));
const storeSource = insertInto(sources, { onConflict: orUpdate(sources.code, sources.name, sources.description) });
const deleteSource = deleteBy(sources, "code");

export async function listSources(db: CatalogDb): Promise<SourceEntry[]> {
  return db.all(allSources);
}

/** Adds or updates a source. Returns it with its code upper-cased. Throws if code or name is not valid. */
export async function addSource(db: CatalogDb, entry: SourceEntry): Promise<SourceEntry> {
  const code = upperCaseCode(entry.code.trim());
  if (!CODE.test(code)) {
    throw new Failure(
      `Cannot add source "${entry.code}": a code has 1 to 64 letters, digits, "_", "-" or ".", and starts with a letter or digit`,
    );
  }
  if (code === "OTHER") throw new Failure("Cannot add source OTHER: the API uses this code for all sources that were not added");
  const [name, description] = [entry.name.trim(), entry.description.trim()];
  if (name === "") throw new Failure(`Cannot add source ${code}: its name is blank`);
  await db.run(storeSource, { code, name, description });
  return { code, name, description };
}

/** Removes a named source, whose records stay and count as `OTHER`. Returns false if there was none. */
export async function removeSource(db: CatalogDb, code: string): Promise<boolean> {
  return (await db.run(deleteSource, { code: upperCaseCode(code.trim()) })) > 0;
}

const sourcesOfRecords = query({}, () => select({ source: facets.source }).from(facets).groupBy(facets.source).orderBy(asc(facets.source)));

export async function listSourcesOfRecords(db: Pick<CatalogSql, "all">): Promise<string[]> {
  return (await db.all(sourcesOfRecords)).map(({ source }) => source);
}

/** The newest day up to `today` on which a source posted a record; of all, or of the given ones. */
export async function newestPostedDates(db: CatalogDb, today: string, sources?: readonly string[]): Promise<Map<string, string>> {
  const newest = new Map<string, string>();
  for (const source of sources ?? (await listSourcesOfRecords(db))) {
    const [day] = await listPostedDays(db, source, today, 1);
    if (day !== undefined) newest.set(source, day);
  }
  return newest;
}

/** A code that belongs to no named source and no record. */
export class UnknownSource extends Failure {
  constructor(
    action: string,
    code: string,
    readonly reason: string,
  ) {
    super(`Cannot ${action} source ${code}: ${reason}`);
  }
}

/** Throws an UnknownSource: a typo would select nothing. */
export async function requireSources(db: CatalogDb, codes: readonly string[], action: string): Promise<void> {
  const known = [...(await listSources(db)).map(({ code }) => code), ...(await listSourcesOfRecords(db))];
  for (const code of codes) {
    if (known.includes(code)) continue;
    const names = [...new Set(known)].sort().join(", ");
    throw new UnknownSource(action, code, `no source has this code${didYouMean(code, known)}. There are ${names}`);
  }
}

/** The codes, and with `OTHER` those of all records whose source is not named (D-13). */
export async function withOtherSources(db: CatalogDb, codes: readonly string[]): Promise<string[]> {
  if (!codes.includes("OTHER")) return [...codes];
  const named = (await listSources(db)).map(({ code }) => code);
  const others = (await listSourcesOfRecords(db)).filter((code) => !named.includes(code));
  return [...new Set([...codes, ...others])].sort();
}

const lastChanges = query(
  { since: opportunities.updated_at, until: opportunities.updated_at, bucketMs: parameter<number>() },
  ({ since, until, bucketMs }) => {
    const bucket = fragment<number>`((${opportunities.updated_at} - ${since} - 1) / cast(${bucketMs} as bigint))`;
    const counted = select({ facet_id: opportunities.facet_id, bucket, changed: fragment<number>`count(*)` })
      .from(opportunities)
      .where(fragment`${opportunities.updated_at} > ${since} and ${opportunities.updated_at} <= ${until}`)
      .groupBy(opportunities.facet_id, fragment`2`)
      .as("counted");
    return select({ source: facets.source, bucket: counted.bucket, records: fragment<number>`cast(sum(${counted.changed}) as bigint)` })
      .from(counted)
      .innerJoin(facets, eq(facets.id, counted.facet_id))
      .groupBy(facets.source, counted.bucket);
  },
);

export type LastChanges = RowsOf<typeof lastChanges>;

/** How many records changed last in each bucket after `since`, until `until`. Its cost follows the period. */
export async function recordsByLastChange(
  db: CatalogDb,
  period: { since: number; until: number; bucketMs: number },
): Promise<LastChanges[]> {
  return db.all(lastChanges, period);
}
