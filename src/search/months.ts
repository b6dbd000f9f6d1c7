/**
 * How many opportunities each department posted, had open and closed in each month, computed from the dates and the history. Stored counts
 * would have to follow links, agencies and backfills that change later.
 */
import type { Database } from "bun:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { and, asc, eq, inArray, min } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { pick, query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { openStatuses } from "../opportunities/status.ts";
import { clockTime } from "../text/date-in-words.ts";
import { DAY_MS, type EpochMs, formatInstant, HOUR_MS } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { EASTERN } from "../text/zone-name.ts";
import { keptUntilChanged } from "./kept-counts.ts";
import type { SearchFile } from "./search-file.ts";

/**
 * Counts of a month in US Eastern time. `posted`: posted in it. `open`: open at its end, or now. `closed`: closed in it. The last two are null
 * before the first import, because nothing was observed then.
 */
export type MonthCounts = { posted: number; open: number | null; closed: number | null };

export type Months = {
  /** "2026-03", the current month last. */
  names: readonly string[];
  /** One entry for each month. An opportunity counts once, however many sources have it. */
  all: readonly MonthCounts[];
  /** By the code of the department; "" for those whose agency is not in the table. */
  departments: ReadonlyMap<string, readonly MonthCounts[]>;
};

const MONTHS = 24;

const statusEvents = query({}, () =>
  select(pick(events, "opportunity_seq", "detected_at", "document"))
    .from(events)
    .where(and(eq(events.origin, "detected"), inArray(events.type, ["status_changed", "opportunity_removed"])))
    .orderBy(asc(events.detected_at), asc(events.seq)),
);
const firstSeen = query({}, () =>
  select(pick(opportunities, "seq", "id", "created_at"))
    .from(opportunities)
    .orderBy(asc(opportunities.seq)),
);
const firstOfAll = query({}, () => select({ created_at: min(opportunities.created_at) }).from(opportunities));

const kept = keptUntilChanged<Promise<Months>>();

/** The counts of the last 24 months. They are made again only after the index has changed, or in another month. */
export function countMonths(catalog: CatalogDb, { sqlite }: SearchFile, now: EpochMs): Promise<Months> {
  const names = monthsUntil(now);
  return kept(sqlite, () => countAll(catalog, sqlite, names, now), names);
}

type MonthRow = { id: string; opportunity: string; status: string; posted_at: EpochMs | null; department: string };

/** A record becomes open (1), or is open no longer (-1). */
type Turn = { at: EpochMs; by: 1 | -1 };

async function countAll(catalog: CatalogDb, sqlite: Database, names: readonly string[], now: EpochMs): Promise<Months> {
  const rows = sqlite
    .query<MonthRow, []>(
      `select id, coalesce(duplicate_of, id) as opportunity, status, posted_at,
        case when instr(agency_code, '.') > 0 then substr(agency_code, 1, instr(agency_code, '.') - 1) else coalesce(agency_code, '') end
          as department
      from records`,
    )
    .all();
  const turns = await readTurns(catalog, new Map(rows.map(({ id, status }) => [id, status])), now);
  const first = await catalog.get(firstOfAll);
  const starts = [...names, ""].map((_, n) => startOfMonth(monthAfter(names[0] ?? "", n)));
  const count = (some: readonly MonthRow[]) => countsOf(some, turns, starts, first?.created_at ?? undefined);
  const departments = Map.groupBy(rows, ({ department }) => department);
  const counted = new Map<string, MonthCounts[]>();
  for (const [code, some] of departments) {
    await nextTurn(); // Lets other work on this thread continue.
    counted.set(code, count(some));
  }
  return { names, all: count(rows), departments: counted };
}

/** The status changes of each record, the oldest first. `present` has its current status. */
async function readTurns(catalog: CatalogDb, present: ReadonlyMap<string, string>, now: EpochMs): Promise<Map<string, Turn[]>> {
  const records = new Map<number, { id: string; statuses: { at: EpochMs; status: string }[] }>();
  await catalog.readTransaction(async (sql) => {
    await sql.each(firstSeen, {}, (batch) => {
      for (const { seq, id, created_at: at } of batch) records.set(seq, { id, statuses: [{ at, status: present.get(id) ?? "" }] });
    });
    await sql.each(statusEvents, {}, (batch) => {
      for (const { opportunity_seq, detected_at: at, document } of batch) {
        const { changes } = parseStored<OpportunityEvent>(document);
        const change = changes.find(({ field }) => field === "status");
        const statuses = records.get(opportunity_seq)?.statuses;
        if (change === undefined || statuses === undefined) continue;
        const [first] = statuses;
        if (statuses.length === 1 && first !== undefined) first.status = `${change.previous}`; // Its status until then.
        statuses.push({ at, status: `${change.current}` });
      }
    });
  });
  for (const { id, statuses } of records.values()) {
    const status = present.get(id) ?? "";
    if (statuses.at(-1)?.status !== status) statuses.push({ at: now, status }); // The status changed because time passed; there is no event for it yet.
  }
  return new Map([...records.values()].map(({ id, statuses }) => [id, turnsOf(statuses)]));
}

function turnsOf(statuses: readonly { at: EpochMs; status: string }[]): Turn[] {
  let wasOpen = false;
  return statuses.flatMap(({ at, status }) => {
    const isOpen = openStatuses.includes(status);
    if (isOpen === wasOpen) return [];
    wasOpen = isOpen;
    return [{ at, by: isOpen ? 1 : -1 } as const];
  });
}

/** `starts` are the starts of the months and of the month after the last. What was open before `firstAt` is unknown. */
function countsOf(
  rows: readonly MonthRow[],
  turns: ReadonlyMap<string, readonly Turn[]>,
  starts: readonly EpochMs[],
  firstAt: EpochMs | undefined,
): MonthCounts[] {
  const counts = starts.slice(1).map((end) => {
    const isKnown = firstAt !== undefined && firstAt < end;
    return { posted: 0, open: isKnown ? 0 : null, closed: isKnown ? 0 : null };
  });
  const monthOf = (at: EpochMs) => starts.findLastIndex((start) => start <= at);
  for (const records of Map.groupBy(rows, ({ opportunity }) => opportunity).values()) {
    const posted = Math.min(...records.map(({ posted_at }) => posted_at ?? Number.POSITIVE_INFINITY));
    const inMonth = counts[monthOf(posted)];
    if (inMonth !== undefined) inMonth.posted++;
    const all = records.flatMap(({ id }) => turns.get(id) ?? []).sort((left, right) => left.at - right.at || right.by - left.by);
    let [openRecords, next] = [0, 0];
    for (const [n, month] of counts.entries()) {
      const end = starts[n + 1] ?? 0;
      let hasClosed = false;
      for (let turn = all[next]; turn !== undefined && turn.at < end; turn = all[++next]) {
        openRecords += turn.by;
        hasClosed ||= openRecords === 0 && turn.at >= (starts[n] ?? 0);
      }
      if (month.open !== null && openRecords > 0) month.open++;
      if (month.closed !== null && hasClosed) month.closed++;
    }
  }
  return counts;
}

// ---- Months in US Eastern time, the time zone of federal deadlines.

function monthsUntil(now: EpochMs): string[] {
  const utc = formatInstant(now).slice(0, 7);
  const last = startOfMonth(utc) > now ? monthAfter(utc, -1) : utc;
  return Array.from({ length: MONTHS }, (_, n) => monthAfter(last, n - MONTHS + 1));
}

/** The month `months` after another one. */
function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return formatInstant(Date.UTC(year, number - 1 + months)).slice(0, 7);
}

function startOfMonth(month: string): EpochMs {
  const midnight = Date.parse(`${month}-01T00:00:00Z`);
  const inSummer = midnight + 4 * HOUR_MS;
  return clockTime(formatInstant(inSummer), EASTERN)?.dayNumber === midnight / DAY_MS ? inSummer : inSummer + HOUR_MS;
}
