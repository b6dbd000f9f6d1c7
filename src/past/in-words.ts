/** What is not known of the past, in words. */
import type { CatalogSql } from "../../db/engine.ts";
import { counted } from "../text/counted.ts";
import { timeInWords } from "../text/date-in-words.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { readFirstKnown, readKnownSince } from "./as-of.ts";

/** Why a record that is stored now is not shown as of an earlier instant. */
export async function notKnownInWords(sql: Pick<CatalogSql, "all">, id: string): Promise<string> {
  const known = await readKnownSince(sql, id);
  if (known === undefined) return "it is not stored";
  const since = timeInWords(formatInstant(known.since));
  return known.isRestored
    ? `it was restored from an export on ${since}, and an export has no earlier versions`
    : `it was first stored on ${since}, and what it said before is not known`;
}

/** "nothing was stored then: …" if the instant is before the first record; `undefined` if it is later, or if the catalog is empty. */
export async function nothingKnownInWords(sql: Pick<CatalogSql, "get">, asOf: EpochMs): Promise<string | undefined> {
  const first = await readFirstKnown(sql);
  if (first === undefined || first <= asOf) return undefined;
  return `nothing was stored then: the first record came on ${timeInWords(formatInstant(first))}, and what was before is not known`;
}

/** "its contacts were erased on Mar 2, 2026, 12:00 PM UTC, and are not known" */
export function erasedInWords(erased: EpochMs): string {
  return `its contacts were erased on ${timeInWords(formatInstant(erased))}, and are not known`;
}

/** "The contacts of 3 records were erased since then and are not known" */
export function contactsErasedInWords(records: number): string {
  return `The contacts of ${counted(records, "record")} were erased since then and are not known`;
}
