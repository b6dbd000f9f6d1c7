/** D-37: status follows the clock. Only due records are touched: an index range on the next turn, not a scan. */
import { lte, min } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import { atNextInstant, updateRecord } from "./commit.ts";
import { decideStatusTurn } from "./decide.ts";
import { listDue } from "./stored.ts";

/** Records in one transaction: some ten milliseconds, for which a server that does it itself answers nobody. */
const CHUNK = 100;

const firstDueAt = query({ until: opportunities.due_at }, ({ until }) =>
  select({ due_at: min(opportunities.due_at) })
    .from(opportunities)
    .where(lte(opportunities.due_at, until)),
);

export type Refreshed = { changed: number; events: number };

/** Moves every status whose instant has passed at `now` (ms), each change at the instant of its storing. */
export async function refresh(db: CatalogDb, now: number): Promise<Refreshed> {
  return turn(db, now, () => now);
}

/** The same for a backfill: each change at the very instant of its turn, up to `until` (ms), as a running server would have seen it. */
export async function replayClock(db: CatalogDb, until: number): Promise<Refreshed> {
  return turn(db, until, (firstDue) => firstDue);
}

async function turn(db: CatalogDb, until: number, instantOf: (firstDue: number) => number): Promise<Refreshed> {
  const total = { changed: 0, events: 0 };
  for (;;) {
    const first = await db.get(firstDueAt, { until });
    if (first === undefined || first.due_at === null) return total;
    const wanted = instantOf(first.due_at);
    const chunk = await atNextInstant(db, wanted, (sql, instant) => turnChunk(sql, wanted, instant));
    total.changed += chunk.changed;
    total.events += chunk.events;
    await Bun.sleep(0); // Requests come in between.
  }
}

async function turnChunk(sql: CatalogSql, dueUntil: number, instant: number): Promise<Refreshed> {
  const total = { changed: 0, events: 0 };
  for (const stored of await listDue(sql, dueUntil, CHUNK)) {
    const decision = decideStatusTurn(stored, instant);
    await updateRecord(sql, stored, decision, [], instant, null);
    if (decision.outcome === "changed") total.changed++;
    total.events += decision.events.length;
  }
  return total;
}
