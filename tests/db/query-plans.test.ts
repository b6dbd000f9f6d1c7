/** No request, no turn of the clock and no imported record reads a table from end to end. */
import { afterAll, expect, test } from "bun:test";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import type { Query } from "../../db/query.ts";
import { type DatabaseFile, openCatalog } from "../../db/sqlite/open.ts";
import { explain } from "../../src/changes/explain.ts";
import { turnStatuses, turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { newestInstant } from "../../src/changes/stored.ts";
import { positionAt, readFeed, readWindow, windowOrders } from "../../src/events/feed.ts";
import { listOpportunityEvents } from "../../src/events/list.ts";
import { listImports } from "../../src/import/import-log.ts";
import { createMetrics, metricsText } from "../../src/monitoring/metrics.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { listOpportunities } from "../../src/opportunities/list.ts";
import { createReadModel, getOpportunity } from "../../src/opportunities/read-model.ts";
import { readFreshness } from "../../src/sources/freshness.ts";
import { readNews } from "../../src/sources/news.ts";
import { newestPostedDates, requireSources } from "../../src/sources/source.ts";
import { defaultLocation, onPostgres } from "../support/database-locations.ts";
import { aCatalog, DAY, dropScratch, NOON } from "../support/imports.ts";
import { rawSql, textOf } from "../support/sql.ts";

afterAll(dropScratch);

/** Every statement that is asked while `work` runs, in transactions and snapshots too. */
async function statementsOf(db: CatalogDb, work: () => Promise<unknown>): Promise<Set<string>> {
  const statements = new Set<string>();
  const noting = ({ get, all, run, each }: CatalogSql) => {
    const noted = <F>(method: F): F =>
      ((query: Query<never, unknown>, ...given: unknown[]) => {
        statements.add(textOf(db, query));
        return (method as (...all: unknown[]) => unknown)(query, ...given);
      }) as F;
    return { get: noted(get), all: noted(all), run: noted(run), each: noted(each) };
  };
  const { transaction, readTransaction } = db;
  const plain = { get: db.get, all: db.all, run: db.run, each: db.each, transaction, readTransaction };
  Object.assign(db, noting(db), {
    transaction: <T>(write: (sql: CatalogSql) => Promise<T>) => transaction((sql) => write({ ...sql, ...noting(sql) })),
    readTransaction: <T>(read: (sql: CatalogSql) => Promise<T>) => readTransaction((sql) => read({ ...sql, ...noting(sql) })),
  });
  try {
    await work();
  } finally {
    Object.assign(db, plain);
  }
  return statements;
}

const GROWS = /^SCAN (opportunities|events|facets|upstream_ids|link_keys|held)/;
const SORTS = /USE TEMP B-TREE/;

/** The plans that read from end to end, or sort, something that grows. The few records of one upstream id may be sorted. */
function scansOf({ sqlite }: DatabaseFile<"catalog">, statements: ReadonlySet<string>, grows = GROWS): string[] {
  return [...statements]
    .filter((statement) => /^\s*(select|update|insert|delete)/i.test(statement))
    .flatMap((statement) =>
      (sqlite.query(`explain query plan ${statement}`).all() as { detail: string }[])
        .filter(({ detail }) => grows.test(detail) || (SORTS.test(detail) && !statement.includes(`"upstream_id" = ?`)))
        .map(({ detail }) => `${detail}: ${statement.replace(/\s+/g, " ")}`),
    );
}

const record = (n: number, fields: object = {}) => ({
  source: { code: n % 2 ? "A" : "B", opportunity_id: `N${n}` },
  title: `T${n}`,
  dates: { closes_at: new Date(NOON + (n + 20) * DAY).toISOString() },
  ...fields,
});

test("lists, details and histories use indexes", async () => {
  const db = openCatalog(":memory:", NOON);
  const { take } = await aCatalog(db);
  await take(Array.from({ length: 30 }, (_, n) => record(n)));
  const statements = await statementsOf(db, async () => {
    const model = await createReadModel(db);
    const since = { ms: NOON - 1, beyond: "" };
    const all = { status: ["open"], source: ["A", "OTHER"], agency: "n", program_type: ["GRANT"], updated_since: since };
    const { next } = await listOpportunities(model, {}, 5, null);
    for (const filter of [{}, all, { source: ["A"], source_opportunity_id: "N1" }]) {
      await listOpportunities(model, filter, 5, null);
      await listOpportunities(model, filter, 5, next);
    }
    await take([record(99)]);
    await listOpportunities(model, {}, 5, null);
    await getOpportunity(model, opportunityId("A", "N1"));
    await listOpportunityEvents(model, opportunityId("A", "N1"), { type: ["date_changed"], since, include_insignificant: false }, 5, {
      time: NOON,
      id: "x",
    });
  });
  expect(statements.size).toBeGreaterThan(15);
  expect(scansOf(db, statements)).toEqual([]);
});

const windows = [{ since: NOON - 1, until: NOON + DAY }, { since: NOON - 1 }, { until: NOON + DAY }];

/** Every statement of the feed and its windows. */
const readChanges = async (db: CatalogDb) => {
  const { position } = await readFeed(db, null, { filter: {}, since: NOON - 1 }, NOON, 5);
  await readFeed(db, position, { filter: {} }, NOON, 5);
  await positionAt(db, NOON - 1);
  for (const window of windows)
    for (const order of windowOrders) await readWindow(db, { detected_at: NOON, seq: 3 }, { filter: {}, ...window }, NOON, 5, order);
};

test("the feed of changes reads its window by an index", async () => {
  const db = openCatalog(":memory:", NOON);
  const { take } = await aCatalog(db);
  await take(Array.from({ length: 30 }, (_, n) => record(n)));
  const statements = await statementsOf(db, () => readChanges(db));
  expect(statements.size).toBeGreaterThan(6);
  expect(scansOf(db, statements)).toEqual([]);
  const plans = [...statements].flatMap((statement) =>
    (db.sqlite.query(`explain query plan ${statement}`).all() as { detail: string }[]).map(({ detail }) => detail),
  );
  expect(plans.filter((plan) => plan.includes("INDEX events_feed (detected_at>? AND detected_at<?)"))).toHaveLength(2);
});

test.if(onPostgres)("the feed of changes reads its window by an index on PostgreSQL", async () => {
  const db = await (await defaultLocation()).catalog(NOON);
  const { take } = await aCatalog(db);
  // All at one instant, as after a restore.
  await take(Array.from({ length: 800 }, (_, n) => record(n)));
  await db.run(rawSql("analyze fundfeed_catalog.events"));
  const statements = [...(await statementsOf(db, () => readChanges(db)))].filter((statement) => /detected_at.* (>|<) \(/.test(statement));
  expect(statements).toHaveLength(2);
  for (const statement of statements) {
    const isNewest = statement.includes("desc");
    const values = isNewest ? [NOON, 500, NOON - 1, 10] : [NOON, 100, NOON, 10];
    const plan = (await db.all(rawSql<object>(`explain ${statement}`, ...values))).map((row) => Object.values(row)[0]).join("\n");
    expect(plan).toMatch(/Index (Only )?Scan (Backward )?using events_feed/);
    expect(plan).not.toMatch(/Sort|Seq Scan/);
  }
});

test("status turns find due records, and imports find each record, by an index", async () => {
  const db = openCatalog(":memory:", NOON);
  const { take, takeEvents } = await aCatalog(db);
  await take(Array.from({ length: 30 }, (_, n) => record(n)));
  const statements = await statementsOf(db, async () => {
    await turnStatuses(db, NOON + 10 * DAY);
    await turnStatusesWhenDue(db, NOON + 12 * DAY, await newestInstant(db));
    await take([record(1, { title: "New", earlier_ids: ["M1"] }), record(99), { ...record(3), title: null }]);
    await takeEvents([{ source: { code: "A", opportunity_id: "N1" }, type: "x", severity: "x", detected_at: "2026-01-01T00:00:00Z" }]);
    // Records that name each other, and do not any more.
    const notice = "1".repeat(32);
    const named = (code: string, id: string, number: string, url: string | null = null) => ({
      source: { code, opportunity_id: id, url },
      title: "T",
      program: { solicitation_id: number },
    });
    await take([named("SIMPLER_GRANTS_GOV", "S1", "PAR-25-001"), named("DARPA", "D1", "HR001", `https://sam.gov/opp/${notice}/view`)]);
    expect(await take([named("GRANTS_GOV", "1", "PAR-25-001"), named("SAM_GOV", notice, "HR001")])).toMatchObject({ linked: 2 });
    expect(await take([named("GRANTS_GOV", "1", "PAR-25-002")])).toMatchObject({ linked: 1 });
  });
  expect(statements.size).toBeGreaterThan(25);
  expect(scansOf(db, statements)).toEqual([]);
});

test("status, metrics, explanations and the import log read neither records, events nor imports from end to end", async () => {
  const db = openCatalog(":memory:", NOON);
  const { take } = await aCatalog(db);
  await take(Array.from({ length: 30 }, (_, n) => record(n)));
  const [added] = await db.all(rawSql<{ id: string }>("select id from events"));
  const machine = { now: () => NOON, usage: () => ({ residentBytes: 0, cpuSeconds: 0 }) };
  const statements = await statementsOf(db, async () => {
    await readFreshness(db, NOON);
    await newestPostedDates(db, "2026-01-01");
    await readNews(db, "A", "2026-01-01");
    await requireSources(db, ["A"], "find");
    await metricsText(createMetrics(NOON), { catalog: db, machine });
    await listImports(db, 5);
    await explain(db, added?.id ?? "");
  });
  expect(statements.size).toBeGreaterThan(9);
  const grows = /^SCAN (opportunities|events|upstream_ids|counts|instants|imports)(?! USING (COVERING )?INDEX imports_unfinished)/;
  const scans = scansOf(db, statements, grows).filter((scan) => grows.test(scan) && !scan.endsWith(" limit ?"));
  expect(scans).toEqual([]);
});
