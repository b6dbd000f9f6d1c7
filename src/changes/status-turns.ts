/** Status turns: statuses that change because a date has passed (D-37). Finds due records by an index, so a run without any is cheap. */
import { lte, min } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { atNextInstant, makeJudgedAheadDue, updateRecord, type Writing } from "./commit.ts";
import { decideStatusTurn } from "./decide.ts";
import { instantAfter, listTurning, newestInstant } from "./stored.ts";

/** Records in one transaction. It takes some ten milliseconds, during which a server that turns statuses serves no request. */
const CHUNK = 100;

const firstTurn = query({ until: opportunities.turns_at }, ({ until }) =>
  select({ turns_at: min(opportunities.turns_at) })
    .from(opportunities)
    .where(lte(opportunities.turns_at, until)),
);

/** How many records changed their status, and how many events that made. */
export type StatusTurns = { changed: number; events: number };

/**
 * Turns every status that is due at `now`, and turns back those that turned ahead of time. The changes get the instants at which they are
 * stored. `total` counts what is committed. `between` runs between two transactions.
 */
export async function turnStatuses(
  db: CatalogDb,
  now: EpochMs,
  total: StatusTurns = noTurns(),
  between: Between = yieldOnce,
): Promise<StatusTurns> {
  await makeJudgedAheadDue(db, now);
  return turn(db, now, () => now, total, between);
}

/** Turns every status that is due until `until`, each at the instant at which it was due, as a running server would have done. */
export async function turnStatusesWhenDue(db: CatalogDb, until: EpochMs, between: Between = yieldOnce): Promise<StatusTurns> {
  return turn(db, until, async (turnsAt) => instantAfter(await newestInstant(db), turnsAt), noTurns(), between);
}

export function noTurns(): StatusTurns {
  return { changed: 0, events: 0 };
}

type InstantFor = (turnsAt: EpochMs) => EpochMs | Promise<EpochMs>;
type Between = () => Promise<void>;

/** Lets the server handle requests. */
const yieldOnce: Between = () => Bun.sleep(0);

async function turn(db: CatalogDb, until: EpochMs, instantFor: InstantFor, total: StatusTurns, between: Between): Promise<StatusTurns> {
  for (;;) {
    const first = await db.get(firstTurn, { until });
    if (first === undefined || first.turns_at === null) return total;
    const wanted = await instantFor(first.turns_at);
    const chunk = await atNextInstant(db, wanted, (writing) => turnChunk(writing, wanted));
    total.changed += chunk.changed;
    total.events += chunk.events;
    await between();
  }
}

async function turnChunk(writing: Writing, dueUntil: EpochMs): Promise<StatusTurns> {
  const total = noTurns();
  for (const stored of await listTurning(writing.sql, dueUntil, CHUNK)) {
    const decision = decideStatusTurn(stored, writing);
    await updateRecord(writing, stored, decision, [], null);
    if (decision.outcome === "changed") total.changed++;
    total.events += decision.events.length;
  }
  return total;
}
