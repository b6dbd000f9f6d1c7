/**
 * The newest of several versions of one record: by posting; on one day, or without a day, by the later import or file. Ids, unrelated to
 * time, only decide within one file.
 */
import { easternDate, easternInstant } from "../../text/eastern.ts";
import { type EpochMs, parseInstantMs } from "../../text/instant.ts";
import type { VersionRow } from "./version-table.ts";

type Dated = Pick<VersionRow, "id" | "posted_at" | "since" | "file">;

const DAY_MAX = 25 * 3_600_000;

export function isNewer(one: Dated, other: Dated): boolean {
  const [at, otherAt] = [one.posted_at, other.posted_at];
  if (at !== null && otherAt !== null) {
    const isOneDay = Math.abs(at - otherAt) < DAY_MAX && easternDayOf(at) === easternDayOf(otherAt);
    const isDecided = !isOneDay || (hasTime(at) && hasTime(otherAt));
    if (isDecided) return at === otherAt ? one.id > other.id : at > otherAt;
  }
  const [since, otherSince] = [one.since ?? Number.POSITIVE_INFINITY, other.since ?? Number.POSITIVE_INFINITY];
  if (since !== otherSince) return since > otherSince;
  return one.file === other.file ? one.id > other.id : one.file > other.file;
}

/** The number (`n`) of the newest version of each record, whose rows must follow each other. */
export function newestOf(rows: Iterable<VersionRow>): number[] {
  const found: VersionRow[] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last === undefined || last.source !== row.source || last.lineage !== row.lineage) found.push(row);
    else if (isNewer(row, last)) found[found.length - 1] = row;
  }
  return found.map(({ n }) => n);
}

/** The Eastern date; "" if the instant is unknown. */
export function easternDayOf(at: EpochMs | null): string {
  return at === null ? "" : easternDate(at);
}

function hasTime(at: EpochMs): boolean {
  return parseInstantMs(easternInstant(easternDate(at), "00:00:00")) !== at;
}
