/**
 * The sync guarantee (D-31): a client that polls misses nothing and loses nothing, whatever happens to the writers and to the servers.
 *
 * Each round changes the upstreams at random and imports them in processes of their own, with clocks that are wrong by days, and SIGKILL
 * at random points; servers are stopped and killed at random too. On PostgreSQL there are three of them, two importers at a time, and
 * clients that ask another server each time. FUNDFEED_SYNC_ROUNDS makes it long, FUNDFEED_SEED repeats what is random, not what is timing.
 */
import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../db/engine.ts";
import { openPostgresCatalog } from "../db/postgres/open.ts";
import { openCatalog } from "../db/sqlite/open.ts";
import { CHUNK } from "../src/import/run.ts";
import { safeLines } from "../src/text/terminal-text.ts";
import { aDirectory, aFile, DAY, dropScratch } from "./support/imports.ts";
import { hasPostgres, postgresServer } from "./support/postgres.ts";
import { outputOf, run, type SourceServer, serve } from "./support/source-program.ts";
import { rawSql } from "./support/sql.ts";
import { type ClientRecord, createSyncClient, type SyncClient } from "./support/sync-client.ts";

const SEED = Number(process.env.FUNDFEED_SEED ?? Date.now() % 1_000_000);
type Setting = {
  rounds: number;
  /** Of all upstreams together. */
  records: number;
  servers: number;
  importers: number;
  clients: number;
  /** A new place, as options of the command line. */
  place: () => Promise<[option: string, where: string]>;
  open: (where: string) => Promise<CatalogDb>;
  /** SQL: the commit, or at least the command, that a row of `events` came with. */
  commit: string;
  /** A command is killed at some time up to this. */
  killedWithinMs: number;
};

const rounds = (usual: number) => Number(process.env.FUNDFEED_SYNC_ROUNDS ?? usual);

const settings: [string, boolean, Setting][] = [
  [
    "SQLite",
    true,
    {
      ...{ rounds: rounds(6), records: 2400, servers: 1, importers: 1, clients: 1, killedWithinMs: 480 },
      place: async () => ["--data", aDirectory()],
      open: async (where) => openCatalog(where, 0),
      commit: "coalesce(import_id, 0)",
    },
  ],
  [
    "PostgreSQL",
    hasPostgres,
    {
      ...{ rounds: rounds(3), records: 1000, servers: 3, importers: 2, clients: 2, killedWithinMs: 2500 },
      place: async () => ["--database", await (await postgresServer()).freshDatabase()],
      open: (where) => openPostgresCatalog(where, 0, { connections: 1 }),
      commit: "cast(xmin as text)", // The transaction that wrote the row: events are never written again.
    },
  ],
];

afterAll(dropScratch);

/** mulberry32: numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomNumbers(SEED);
const below = (count: number) => Math.floor(random() * count);
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const chance = (share: number) => random() < share;

type Upstream = Map<string, Record<string, unknown>>;

/** Around now, so that statuses turn when the clocks go wrong; written with any offset. */
function aDate(): string | null {
  if (chance(0.3)) return null;
  const ms = Date.now() + (random() - 0.5) * 60 * DAY;
  return chance(0.5) ? new Date(ms).toISOString() : `${new Date(ms - 5 * 3_600_000).toISOString().slice(0, -1)}-05:00`;
}

const fields: Record<string, () => unknown> = {
  title: () => oneOf(["Robots", "robots", "Ro-bots", "Drones", "<b>Robots</b>", "Été &amp; ☃", 'Quo"te\\ \u2028 😀']),
  summary: () => oneOf([null, "", "Short", "short."]),
  description: () => oneOf([null, "<p>Long</p>".repeat(1 + below(30))]),
  status: () => oneOf([null, null, null, "open", "closed", "cancelled", "Paused"]),
  organization: () => ({ agency: oneOf([null, "NASA", "Défense"]) }),
  funding: () => oneOf([null, { amount_max: `${below(9)}` }, { amount_max: `${below(9)}`, display: oneOf(["a", "b"]) }]),
  dates: () => ({ opens_at: aDate(), closes_at: aDate(), response_at: aDate() }),
  classifications: () => ({ keywords: oneOf([[], ["a", "b"], ["b", "a"], ["c"]]), set_aside_types: oneOf([[], ["SBA"]]) }),
  contacts: () => oneOf([[], [{ name: "Ann" }, { name: "Bob" }], [{ name: "Bob" }, { name: "Ann" }]]),
  attachments: () => oneOf([[], [{ name: "a", url: null }], [{ name: "b", url: null }]]),
  questions: () => oneOf([[], [{ question: "Why?", answer: null }]]),
  earlier_ids: () => oneOf([[], [], [`E${below(1000)}`]]),
};

function aRecord(n: number, importer: number): Record<string, unknown> {
  const made = Object.entries(fields).map(([name, make]) => [name, make()]);
  return {
    source: { code: `${n % 5 === 0 ? "B" : "A"}${importer}`, opportunity_id: `N${n}` },
    lineage: `L${n}`,
    ...Object.fromEntries(made),
  };
}

/** Random edits, additions and at most a few removals. */
function edit(upstream: Upstream, size: number, importer: number, round: number): void {
  const edited = chance(0.2) ? 0.9 : random() * 0.3;
  for (const [key, record] of upstream) {
    if (chance(0.01)) upstream.delete(key);
    else if (chance(edited)) {
      const name = oneOf(Object.keys(fields));
      upstream.set(key, { ...record, [name]: fields[name]?.() });
      if (chance(0.05)) upstream.set(key, { ...record, source: { ...(record.source as object), opportunity_id: `N${key}r${round}` } });
    }
  }
  while (upstream.size < size && chance(0.999)) {
    const n = below(size * 1.1); // A few of them were there before.
    if (!upstream.has(`${n}`)) upstream.set(`${n}`, aRecord(n, importer));
  }
}

/** Runs a command until it is done, killing it at random points before. */
async function runDespiteKills(args: readonly string[], clockShiftMs: number, withinMs: number): Promise<number> {
  for (let kills = 0; ; kills++) {
    const wanted = kills < 3 && chance(0.5);
    const { code, err, out } = await run(args, { clockShiftMs, ...(wanted ? { killAfterMs: 80 + below(withinMs - 80) } : {}) });
    if (code === null) continue;
    expect({ seed: SEED, args, code, err: code === 0 ? "" : err + out }).toEqual({ seed: SEED, args, code: 0, err: "" });
    return kills;
  }
}

/** Over the state that was seen first, every later event's changes must give the present state. */
async function expectHistoryToFold(client: SyncClient, id: string): Promise<number> {
  const events = await client.history(id);
  const first = JSON.parse(client.first.get(id) ?? "") as ClientRecord;
  const later = events.filter(({ detected_at }) => detected_at > first.updated_at);
  const state = structuredClone(first);
  for (const { changes, detected_at } of later) {
    for (const { field, current } of changes) setAt(state, field.split("."), current);
    state.updated_at = detected_at;
  }
  expect({ seed: SEED, state: JSON.stringify(state) }).toEqual({ seed: SEED, state: client.copy.get(id) ?? "" });
  expect(events[0]).toMatchObject({ type: "opportunity_added", detected_at: first.created_at });
  return later.length;
}

function setAt(holder: Record<string, unknown>, [name = "", ...rest]: string[], value: unknown): void {
  if (name === "attachments" || name === "questions") return; // Not served with the record.
  if (rest.length === 0) holder[name] = value;
  else setAt(holder[name] as Record<string, unknown>, rest, value);
}

/** Whoever polls after an export has what it holds, to the byte, or what came later. */
function expectNothingMissed(client: SyncClient, exported: readonly string[]): void {
  const missing = exported.filter((line) => {
    const { id, updated_at } = JSON.parse(line) as ClientRecord;
    const mirrored = safeLines(client.copy.get(id) ?? "{}"); // As a command prints it.
    return (
      !line.startsWith(`${mirrored.slice(0, -1)},"attachments":[`) && !((JSON.parse(mirrored) as ClientRecord).updated_at > updated_at)
    );
  });
  expect({ seed: SEED, missing: missing.slice(0, 3), records: client.copy.size }).toEqual({
    seed: SEED,
    missing: [],
    records: new Set(exported.map((line) => JSON.parse(line).id)).size,
  });
}

async function expectNoSharedInstant(db: CatalogDb, commit: string): Promise<void> {
  const shared = await db.all(
    rawSql(`select detected_at from events where origin = 'detected' group by detected_at having count(distinct ${commit}) > 1`),
  );
  expect({ seed: SEED, shared }).toEqual({ seed: SEED, shared: [] });
  await db.close();
}

const linesOf = (text: string) => text.trimEnd().split("\n");

describe.each(settings)("on %s", (_, isThere, setting) => {
  const { importers, killedWithinMs } = setting;

  test.if(isThere)(
    `${setting.clients} polling ${setting.servers} and ${importers} importing: all of export is seen, after ${setting.rounds} rounds of kills and wrong clocks (seed ${SEED})`,
    async () => {
      const place = await setting.place();
      const size = setting.records / importers;
      const upstreams = Array.from(
        { length: importers },
        (_, importer): Upstream => new Map(Array.from({ length: size }, (_, n) => [`${n}`, aRecord(n, importer)])),
      );
      await outputOf(["plans", "set", "unlimited", "--daily", "1000000000", "--per-minute", "1000000000", ...place]);
      const key = (await outputOf(["keys", "create", "--account", "Sync", "--plan", "unlimited", ...place])).trim();
      const servers: SourceServer[] = await Promise.all(Array.from({ length: setting.servers }, () => serve(place)));
      const clients = Array.from({ length: setting.clients }, () => createSyncClient(key, () => oneOf(servers).base));
      let [kills, restarts, folded, exported, turnedTo] = [0, 0, 0, [] as string[], 0];

      const bringIn = async (upstream: Upstream, importer: number, round: number) => {
        if (round > 0) edit(upstream, size, importer, round);
        const path = aFile([...upstream.values()], `upstream-${importer}-${round % 2}.ndjson`);
        const clockShiftMs = oneOf([0, -3_600_000, 3_600_000, (random() - 0.5) * 4 * DAY, random() * 20 * DAY]);
        const snapshot = round > 0 && chance(0.6) ? ["--snapshot", "--allow-removals"] : [];
        kills += await runDespiteKills(["import", "records", path, ...snapshot, "--json", ...place], clockShiftMs, killedWithinMs);
        if (chance(0.5)) kills += await runDespiteKills(["refresh", ...place], clockShiftMs + below(5 * DAY), killedWithinMs);
      };
      /** Turns of the clock while imports write: each later than the one before, so that something is due. */
      const keepTurning = async (goOn: () => boolean) => {
        for (; goOn(); turnedTo += DAY / 4) await outputOf(["refresh", ...place], { clockShiftMs: turnedTo });
      };
      const restartOne = async () => {
        await Bun.sleep(below(300));
        const one = below(servers.length);
        await servers[one]?.stop(oneOf(["SIGTERM", "SIGKILL"]));
        servers[one] = await serve(place, { clockShiftMs: (random() - 0.5) * 2 * DAY });
        restarts++;
      };
      for (let round = 0; round < setting.rounds; round++) {
        let writing = true;
        const polling = clients.map(async (client) => {
          for (; writing; await Bun.sleep(below(40))) await client.poll();
        });
        const work = Promise.all(upstreams.map((upstream, importer) => bringIn(upstream, importer, round)));
        const turning = importers > 1 ? keepTurning(() => writing) : undefined;
        if (chance(0.5)) await restartOne();
        await work.finally(() => {
          writing = false;
        });
        await Promise.all([...polling, turning]);
        exported = linesOf(await outputOf(["export", ...place]));
        await Promise.all(clients.map((client) => client.poll()));
        for (const client of clients) expectNothingMissed(client, exported);
      }

      const [client] = clients as [SyncClient, ...SyncClient[]];
      const ids = [...client.copy.keys()];
      for (let first = 0; first < ids.length; first += 16) {
        for (const count of await Promise.all(ids.slice(first, first + 16).map((id) => expectHistoryToFold(client, id)))) folded += count;
      }
      for (const server of servers) expect(await server.stop("SIGTERM")).toBe(0);
      await expectNoSharedInstant(await setting.open(place[1]), setting.commit);
      // By a clock that is ahead of every one that went wrong: check reports what lies in the future.
      expect(await outputOf(["check", ...place], { clockShiftMs: turnedTo + 100 * DAY })).toBe("No problems found\n");
      const requests = clients.reduce((sum, client) => sum + client.requests, 0);
      expect(clients.flatMap(({ errorStatuses }) => errorStatuses)).toEqual([]);
      process.stderr.write(
        `seed ${SEED}: ${setting.rounds} rounds, ${kills} kills, ${restarts} restarts, ${requests} requests, ${exported.length} records, ${folded} events\n`,
      );
    },
    300_000 + setting.rounds * 60_000,
  );

  test.if(isThere)(
    "a server moves statuses by its own clock, and a client that polls sees it",
    async () => {
      const place = await setting.place();
      const record = (id: string, days: number) => ({
        source: { code: "A", opportunity_id: id },
        title: id,
        dates: { closes_at: new Date(Date.now() + days * DAY).toISOString() },
      });
      await outputOf(["import", "records", aFile([record("N1", 1), record("N2", 40)]), ...place]);
      const key = (await outputOf(["keys", "create", "--account", "Sync", "--plan", "paid", ...place])).trim();
      const server = await serve(place, { clockShiftMs: 2 * DAY });
      const client = createSyncClient(key, () => server.base);
      const statuses = () =>
        [...client.copy.values()]
          .map((text) => JSON.parse(text))
          .map(({ title, status }) => `${title} ${status}`)
          .sort();
      const until = Date.now() + 60_000;
      for (await client.poll(); !statuses().includes("N1 closed") && Date.now() < until; await Bun.sleep(50)) await client.poll();
      expect(statuses()).toEqual(["N1 closed", "N2 open"]);
      expect(await server.stop("SIGTERM")).toBe(0);
    },
    300_000,
  );

  test.if(isThere)(
    "two imports at once follow each other, and both are whole",
    async () => {
      const place = await setting.place();
      const file = (code: string) =>
        aFile(Array.from({ length: CHUNK + 1 }, (_, n) => ({ source: { code, opportunity_id: `N${n}` }, title: `T${n}` })));
      await Promise.all(["A", "B"].map((code) => outputOf(["import", "records", file(code), ...place])));
      const exported = linesOf(await outputOf(["export", ...place]));
      const instants = new Map(exported.map((line) => [JSON.parse(line).updated_at, JSON.parse(line).source.code]));
      expect(exported).toHaveLength(2 * (CHUNK + 1));
      expect([...instants.values()].sort()).toEqual(["A", "A", "B", "B"]); // Two chunks each, each at an instant of its own.
      await expectNoSharedInstant(await setting.open(place[1]), setting.commit);
      expect(await outputOf(["check", ...place])).toBe("No problems found\n");
    },
    300_000,
  );
});
