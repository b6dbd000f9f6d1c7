/**
 * Figures of the catalog: numbers that transactions keep in step with what they store, so that no command has to count. Reading them costs
 * the same however many records and imports there are.
 */
import { and, desc, eq, gt, lte, sql } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { insertInto, jsonOf, orUpdate, parameter, pick, query, select } from "../../db/query.ts";
import { figures } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";

/**
 * - `posted`: how many records of a source were posted on a day (`changes/counts.ts`). It may be 0.
 * - `agency`: how many records of a source say the same about their agency (`published-agencies.ts`). It may be 0.
 * - `changed`, `imported`: when imports last changed a source on a day, or finished on it. Without backfills. Days are names: YYYY-MM-DD.
 * - `instant`: instants of a source, or of the catalog.
 * - `total`: sums over the finished imports of a format.
 */
type Figure = typeof figures.$inferSelect;

type DayKind = "posted" | "changed" | "imported";
/** Of a source: when an import of it last finished or last changed it, and up to when it is known. Of the catalog: `judged_until`. */
type InstantName = "finished_at" | "changed_at" | "known_until" | "judged_until";

const key = [figures.kind, figures.subject, figures.name];
const set = insertInto(figures, { onConflict: orUpdate(key, figures.number) });
const add = query({ sums: jsonOf<Figure>() }, ({ sums }, { jsonElements, jsonMember }) => {
  const member = (name: string) => jsonMember(sql.identifier("value"), name);
  return sql`insert into ${figures} (kind, subject, name, number)
    select ${member("kind")}, ${member("subject")}, ${member("name")}, cast(${member("number")} as bigint)
    from ${jsonElements(sums)} where true
    on conflict (kind, subject, name) do update set number = ${figures.number} + excluded.number`;
});
const ofSubject = query(pick(figures, "kind", "subject"), ({ kind, subject }) =>
  select(pick(figures, "name", "number"))
    .from(figures)
    .where(and(eq(figures.kind, kind), eq(figures.subject, subject))),
);
const newestDays = query(
  { ...pick(figures, "kind", "subject"), until: figures.name, limit: parameter<number>() },
  ({ kind, subject, until, limit }) =>
    select({ day: figures.name })
      .from(figures)
      .where(and(eq(figures.kind, kind), eq(figures.subject, subject), lte(figures.name, until), gt(figures.number, 0)))
      .orderBy(desc(figures.name))
      .limit(limit),
);

/** Adds to figures, in one statement. */
export async function addToFigures(sql: CatalogSql, sums: readonly Figure[]): Promise<void> {
  if (sums.length > 0) await sql.run(add, { sums });
}

/** Notes that something happened to a source on a day, at an instant of it. */
export async function noteDay(sql: CatalogSql, kind: "changed" | "imported", source: string, day: string, instant: EpochMs): Promise<void> {
  await sql.run(set, { kind, subject: source, name: day, number: instant });
}

/** Up to `limit` days, not later than `until`, the newest first: YYYY-MM-DD. */
export async function listDays(sql: CatalogSql, kind: DayKind, source: string, until: string, limit: number): Promise<string[]> {
  return (await sql.all(newestDays, { kind, subject: source, until, limit })).map(({ day }) => day);
}

export async function noteInstant(sql: CatalogSql, subject: string, name: InstantName, instant: EpochMs): Promise<void> {
  await sql.run(set, { kind: "instant", subject, name, number: instant });
}

/** The instants of a source, or of the catalog (""), as far as they are known. */
export async function readInstants(sql: CatalogSql, subject: string): Promise<Partial<Record<InstantName, EpochMs>>> {
  const rows = await sql.all(ofSubject, { kind: "instant", subject });
  return Object.fromEntries(rows.map(({ name, number }) => [name, number]));
}
