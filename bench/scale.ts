/**
 * One server and three, on files and on PostgreSQL: requests a second, p99, and what each kind of process computes for a request.
 *
 * `bun bench/scale.ts`, beside `bun run bench`, since it needs PostgreSQL, redis-server, HAProxy and wrk. Everything shares the cores.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStateAt } from "../db/open.ts";
import { createKey } from "../src/accounts/key.ts";
import { freePort } from "../tests/support/free-port.ts";
import { startHaProxy } from "../tests/support/haproxy.ts";
import { aRedis } from "../tests/support/redis.ts";
import { rawSql } from "../tests/support/sql.ts";
import { catalogOf } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { type Postgres, startPostgres } from "./postgres.ts";
import { computedMicroseconds, product, residentBytes, workDirectory } from "./processes.ts";
import { median, megabytes, print, round, table } from "./report.ts";

const [SMALL, LARGE] = [100_000, 1_000_000];
const KEYS = [1, 1000, 10_000];
const ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 32;
/** As many records are asked for by turns where it is "any": more than a server holds in memory. */
const ANY = 50_000;

const scratch = join(workDirectory, "scale");
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch);
await using running = new AsyncDisposableStack();

type Kind = "servers" | "PostgreSQL" | "Redis" | "HAProxy";
/** What is asked, and the processes that compute for the answer. */
type Target = { name: string; base: string; keys: string; pids: Partial<Record<Kind, number[]>> };
type Sample = { perSecond: number; p99: number } & Record<Kind, number>;

const postgres = await startPostgres();
running.defer(postgres.stop);
const redis = await startRedis();
const any = listOf(
  "any",
  Array.from({ length: ANY }, (_, index) => `/opportunities/${generatedId(1, (index * 7919) % SMALL)}`),
);
const requests = {
  list: listOf("list", ["/opportunities"]),
  "status=open": listOf("filtered", ["/opportunities?status=open&limit=25"]),
  detail: listOf("detail", [`/opportunities/${generatedId(1, 4711)}`]),
  "any detail": any,
};

const parts = process.argv.slice(2);
if (parts.length === 0 || parts.includes("records")) await measureRecords();
if (parts.length === 0 || parts.includes("keys")) await measureKeys();

async function measureRecords(): Promise<void> {
  const targets: { records: number; target: Target }[] = [];
  for (const records of [SMALL, LARGE]) {
    const [directory, database] = [await catalogOf(records), postgres.url(await filled(postgres, records))];
    const keys = { files: await createBenchKey(directory), database: await createBenchKey(database, "--database") };
    const postgresPid = { PostgreSQL: [postgres.pid] };
    const add = (target: Target) => void targets.push({ records, target });
    add(await alone("one, files", ["--data", directory], keys.files));
    add(await proxied("three, files", ["--data", directory], keys.files));
    add(await alone("one, PostgreSQL", ["--database", database], keys.database, postgresPid));
    add(await proxied("three, PostgreSQL", ["--database", database], keys.database, postgresPid));
  }
  const samples = await inTurns(
    targets.flatMap(({ records, target }) =>
      Object.entries(requests).map(([request, paths]) => ({
        row: { Records: records.toLocaleString("en-US"), Request: request, Servers: target.name },
        take: () => load(target, paths),
      })),
    ),
  );
  print(`## One server and three\n\n${table(samples)}\n`);
}

async function measureKeys(): Promise<void> {
  const rows = [];
  for (const count of KEYS) {
    const database = await withKeys(postgres, count);
    const began = performance.now();
    const server = await start(["--database", postgres.url(database)]);
    const startedMs = performance.now() - began;
    await Bun.sleep(1000);
    const resident = megabytes(await residentBytes(server.pid));
    const target: Target = {
      name: "",
      base: server.base,
      keys: keyFileOf(count),
      pids: { servers: [server.pid], PostgreSQL: [postgres.pid] },
    };
    for (const request of ["list", "detail"] as const)
      rows.push({
        row: { Keys: count.toLocaleString("en-US"), Request: request, "listening, ms": round(startedMs), "at rest, MB": round(resident) },
        take: () => load(target, requests[request]),
      });
  }
  print(`## Keys, one server on PostgreSQL, ${SMALL.toLocaleString("en-US")} records\n\n${table(await inTurns(rows))}\n`);
}

/** Rounds go over all rows in turn, so that a slow minute of the machine hits them alike; the middle one of each figure counts. */
async function inTurns(rows: readonly { row: Record<string, string>; take: () => Promise<Sample> }[]): Promise<Record<string, string>[]> {
  const samples = new Map(rows.map(({ row }) => [row, [] as Sample[]]));
  for (let turn = 0; turn < ROUNDS; turn++) for (const { row, take } of rows) samples.get(row)?.push(await take());
  return Array.from(samples, ([row, all]) => {
    const middle = (figure: keyof Sample) => round(median(all.map((sample) => sample[figure])));
    return {
      ...row,
      "requests/s": middle("perSecond"),
      "p99, ms": middle("p99"),
      "servers, µs": middle("servers"),
      "PostgreSQL, µs": middle("PostgreSQL"),
      "Redis, µs": middle("Redis"),
      "HAProxy, µs": middle("HAProxy"),
    };
  });
}

/** Throws when an answer is none that was asked for. */
async function load({ base, keys, pids }: Target, paths: string): Promise<Sample> {
  const before = computed(pids);
  const shape = ["-t1", `-c${CONNECTIONS}`, `-d${SECONDS}`, "--latency", "--timeout", "30s", "-s", join(import.meta.dir, "scale.lua")];
  const child = Bun.spawn(["wrk", ...shape, base, "--", paths, keys], { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const [, count, perSecond, p99] = (/^sum (\d+) (\S+) (\S+)$/m.exec(output) ?? []).map(Number);
  if (count === undefined || perSecond === undefined || p99 === undefined || /Non-2xx|Socket errors/.test(output))
    throw new Error(`${base} failed under load: ${output}${errors}`);
  const after = computed(pids);
  const each = (kind: Kind) => (after[kind] - before[kind]) / count;
  return { perSecond, p99, servers: each("servers"), PostgreSQL: each("PostgreSQL"), Redis: each("Redis"), HAProxy: each("HAProxy") };
}

/** Microseconds so far, with those of children, such as PostgreSQL's one for each connection. */
function computed(pids: Target["pids"]): Record<Kind, number> {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = processes.map((pid) => ({ pid: Number(pid), parent: parentOf(pid) }));
  const of = (kind: Kind) => {
    const roots = pids[kind] ?? [];
    return parents.filter(({ pid, parent }) => roots.includes(pid) || roots.includes(parent)).reduce((sum, { pid }) => sum + ofOne(pid), 0);
  };
  return { servers: of("servers"), PostgreSQL: of("PostgreSQL"), Redis: of("Redis"), HAProxy: of("HAProxy") };
}

function ofOne(pid: number): number {
  try {
    return computedMicroseconds(pid);
  } catch {
    return 0; // It has ended, as PostgreSQL's helpers do that come and go.
  }
}

function parentOf(pid: string): number {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}

type Started = { pid: number; port: number; base: string };

async function start(options: readonly string[], env: Record<string, string> = {}): Promise<Started> {
  const port = await freePort();
  const log = Bun.file(join(scratch, `server-${port}.log`));
  const child = Bun.spawn([...product, "serve", "--port", `${port}`, ...options], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: log,
  });
  running.defer(async () => {
    child.kill();
    await child.exited;
  });
  for await (const piece of child.stdout) {
    if (Buffer.from(piece).toString().includes("listening on")) return { pid: child.pid, port, base: `http://127.0.0.1:${port}/v1` };
  }
  throw new Error(`A server ended before it listened: ${await log.text()}`);
}

async function alone(name: string, options: readonly string[], key: string, pids: Target["pids"] = {}): Promise<Target> {
  const { pid, base } = await start(options);
  return { name, base, keys: listOf(`key-${pid}`, [key]), pids: { ...pids, servers: [pid] } };
}

/** Three, with docs/operate/haproxy.cfg before them, and quotas in Redis. */
async function proxied(name: string, options: readonly string[], key: string, pids: Target["pids"] = {}): Promise<Target> {
  const servers = await Promise.all([1, 2, 3].map(() => start(options, { FUNDFEED_QUOTAS: redis.address })));
  const port = await freePort();
  const proxy = await startHaProxy(
    port,
    servers.map((server) => server.port),
  );
  running.defer(proxy.stop);
  const all = { ...pids, servers: servers.map(({ pid }) => pid), Redis: [redis.pid], HAProxy: [proxy.pid] };
  return { name, base: proxy.base, keys: listOf(`key-${port}`, [key]), pids: all };
}

async function startRedis(): Promise<{ address: string; pid: number }> {
  const server = await aRedis();
  running.defer(server.stop);
  const info = String(await server.command("INFO", "server"));
  return { address: server.address, pid: Number(/process_id:(\d+)/.exec(info)?.[1]) };
}

/** The database with a copy of the catalog of so many records; its name tells which. */
async function filled({ command, url }: Postgres, records: number): Promise<string> {
  const directory = await catalogOf(records);
  const name = directory.slice(directory.lastIndexOf("/") + 1).replaceAll("-", "_");
  if ((await command(`select 1 from pg_database where datname = '${name}'`)).length > 0) return name;
  const unfinished = `${name}_unfinished`;
  await command(`drop database if exists ${unfinished}`);
  await command(`create database ${unfinished} template template0 encoding utf8`);
  const { exitCode, stderr } = Bun.spawnSync([...product, "copy", "--data", directory, url(unfinished)]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  await command("vacuum (analyze)", unfinished); // As PostgreSQL would do by itself a minute later, beside what is measured.
  await command(`alter database ${unfinished} rename to ${name}`);
  return name;
}

/** A copy of the smaller database with so many keys, whose texts stay beside it. */
async function withKeys(server: Postgres, count: number): Promise<string> {
  const source = await filled(server, SMALL);
  const name = `${source}_keys_${count}`;
  if ((await server.command(`select 1 from pg_database where datname = '${name}'`)).length > 0) return name;
  await server.command(`create database ${name} template ${source}`);
  await createBenchKey(server.url(name), "--database");
  const state = await openStateAt({ data: "", database: server.url(name) }, Date.now());
  await state.run(rawSql("delete from use"));
  await state.run(rawSql("delete from keys"));
  const keys: string[] = [];
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  while (keys.length < count) keys.push((await createKey(state, { account: "bench" }, random, Date.now())).key);
  await state.close();
  writeFileSync(keyFileOf(count), keys.join("\n"));
  return name;
}

function keyFileOf(count: number): string {
  return join(workDirectory, "postgres", `keys-${count}.txt`);
}

/** A file of what `scale.lua` takes by turns, one a line. */
function listOf(name: string, lines: readonly string[]): string {
  const file = join(scratch, `${name}.txt`);
  writeFileSync(file, lines.join("\n"));
  return file;
}
