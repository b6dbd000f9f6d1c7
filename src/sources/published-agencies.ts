/** What records say about their agency, and how many of a source the same: the counts `agency`. (E-59) */
import type { CatalogSql } from "../../db/engine.ts";
import { resolveAgency } from "../agencies/resolve.ts";
import { listCounts } from "./counts.ts";

type PublishedAgency = { agency: string | null; sub_agency: string | null; codes: readonly string[] };

/** The rest does not count: an index of PostgreSQL takes names of less than 2,700 bytes. */
const [NAME_MAX, CODE_MAX, CODES_MAX] = [200, 20, 8];

export function countNameOf({ agency, sub_agency, codes }: PublishedAgency): string {
  const names = [agency, sub_agency].map((name) => name?.slice(0, NAME_MAX) ?? null);
  return JSON.stringify([...names, ...codes.slice(0, CODES_MAX).map((code) => code.slice(0, CODE_MAX))]);
}

/** Each distinct agency by source, and how many records have it. */
export async function listPublishedAgencies(sql: CatalogSql): Promise<(PublishedAgency & { source: string; records: number })[]> {
  const counts = (await listCounts(sql, "agency")).filter(({ number }) => number > 0);
  return counts.map(({ subject: source, name, number: records }) => {
    const [agency, sub_agency, ...codes] = JSON.parse(name) as [string | null, string | null, ...string[]];
    return { source, records, agency, sub_agency, codes };
  });
}

/** By source: records of an agency that is not in the table. */
export async function countUnresolved(sql: CatalogSql): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { source, records, ...published } of await listPublishedAgencies(sql)) {
    if (resolveAgency({ ...published, issuing_office: null }) === null) counts.set(source, (counts.get(source) ?? 0) + records);
  }
  return counts;
}
