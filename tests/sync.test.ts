/**
 * The sync guarantee: a client that polls misses nothing and loses nothing, whatever happens to the writers and to the server.
 *
 * Each round changes the upstream at random and imports it in processes of their own, with clocks that are wrong by days, and SIGKILL
 * at random points; the server is stopped and killed at random too. FUNDFEED_SYNC_ROUNDS makes it long, FUNDFEED_SEED repeats it.
 */
import { afterAll, expect, test } from "bun:test";
import { CHUNK } from "../src/import/run.ts";
import { aDirectory, aFile, DAY, dropScratch } from "./support/imports.ts";
import { run, type Server, serve, succeed } from "./support/processes.ts";
import { createSyncClient, type Mirrored, type SyncClient } from "./support/sync-client.ts";

const ROUNDS = Number(process.env.FUNDFEED_SYNC_ROUNDS ?? 6);
const SEED = Number(process.env.FUNDFEED_SEED ?? Date.now() % 1_000_000);
const RECORDS = 2400;

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

function aRecord(n: number): Record<string, unknown> {
  const made = Object.entries(fields).map(([name, make]) => [name, make()]);
  return { source: { code: n % 5 === 0 ? "B" : "A", opportunity_id: `N${n}` }, lineage: `L${n}`, ...Object.fromEntries(made) };
}

/** Random edits, additions and at most a few removals. */
function edit(upstream: Upstream, round: number): void {
  const edited = chance(0.2) ? 0.9 : random() * 0.3;
  for (const [key, record] of upstream) {
    if (chance(0.01)) upstream.delete(key);
    else if (chance(edited)) {
      const name = oneOf(Object.keys(fields));
      upstream.set(key, { ...record, [name]: fields[name]?.() });
      if (chance(0.05)) upstream.set(key, { ...record, source: { ...(record.source as object), opportunity_id: `N${key}r${round}` } });
    }
  }
  while (upstream.size < RECORDS && chance(0.999)) {
    const n = below(RECORDS * 1.1); // A few of them were there before.
    if (!upstream.has(`${n}`)) upstream.set(`${n}`, aRecord(n));
  }
}

/** Runs a command until it is done, killing it at random points before. */
async function runDespiteKills(args: readonly string[], clockShiftMs: number): Promise<number> {
  for (let kills = 0; ; kills++) {
    const wanted = kills < 3 && chance(0.5);
    const { code, err, out } = await run(args, { clockShiftMs, ...(wanted ? { killAfterMs: 80 + below(400) } : {}) });
    if (code === null) continue;
    expect({ seed: SEED, args, code, err: code === 0 ? "" : err + out }).toEqual({ seed: SEED, args, code: 0, err: "" });
    return kills;
  }
}

/** Over the state that was seen first, every later event's changes must give the present state. */
async function expectHistoryToFold(client: SyncClient, id: string): Promise<number> {
  const events = await client.history(id);
  const first = JSON.parse(client.first.get(id) ?? "") as Mirrored;
  const later = events.filter(({ detected_at }) => detected_at > first.updated_at);
  const state = structuredClone(first);
  for (const { changes, detected_at } of later) {
    for (const { field, current } of changes) setAt(state, field.split("."), current);
    state.updated_at = detected_at;
  }
  expect({ seed: SEED, state: JSON.stringify(state) }).toEqual({ seed: SEED, state: client.mirror.get(id) ?? "" });
  expect(events[0]).toMatchObject({ type: "opportunity_added", detected_at: first.created_at });
  return later.length;
}

function setAt(holder: Record<string, unknown>, [name = "", ...rest]: string[], value: unknown): void {
  if (name === "attachments" || name === "questions") return; // Not served with the record.
  if (rest.length === 0) holder[name] = value;
  else setAt(holder[name] as Record<string, unknown>, rest, value);
}

test(
  `a client that polls has what export has, after ${ROUNDS} rounds of kills and wrong clocks (seed ${SEED})`,
  async () => {
    const data = aDirectory();
    const upstream: Upstream = new Map(Array.from({ length: RECORDS }, (_, n) => [`${n}`, aRecord(n)]));
    await succeed(["plans", "set", "unlimited", "--daily", "1000000000", "--per-minute", "1000000000", "--data", data]);
    const key = (await succeed(["keys", "create", "--account", "Sync", "--plan", "unlimited", "--data", data])).trim();
    let server: Server = await serve(data);
    const client = createSyncClient(key, () => server.base);
    let [kills, restarts, folded] = [0, 0, 0];

    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) edit(upstream, round);
      const path = aFile([...upstream.values()], `upstream-${round % 2}.ndjson`);
      const clockShiftMs = oneOf([0, -3_600_000, 3_600_000, (random() - 0.5) * 4 * DAY, random() * 20 * DAY]);
      const snapshot = round > 0 && chance(0.6) ? ["--snapshot", "--allow-removals"] : [];
      let writing = true;
      const polling = (async () => {
        for (; writing; await Bun.sleep(below(40))) await client.poll();
      })();
      const work = (async () => {
        kills += await runDespiteKills(["import", "records", path, ...snapshot, "--json", "--data", data], clockShiftMs);
        if (chance(0.5)) kills += await runDespiteKills(["refresh", "--data", data], clockShiftMs + below(5 * DAY));
      })();
      if (chance(0.5)) {
        await Bun.sleep(below(300));
        await server.stop(oneOf(["SIGTERM", "SIGKILL"]));
        server = await serve(data, { clockShiftMs: (random() - 0.5) * 2 * DAY });
        restarts++;
      }
      await work.finally(() => {
        writing = false;
      });
      await polling;
    }
    await client.poll();

    const exported = (await succeed(["export", "--data", data])).trimEnd().split("\n");
    const missing = exported.filter((line) => !line.startsWith(`${client.mirror.get(JSON.parse(line).id)?.slice(0, -1)},"attachments":[`));
    expect({ seed: SEED, missing: missing.slice(0, 3), records: client.mirror.size }).toEqual({
      seed: SEED,
      missing: [],
      records: exported.length,
    });
    for (const id of client.mirror.keys()) folded += await expectHistoryToFold(client, id);
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(await succeed(["check", "--data", data])).toBe("Everything holds\n");
    process.stderr.write(
      `seed ${SEED}: ${ROUNDS} rounds, ${kills} kills, ${restarts} restarts, ${client.requests} requests, ${exported.length} records, ${folded} events\n`,
    );
  },
  ROUNDS * 60_000,
);

test("a server moves statuses by its own clock, and a client that polls sees it", async () => {
  const data = aDirectory();
  const record = (id: string, days: number) => ({
    source: { code: "A", opportunity_id: id },
    title: id,
    dates: { closes_at: new Date(Date.now() + days * DAY).toISOString() },
  });
  await succeed(["import", "records", aFile([record("N1", 1), record("N2", 40)]), "--data", data]);
  const key = (await succeed(["keys", "create", "--account", "Sync", "--plan", "paid", "--data", data])).trim();
  const server = await serve(data, { clockShiftMs: 2 * DAY });
  const client = createSyncClient(key, () => server.base);
  const statuses = () =>
    [...client.mirror.values()]
      .map((text) => JSON.parse(text))
      .map(({ title, status }) => `${title} ${status}`)
      .sort();
  const until = Date.now() + 20_000;
  for (await client.poll(); !statuses().includes("N1 closed") && Date.now() < until; await Bun.sleep(50)) await client.poll();
  expect(statuses()).toEqual(["N1 closed", "N2 open"]);
  expect(await server.stop("SIGTERM")).toBe(0);
}, 60_000);

test("two imports at once follow each other, and both are whole", async () => {
  const data = aDirectory();
  const file = (code: string) =>
    aFile(Array.from({ length: CHUNK + 500 }, (_, n) => ({ source: { code, opportunity_id: `N${n}` }, title: `T${n}` })));
  await Promise.all(["A", "B", "C"].map((code) => succeed(["import", "records", file(code), "--data", data])));
  const exported = (await succeed(["export", "--data", data])).trimEnd().split("\n");
  const instants = new Map(exported.map((line) => [JSON.parse(line).updated_at, JSON.parse(line).source.code]));
  expect(exported).toHaveLength(3 * (CHUNK + 500));
  expect([...instants.values()].sort()).toEqual(["A", "A", "B", "B", "C", "C"]); // Two chunks each, each at an instant of its own.
  expect(await succeed(["check", "--data", data])).toBe("Everything holds\n");
}, 60_000);
