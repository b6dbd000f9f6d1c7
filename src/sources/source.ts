/** The named sources (D-13), and what is stored of every source. */
import { type Static, Type } from "@sinclair/typebox";
import { asc, eq, sql as fragment, inArray, max, ne, sum } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { deleteFrom, insertInto, orUpdate, parameter, query, type RowsOf, select, selectAll } from "../../db/query.ts";
import { facets, imports, opportunities, sources } from "../../db/schema/sqlite/catalog.ts";
import { didYouMean } from "../text/closest.ts";

/** A named source as the API returns it. */
export const SourceEntry = Type.Object(
  {
    code: Type.String({ description: "Source code, as in an opportunity's `source.code` and the `source` filter." }),
    name: Type.String({ description: "Display name." }),
    description: Type.String({ description: "What the source publishes." }),
  },
  { additionalProperties: false },
);

export type SourceEntry = Static<typeof SourceEntry>;

const allSources = query({}, () => selectAll(sources).orderBy(asc(sources.code)));
const storeSource = insertInto(sources, { onConflict: orUpdate(sources.code, sources.name, sources.description) });
const deleteSource = query({ code: sources.code }, ({ code }) => deleteFrom(sources).where(eq(sources.code, code)));

/** All named sources, by code. */
export async function listSources(db: CatalogDb): Promise<SourceEntry[]> {
  return db.all(allSources);
}

/** Adds a source, or updates the one with this code. Returns it with its code upper-cased. Throws if the code or the name is not valid. */
export async function addSource(db: CatalogDb, entry: SourceEntry): Promise<SourceEntry> {
  const code = entry.code.trim().toUpperCase();
  if (!/^[A-Z0-9][A-Z0-9_.-]{0,63}$/.test(code)) {
    throw new Error(
      `Cannot add source "${entry.code}": a code has 1 to 64 letters, digits, "_", "-" or ".", and starts with a letter or digit`,
    );
  }
  if (code === "OTHER") throw new Error("Cannot add source OTHER: the API uses this code for all sources that were not added");
  const { name, description } = entry;
  if (name.trim() === "") throw new Error(`Cannot add source ${code}: its name is blank`);
  await db.run(storeSource, { code, name, description });
  return { code, name, description };
}

/** Removes a named source. Its records stay and count as `OTHER`. Returns false if there was none with this code. */
export async function removeSource(db: CatalogDb, code: string): Promise<boolean> {
  return (await db.run(deleteSource, { code: code.trim().toUpperCase() })) > 0;
}

const sourcesOfRecords = query({}, () => select({ source: facets.source }).from(facets).groupBy(facets.source));

/** Throws if a code belongs to no named source and no record: a typo would otherwise select nothing. */
export async function requireSources(db: CatalogDb, codes: readonly string[], action: string): Promise<void> {
  const known = [...(await listSources(db)).map(({ code }) => code), ...(await db.all(sourcesOfRecords)).map(({ source }) => source)];
  for (const code of codes) {
    if (!known.includes(code)) throw new Error(`Cannot ${action} source ${code}: no source has this code${didYouMean(code, known)}`);
  }
}

/** The same codes, and for `OTHER` those of all records whose source is not named (D-13). */
export async function withOtherSources(db: CatalogDb, codes: readonly string[]): Promise<string[]> {
  if (!codes.includes("OTHER")) return [...codes];
  const named = (await listSources(db)).map(({ code }) => code);
  const others = (await db.all(sourcesOfRecords)).map(({ source }) => source).filter((code) => !named.includes(code));
  return [...new Set([...codes, ...others])].sort();
}

/** Records are counted by facet first, from an index, because a catalog has few facets. */
const countByFacet = select({ facet_id: opportunities.facet_id, records: fragment<number>`count(*)`.as("records") })
  .from(opportunities)
  .groupBy(opportunities.facet_id)
  .as("counts");
/** Statuses in which submissions are accepted. */
const ACCEPTING = ["open", "closing_soon"];
const statuses = query({}, (_, { jsonElements }) => {
  const lastImport = fragment<number | null>`(select max(${imports.finished_at}) from ${imports}
    where ${ne(imports.format, "events")} and ${facets.source} in (select value from ${jsonElements(imports.sources)}))`;
  return select({
    source: facets.source,
    records: fragment<number>`${sum(countByFacet.records)}`.as("records"),
    open: fragment<number>`coalesce(sum(${countByFacet.records}) filter (where ${inArray(facets.status, ACCEPTING)}), 0)`.as("open"),
    live: fragment<number>`coalesce(sum(${countByFacet.records}) filter (where ${ne(facets.status, "archived")}), 0)`.as("live"),
    last_import_at: lastImport.as("last_import_at"),
  })
    .from(countByFacet)
    .innerJoin(facets, eq(facets.id, countByFacet.facet_id))
    .groupBy(facets.source)
    .orderBy(asc(facets.source));
});

/** What is stored of one source. */
export type SourceStatus = RowsOf<typeof statuses>;

/** Every source with records: how many it has, how many are open, how many are not archived, and when its last import finished. */
export async function sourceStatuses(db: CatalogDb): Promise<SourceStatus[]> {
  return db.all(statuses);
}

/**
 * The date of `posted_at`, found as text in the document, because parsing every document takes ten times as long. The text cannot occur in
 * a JSON string, where quotes are escaped.
 */
const newestPosted = query({ today: parameter<string>(), member: parameter<string>() }, ({ today, member }, { textAfter }) => {
  const posted = textAfter(opportunities.document, member, "2026-01-31".length);
  return select({ source: opportunities.source, date: max(posted).as("date") })
    .from(opportunities)
    .where(fragment`${posted} <= ${today}`)
    .groupBy(opportunities.source);
});

/** By source code: the newest date, not later than `today`, on which the source posted a record. Reads every record. */
export async function newestPostedDates(db: CatalogDb, today: string): Promise<Map<string, string>> {
  const rows = await db.all(newestPosted, { today, member: '"posted_at":"' });
  return new Map(rows.flatMap(({ source, date }) => (date === null ? [] : [[source, date] as const])));
}
