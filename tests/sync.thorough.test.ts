/**
 * The sync guarantee (D-31): a polling client misses no change, whatever happens to importers and servers.
 *
 * Each round changes the upstreams at random and imports them in separate processes, with clocks that are wrong by days and SIGKILL at
 * random points. Servers are stopped and killed at random, too. On PostgreSQL there are three servers, two importers at a time, and
 * clients that use another server for each request. FUNDFEED_SYNC_ROUNDS sets the number of rounds. FUNDFEED_SEED repeats the random
 * choices, but not the timing.
 */
import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../db/engine.ts";
import { openPostgres } from "../db/postgres/open.ts";
import { openCatalog } from "../db/sqlite/open.ts";
import { run, type SourceServer, serve } from "./support/clocked-program.ts";
import { fundfeed } from "./support/command-line.ts";
import { aCatalog, aDirectory, aFile, DAY, dropScratch } from "./support/imports.ts";
import { hasPostgres, postgresServer } from "./support/postgres.ts";
import { randomNumbers } from "./support/random-numbers.ts";
import { rawSql } from "./support/sql.ts";
import { type ClientRecord, createSyncClient, type SyncClient } from "./support/sync-client.ts";
import { waitFor } from "./support/wait-for.ts";

const SEED = Number(process.env.FUNDFEED_SEED ?? Date.now() % 1_000_000);
type Setting = {
  rounds: number;
  /** Records of all upstreams together. */
  records: number;
  servers: number;
  importers: number;
  clients: number;
  /** Creates databases, and returns the option that names their location. */
  location: () => Promise<[option: string, value: string]>;
  /** Opens the catalog at the value of that option. */
  open: (value: string) => Promise<CatalogDb>;
  /** An SQL expression for the commit, or at least the command, that wrote a row of `events`. */
  commit: string;
  /** A command is killed within this time. */
  killedWithinMs: number;
};

const rounds = (byDefault: number) => Number(process.env.FUNDFEED_SYNC_ROUNDS ?? byDefault);

const settings: [string, boolean, Setting][] = [
  [
    "SQLite",
    true,
    {
      ...{ rounds: rounds(2), records: 200, servers: 1, importers: 1, clients: 1, killedWithinMs: 400 },
      location: async () => ["--data", aDirectory()],
      open: async (value) => openCatalog(value, 0),
      commit: "coalesce(import_id, 0)",
    },
  ],
  [
    "PostgreSQL",
    hasPostgres,
    {
      ...{ rounds: rounds(2), records: 120, servers: 3, importers: 2, clients: 2, killedWithinMs: 2000 },
      location: async () => ["--database", await (await postgresServer()).freshDatabase()],
      open: (value) => openPostgres("catalog", value, 0, { connections: 3 }),
      commit: "cast(xmin as text)", // The transaction that wrote the row. Events are never updated.
    },
  ],
];

afterAll(dropScratch);

const random = randomNumbers(SEED);
const below = (count: number) => Math.floor(random() * count);
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const chance = (share: number) => random() < share;

type Upstream = Map<string, Record<string, unknown>>;

/** A date within 30 days of now, so that wrong clocks turn statuses; with an offset or without. */
function randomDate(): string | null {
  if (chance(0.3)) return null;
  const ms = Date.now() + (random() - 0.5) * 60 * DAY;
  return chance(0.5) ? new Date(ms).toISOString() : `${new Date(ms - 5 * 3_600_000).toISOString().slice(0, -1)}-05:00`;
}

/** For each field, a function that returns a random value. */
const fields: Record<string, () => unknown> = {
  title: () => oneOf(["Robots", "robots", "Ro-bots", "Drones", "<b>Robots</b>", "Été &amp; ☃", 'Quo"te\\ \u2028 😀']),
  summary: () => oneOf([null, "", "Short", "short."]),
  description: () => oneOf([null, "<p>Long</p>".repeat(1 + below(30))]),
  status: () => oneOf([null, null, null, "open", "closed", "cancelled", "Paused"]),
  organization: () => ({ agency: oneOf([null, "NASA", "Défense"]) }),
  funding: () => oneOf([null, { amount_max: `${below(9)}` }, { amount_max: `${below(9)}`, display: oneOf(["a", "b"]) }]),
  dates: () => ({ opens_at: randomDate(), closes_at: randomDate(), response_at: randomDate() }),
  classifications: () => ({ keywords: oneOf([[], ["a", "b"], ["b", "a"], ["c"]]), set_aside_types: oneOf([[], ["SBA"]]) }),
  contacts: () => oneOf([[], [{ name: "Ann" }, { name: "Bob" }], [{ name: "Bob" }, { name: "Ann" }]]),
  attachments: () => oneOf([[], [{ name: "a", url: null }], [{ name: "b", url: null }]]),
  questions: () => oneOf([[], [{ question: "Why?", answer: null }]]),
  earlier_ids: () => oneOf([[], [], [`E${below(1000)}`]]),
};

function randomRecord(n: number, importer: number): Record<string, unknown> {
  const values = Object.entries(fields).map(([name, randomValue]) => [name, randomValue()]);
  return {
    source: { code: `${n % 5 === 0 ? "B" : "A"}${importer}`, opportunity_id: `N${n}` },
    lineage: `L${n}`,
    ...Object.fromEntries(values),
  };
}

/** Edits records at random, adds some, and removes at most a few. */
function editUpstream(upstream: Upstream, size: number, importer: number, round: number): void {
  const editedShare = chance(0.2) ? 0.9 : random() * 0.3;
  for (const [key, record] of upstream) {
    if (chance(0.01)) upstream.delete(key);
    else if (chance(editedShare)) {
      const name = oneOf(Object.keys(fields));
      upstream.set(key, { ...record, [name]: fields[name]?.() });
      if (chance(0.05)) upstream.set(key, { ...record, source: { ...(record.source as object), opportunity_id: `N${key}r${round}` } });
    }
  }
  while (upstream.size < size && chance(0.999)) {
    const n = below(size * 1.1); // A few of these ids existed before.
    if (!upstream.has(`${n}`)) upstream.set(`${n}`, randomRecord(n, importer));
  }
}

/** Runs a command until one run completes, and kills runs before that at random points. Returns how many it killed. */
async function runDespiteKills(args: readonly string[], clockShiftMs: number, withinMs: number): Promise<number> {
  for (let kills = 0; ; kills++) {
    const shouldKill = kills < 3 && chance(0.5);
    const { code, err, out } = await run(args, { clockShiftMs, ...(shouldKill ? { killAfterMs: 80 + below(withinMs - 80) } : {}) });
    if (code === null) continue;
    expect({ seed: SEED, args, code, err: code === 0 ? "" : err + out }).toEqual({ seed: SEED, args, code: 0, err: "" });
    return kills;
  }
}

/**
 * Checks that all later events, applied to the first version that the client got, give its newest copy. Returns how many events it applied.
 * A server may have turned a status since that copy, so later events are left out.
 */
async function expectHistoryToLeadToPresent(client: SyncClient, id: string): Promise<number> {
  const events = await client.history(id);
  const first = JSON.parse(client.first.get(id) ?? "") as ClientRecord;
  const copy = client.copy.get(id) ?? "";
  const { updated_at } = JSON.parse(copy) as ClientRecord;
  const later = events.filter(({ detected_at }) => detected_at > first.updated_at && detected_at <= updated_at);
  const state = structuredClone(first);
  for (const { changes, detected_at } of later) {
    for (const { field, current } of changes) setField(state, field.split("."), current);
    state.updated_at = detected_at;
  }
  expect({ seed: SEED, state: JSON.stringify(state) }).toEqual({ seed: SEED, state: copy });
  expect(events[0]).toMatchObject({ type: "opportunity_added", detected_at: first.created_at });
  return later.length;
}

function setField(object: Record<string, unknown>, [name = "", ...rest]: string[], value: unknown): void {
  if (name === "attachments" || name === "questions") return; // Events have these fields; the served record does not.
  if (rest.length === 0) object[name] = value;
  else setField(object[name] as Record<string, unknown>, rest, value);
}

/** An exported line with the record as it is stored and served: the clock of the export may be ahead of that of the server. */
function stored(line: string): string {
  const { as_stored, ...record } = JSON.parse(line);
  if (as_stored === undefined) return line;
  const { response_at, ...status } = as_stored;
  return JSON.stringify({ ...record, ...status, dates: { ...record.dates, response_at } });
}

/** Checks that a client which polled after an export has exactly its records, or newer versions of them. */
function expectNothingMissed(client: SyncClient, exported: readonly string[]): void {
  const missing = exported.filter((line) => {
    const { id, updated_at } = JSON.parse(line) as ClientRecord;
    const mirrored = client.copy.get(id) ?? "{}";
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

/** Runs a command within this process: one that is not to be killed. Returns what it printed. */
async function printed(args: readonly string[], clockShiftMs = 0): Promise<string> {
  const { code, out, err } = await fundfeed(args, {}, () => Date.now() + clockShiftMs);
  expect({ seed: SEED, args, code, err: code === 0 ? "" : err }).toEqual({ seed: SEED, args, code: 0, err: "" });
  return out;
}

describe.each(settings)("on %s", (_, isInstalled, setting) => {
  const { importers, killedWithinMs } = setting;

  test.if(isInstalled)(
    `polling clients have everything that export prints: ${setting.rounds} rounds of kills and wrong clocks, clients ${setting.clients}, servers ${setting.servers}, importers ${importers} (seed ${SEED})`,
    async () => {
      const location = await setting.location();
      const upstreamSize = setting.records / importers;
      const upstreams = Array.from(
        { length: importers },
        (_, importer): Upstream => new Map(Array.from({ length: upstreamSize }, (_, n) => [`${n}`, randomRecord(n, importer)])),
      );
      await printed(["plans", "set", "unlimited", "--daily", "1000000000", "--per-minute", "1000000000", ...location]);
      const key = (await printed(["keys", "create", "--account", "Sync", "--plan", "unlimited", ...location])).trim();
      const servers: SourceServer[] = await Promise.all(Array.from({ length: setting.servers }, () => serve(location)));
      const clients = Array.from({ length: setting.clients }, () => createSyncClient(key, () => oneOf(servers).base));
      let [kills, restarts, appliedEvents, exported, turnedToMs] = [0, 0, 0, [] as string[], 0];

      const importUpstream = async (upstream: Upstream, importer: number, round: number) => {
        if (round > 0) editUpstream(upstream, upstreamSize, importer, round);
        const path = aFile([...upstream.values()], `upstream-${importer}-${round % 2}.ndjson`);
        const clockShiftMs = oneOf([0, -3_600_000, 3_600_000, (random() - 0.5) * 4 * DAY, random() * 20 * DAY]);
        const snapshot = round > 0 && chance(0.6) ? ["--snapshot", "--allow-removals"] : [];
        kills += await runDespiteKills(["import", "records", path, ...snapshot, "--json", ...location], clockShiftMs, killedWithinMs);
        if (chance(0.5)) kills += await runDespiteKills(["refresh", ...location], clockShiftMs + below(5 * DAY), killedWithinMs);
      };
      /** Turns statuses while imports write. Each run has a later clock, so that some statuses are due. */
      const turnStatusesWhile = async (isWriting: () => boolean) => {
        for (; isWriting(); turnedToMs += DAY / 4, await Bun.sleep(100 + below(200))) await printed(["refresh", ...location], turnedToMs);
      };
      const restartOne = async () => {
        await Bun.sleep(below(300));
        const index = below(servers.length);
        await servers[index]?.stop(oneOf(["SIGTERM", "SIGKILL"]));
        servers[index] = await serve(location, { clockShiftMs: (random() - 0.5) * 2 * DAY });
        restarts++;
      };
      for (let round = 0; round < setting.rounds; round++) {
        let writing = true;
        const polling = clients.map(async (client) => {
          for (; writing; await Bun.sleep(below(40))) await client.poll();
        });
        const work = Promise.all(upstreams.map((upstream, importer) => importUpstream(upstream, importer, round)));
        const turning = importers > 1 ? turnStatusesWhile(() => writing) : undefined;
        if (chance(0.5)) await restartOne();
        await work.finally(() => {
          writing = false;
        });
        await Promise.all([...polling, turning]);
        exported = linesOf(await printed(["export", ...location])).map(stored);
        await Promise.all(clients.map((client) => client.poll()));
        for (const client of clients) expectNothingMissed(client, exported);
      }

      const [client] = clients as [SyncClient, ...SyncClient[]];
      const ids = [...client.copy.keys()];
      for (let first = 0; first < ids.length; first += 16) {
        for (const count of await Promise.all(ids.slice(first, first + 16).map((id) => expectHistoryToLeadToPresent(client, id))))
          appliedEvents += count;
      }
      for (const server of servers) expect(await server.stop("SIGTERM")).toBe(0);
      await expectNoSharedInstant(await setting.open(location[1]), setting.commit);
      // This clock is ahead of all others, because `check` reports instants in the future.
      expect(await printed(["check", ...location], turnedToMs + 100 * DAY)).toBe("No problems found\n");
      const requests = clients.reduce((sum, client) => sum + client.requests, 0);
      expect(clients.flatMap(({ errorStatuses }) => errorStatuses)).toEqual([]);
      process.stderr.write(
        `seed ${SEED}: ${setting.rounds} rounds, ${kills} kills, ${restarts} restarts, ${requests} requests, ${exported.length} records, ${appliedEvents} events\n`,
      );
    },
    300_000 + setting.rounds * 60_000,
  );

  test.if(isInstalled)(
    "a server turns statuses by its own clock, and a polling client gets the change",
    async () => {
      const location = await setting.location();
      const record = (id: string, days: number) => ({
        source: { code: "A", opportunity_id: id },
        title: id,
        dates: { closes_at: new Date(Date.now() + days * DAY).toISOString() },
      });
      await printed(["import", "records", aFile([record("N1", 1), record("N2", 40)]), ...location]);
      const key = (await printed(["keys", "create", "--account", "Sync", "--plan", "paid", ...location])).trim();
      const server = await serve(location, { clockShiftMs: 2 * DAY });
      const client = createSyncClient(key, () => server.base);
      const statuses = () =>
        [...client.copy.values()]
          .map((text) => JSON.parse(text))
          .map(({ title, status }) => `${title} ${status}`)
          .sort();
      await waitFor("the client's copy of N1 is closed", async () => {
        await client.poll();
        return statuses().includes("N1 closed");
      });
      expect(statuses()).toEqual(["N1 closed", "N2 open"]);
      expect(await server.stop("SIGTERM")).toBe(0);
    },
    300_000,
  );

  test.if(isInstalled)(
    "two imports at once run one after the other, and both are complete",
    async () => {
      const location = await setting.location();
      const chunk = 10;
      const take = async (code: string, count: number) => {
        const { db, takeFiles } = await aCatalog(await setting.open(location[1]));
        const path = aFile(Array.from({ length: count }, (_, n) => ({ source: { code, opportunity_id: `N${n}` }, title: `T${n}` })));
        await takeFiles([path], { chunk });
        await db.close();
      };
      await Promise.all([take("A", 4 * chunk), take("B", 3 * chunk)]);
      const exported = linesOf(await printed(["export", ...location]));
      const instants = new Map(exported.map((line) => [JSON.parse(line).updated_at, JSON.parse(line).source.code]));
      expect(exported).toHaveLength(7 * chunk);
      const ofChunks = [...instants].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, code]) => code);
      expect(["A A A A B B B", "B B B A A A A"]).toContain(ofChunks.join(" "));
      await expectNoSharedInstant(await setting.open(location[1]), setting.commit);
      expect(await printed(["check", ...location])).toBe("No problems found\n");
    },
    300_000,
  );
});
