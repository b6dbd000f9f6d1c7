/** Statuses that change because a date has passed (D-37). An index finds due records, so a run without any is cheap. */
import { and, asc, eq, gt, lte, min } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { insertInto, orIgnore, pick, query, select, selectBy } from "../../db/query.ts";
import { opportunities, settings } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { refuseDuringBackfill } from "./backfill.ts";
import { atInstantAfter, atNextInstant, makeJudgedAheadDue, updateRecord, type Writing } from "./commit.ts";
import { readContent } from "./content.ts";
import { decideStatusTurn } from "./decide.ts";
import { noteMovedKeys, saveLinkKeys } from "./link.ts";
import { instantAfter, listTurning } from "./stored.ts";

/** Records in one transaction, of some ten milliseconds, during which a server serves no request. */
const CHUNK = 100;

const firstTurn = query({ until: opportunities.turns_at }, ({ until }) =>
  select({ turns_at: min(opportunities.turns_at) })
    .from(opportunities)
    .where(lte(opportunities.turns_at, until)),
);

export type StatusTurns = { changed: number; events: number };

/**
 * Turns every status that is due at `now`, and back what turned ahead of time. `total` counts what is committed. `between` runs between two
 * transactions. Throws `BackfillUnfinished` if the newest import is an unfinished backfill.
 */
export async function turnStatuses(db: CatalogDb, now: EpochMs, total: StatusTurns = noTurns(), between: Between = yieldOnce) {
  await makeJudgedAheadDue(db, now);
  await turn(db, now, between, async () => {
    const chunk = await atNextInstant(db, now, async (writing) => {
      await refuseDuringBackfill(writing.sql);
      return turnChunk(writing, now);
    });
    total.changed += chunk.changed;
    total.events += chunk.events;
  });
  return total;
}

/**
 * Turns every status that is due until `until`, each when it was due. Returns the newest instant; throws `LaterChange` if another writer
 * stored one after `newest`.
 */
export async function turnStatusesWhenDue(
  db: CatalogDb,
  until: EpochMs,
  newest: EpochMs | undefined,
  between: Between = yieldOnce,
): Promise<EpochMs | undefined> {
  let last = newest;
  await turn(db, until, between, async (turnsAt) => {
    const instant = instantAfter(last, turnsAt);
    last = await atInstantAfter(db, last, instant, async (writing) => void (await turnChunk(writing, instant)));
  });
  return last;
}

export function noTurns(): StatusTurns {
  return { changed: 0, events: 0 };
}

type Between = () => Promise<void>;

/** Lets the server handle requests. */
const yieldOnce: Between = () => Bun.sleep(0);

/** Runs `turnSome` until no turn is due. Then fills link keys: last, because that takes long. */
async function turn(db: CatalogDb, until: EpochMs, between: Between, turnSome: (turnsAt: EpochMs) => Promise<void>): Promise<void> {
  for (;;) {
    const first = await db.get(firstTurn, { until });
    if (first === undefined || first.turns_at === null) return fillLinkKeys(db, between);
    await turnSome(first.turns_at);
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

/* Link keys of award notices, which an older version did not store. They are digests, so no migration can make them. */

const DONE = "award_keys";
const SOURCE = "SAM_GOV";
const settingByName = selectBy(settings, "name");
const insertSetting = insertInto(settings, { onConflict: orIgnore });
const recordsAfter = query({ source: opportunities.source, after: opportunities.lineage }, ({ source, after }) =>
  select(pick(opportunities, "id", "lineage", "document", "sidecar"))
    .from(opportunities)
    .where(and(eq(opportunities.source, source), gt(opportunities.lineage, after)))
    .orderBy(asc(opportunities.lineage))
    .limit(CHUNK),
);

/** Fills the keys of all stored records, once. `between` runs between two transactions. */
async function fillLinkKeys(db: CatalogDb, between: Between): Promise<void> {
  if ((await db.get(settingByName, { name: DONE })) !== undefined) return;
  for (let after: string | undefined = ""; after !== undefined; await between()) after = await fillSome(db, after);
}

async function fillSome(db: CatalogDb, after: string): Promise<string | undefined> {
  return db.transaction(async (sql) => {
    const rows = await sql.all(recordsAfter, { source: SOURCE, after });
    for (const { id, document, sidecar } of rows)
      await noteMovedKeys(sql, await saveLinkKeys(sql, id, readContent(document, sidecar), false));
    if (rows.length === 0) await sql.run(insertSetting, { name: DONE, value: new Uint8Array() });
    return rows.at(-1)?.lineage;
  });
}
