/** The source catalogue: the named sources (D-13). */

import { type Static, Type } from "@sinclair/typebox";
import { asc, eq } from "drizzle-orm";
import type { CatalogDb } from "../db/engine.ts";
import { didYouMean } from "./closest.ts";

export const SourceEntry = Type.Object(
  {
    code: Type.String({ description: "Source code, as in an opportunity's `source.code` and the `source` filter." }),
    name: Type.String({ description: "Display name." }),
    description: Type.String({ description: "What the source publishes." }),
  },
  { additionalProperties: false },
);

export type SourceEntry = Static<typeof SourceEntry>;

/** All named sources, by code. */
export async function listSources({ drizzle, tables: { sources } }: CatalogDb): Promise<SourceEntry[]> {
  return drizzle.select().from(sources).orderBy(asc(sources.code));
}

/** Adds a source, or updates the one that bears the code. `OTHER` is never a catalogue entry. */
export async function addSource({ drizzle, tables: { sources } }: CatalogDb, entry: SourceEntry): Promise<SourceEntry> {
  const code = entry.code.trim().toUpperCase();
  if (!/^[A-Z0-9][A-Z0-9_.-]{0,63}$/.test(code)) {
    throw new Error(`Cannot add source "${entry.code}": a code is 1 to 64 letters, digits, "_", "-" or "."`);
  }
  if (code === "OTHER") throw new Error("Cannot add source OTHER: it means every source that the catalogue does not name");
  const { name, description } = entry;
  if (name.trim() === "") throw new Error(`Cannot add source ${code}: its name is blank`);
  await drizzle
    .insert(sources)
    .values({ code, name, description })
    .onConflictDoUpdate({ target: sources.code, set: { name, description } });
  return { code, name, description };
}

/** Whether there was such a source. Its records stay, and count as `OTHER` from then on. */
export async function removeSource({ drizzle, tables: { sources } }: CatalogDb, code: string): Promise<boolean> {
  const removed = await drizzle.delete(sources).where(eq(sources.code, code.trim().toUpperCase())).returning();
  return removed.length > 0;
}

/** Refuses a code that neither the catalogue names nor any record bears: a typo, which would otherwise choose nothing. */
export async function requireSources(db: CatalogDb, codes: readonly string[], action: string): Promise<void> {
  const known = [...(await listSources(db)).map(({ code }) => code), ...(await sourceStatuses(db)).map(({ source }) => source)];
  for (const code of codes) {
    if (!known.includes(code)) throw new Error(`Cannot ${action} source ${code}: there is none of that code${didYouMean(code, known)}`);
  }
}

export type SourceStatus = { source: string; records: number; live: number; last_import_at: number | null };

/** Every source that has records: how many, how many of them not archived, and when an import of it last finished. */
export async function sourceStatuses({ all, dialect }: CatalogDb): Promise<SourceStatus[]> {
  return all(
    `select source, count(*) as records, count(*) filter (where facet_id in (select id from facets where status <> 'archived')) as live,
       (select max(finished_at) from imports where format <> 'events' and source in (select value from ${dialect.elements("sources")})) as last_import_at
     from opportunities group by source order by source`,
  );
}
