/** When imports last changed a source or finished, at all and on each day; and until when statuses were judged. */
import { and, desc, eq, lte } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { insertInto, orUpdate, parameter, pick, query, select, selectSome } from "../../db/query.ts";
import { instants } from "../../db/schema/sqlite/catalog.ts";
import { dateAt, type EpochMs } from "../text/instant.ts";

type Name = (typeof instants.$inferSelect)["name"];

const set = insertInto(instants, { onConflict: orUpdate([instants.source, instants.day, instants.name], instants.at) });
const ofDay = selectSome(instants, ["name", "at"], "source", "day");
const newestDays = query(
  { ...pick(instants, "source", "name"), until: instants.day, limit: parameter<number>() },
  ({ source, name, until, limit }) =>
    select(pick(instants, "day"))
      .from(instants)
      .where(and(eq(instants.source, source), eq(instants.name, name), lte(instants.day, until)))
      .orderBy(desc(instants.day))
      .limit(limit),
);

/** Notes when something last happened to a source, or with "" to the catalog. */
export async function noteInstant(sql: CatalogSql, source: string, name: Name, at: EpochMs): Promise<void> {
  await sql.run(set, { source, day: "", name, at });
}

export async function noteDay(sql: CatalogSql, source: string, name: "changed" | "imported", at: EpochMs): Promise<void> {
  await sql.run(set, { source, day: dateAt(at), name, at });
}

/** The instants of a source, or of the catalog (""), that are known. */
export async function readInstants(sql: Pick<CatalogSql, "all">, source: string): Promise<Partial<Record<Name, EpochMs>>> {
  const rows = await sql.all(ofDay, { source, day: "" });
  return Object.fromEntries(rows.map(({ name, at }) => [name, at]));
}

/** Days on which that happened, until `until`, the newest first: YYYY-MM-DD. */
export async function listDays(sql: Pick<CatalogSql, "all">, source: string, name: "changed" | "imported", until: string, limit: number) {
  return (await sql.all(newestDays, { source, name, until, limit })).map(({ day }) => day).filter((day) => day !== "");
}

const importedSources = selectSome(instants, ["source"], "day", "name");

export async function listImportedSources(sql: Pick<CatalogSql, "all">): Promise<string[]> {
  return (await sql.all(importedSources, { day: "", name: "known_until" })).map(({ source }) => source);
}
