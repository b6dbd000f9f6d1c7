/**
 * One server and three, on files and on PostgreSQL: requests per second, p99, and CPU time per request of each kind of process.
 *
 * Run `bun bench/scale.ts`. It is not part of `bun run bench`, because it needs PostgreSQL, redis-server, HAProxy and wrk. All processes share
 * the cores.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStateAt } from "../db/open.ts";
import { createKey } from "../src/accounts/key.ts";
import { freePort } from "../tests/support/free-port.ts";
import { startHaProxy } from "../tests/support/haproxy.ts";
import { aRedis } from "../tests/support/redis.ts";
import { rawSql } from "../tests/support/sql.ts";
import { generatedCatalog } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { type Postgres, startPostgres } from "./postgres.ts";
import { cpuMicroseconds, fundfeed, residentBytes, workDirectory } from "./processes.ts";
import { count as formatCount, median, megabytes, print, round, table } from "./report.ts";

const [SMALL, LARGE] = [100_000, 1_000_000];
const KEYS = [1, 1000, 10_000];
const ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 32;
/** "any detail" requests this many records in turn: more than a server keeps in memory. */
const ANY_RECORDS = 50_000;

const scratch = join(workDirectory, "scale");
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch);
await using running = new AsyncDisposableStack();

type Kind = "servers" | "PostgreSQL" | "Redis" | "HAProxy";
/** An address to put load on, and the processes that take part in its responses. `keys` is a file. */
type Target = { name: string; base: string; keys: string; pids: Partial<Record<Kind, number[]>> };
type Sample = { perSecond: number; p99: number } & Record<Kind, number>;

const postgres = await startPostgres();
running.defer(postgres.stop);
const redis = await startRedis();
const anyDetail = linesFile(
  "any",
  Array.from({ length: ANY_RECORDS }, (_, index) => `/opportunities/${generatedId(1, (index * 7919) % SMALL)}`),
);
const requests = {
  list: linesFile("list", ["/opportunities"]),
  "status=open": linesFile("filtered", ["/opportunities?status=open&limit=25"]),
  detail: linesFile("detail", [`/opportunities/${generatedId(1, 4711)}`]),
  "any detail": anyDetail,
};

const requestedParts = process.argv.slice(2);
if (requestedParts.length === 0 || requestedParts.includes("records")) await measureRecords();
if (requestedParts.length === 0 || requestedParts.includes("keys")) await measureKeys();

async function measureRecords(): Promise<void> {
  const targets: { records: number; target: Target }[] = [];
  for (const records of [SMALL, LARGE]) {
    const [directory, database] = [await generatedCatalog(records), postgres.url(await filledDatabase(postgres, records))];
    const keys = { files: await createBenchKey(directory), database: await createBenchKey(database, "--database") };
    const postgresPid = { PostgreSQL: [postgres.pid] };
    const add = (target: Target) => void targets.push({ records, target });
    add(await singleServer("one, files", ["--data", directory], keys.files));
    add(await threeServers("three, files", ["--data", directory], keys.files));
    add(await singleServer("one, PostgreSQL", ["--database", database], keys.database, postgresPid));
    add(await threeServers("three, PostgreSQL", ["--database", database], keys.database, postgresPid));
  }
  const samples = await measureInTurns(
    targets.flatMap(({ records, target }) =>
      Object.entries(requests).map(([request, paths]) => ({
        row: { Records: formatCount(records), Request: request, Servers: target.name },
        measure: () => load(target, paths),
      })),
    ),
  );
  print(`## One server and three\n\n${table(samples)}\n`);
}

async function measureKeys(): Promise<void> {
  const rows = [];
  for (const count of KEYS) {
    const database = await databaseWithKeys(postgres, count);
    const started = performance.now();
    const server = await start(["--database", postgres.url(database)]);
    const startedMs = performance.now() - started;
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
        row: { Keys: formatCount(count), Request: request, "listening, ms": round(startedMs), "at rest, MB": round(resident) },
        measure: () => load(target, requests[request]),
      });
  }
  print(`## Keys, one server on PostgreSQL, ${formatCount(SMALL)} records\n\n${table(await measureInTurns(rows))}\n`);
}

/** Measures all rows in turn in each round, so that a slow minute of the machine affects all of them. Returns the median of each measure. */
async function measureInTurns(
  rows: readonly { row: Record<string, string>; measure: () => Promise<Sample> }[],
): Promise<Record<string, string>[]> {
  const samples = new Map(rows.map(({ row }) => [row, [] as Sample[]]));
  for (let turn = 0; turn < ROUNDS; turn++) for (const { row, measure } of rows) samples.get(row)?.push(await measure());
  return Array.from(samples, ([row, all]) => {
    const medianOf = (measure: keyof Sample) => round(median(all.map((sample) => sample[measure])));
    return {
      ...row,
      "requests/s": medianOf("perSecond"),
      "p99, ms": medianOf("p99"),
      "servers, CPU µs": medianOf("servers"),
      "PostgreSQL, CPU µs": medianOf("PostgreSQL"),
      "Redis, CPU µs": medianOf("Redis"),
      "HAProxy, CPU µs": medianOf("HAProxy"),
    };
  });
}

/** Puts load on a target for two seconds. Throws if a response is not 2xx or 3xx. */
async function load({ base, keys, pids }: Target, paths: string): Promise<Sample> {
  const before = cpuByKind(pids);
  const options = ["-t1", `-c${CONNECTIONS}`, `-d${SECONDS}`, "--latency", "--timeout", "30s", "-s", join(import.meta.dir, "scale.lua")];
  const child = Bun.spawn(["wrk", ...options, base, "--", paths, keys], { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const [, count, perSecond, p99] = (/^sum (\d+) (\S+) (\S+)$/m.exec(output) ?? []).map(Number);
  if (count === undefined || perSecond === undefined || p99 === undefined || /Non-2xx|Socket errors/.test(output))
    throw new Error(`${base} failed under load: ${output}${errors}`);
  const after = cpuByKind(pids);
  const each = (kind: Kind) => (after[kind] - before[kind]) / count;
  return { perSecond, p99, servers: each("servers"), PostgreSQL: each("PostgreSQL"), Redis: each("Redis"), HAProxy: each("HAProxy") };
}

/** Returns the CPU time so far in microseconds, child processes included: PostgreSQL has one for each connection. */
function cpuByKind(pids: Target["pids"]): Record<Kind, number> {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = processes.map((pid) => ({ pid: Number(pid), parent: parentOf(pid) }));
  const cpuOf = (kind: Kind) => {
    const roots = pids[kind] ?? [];
    return parents
      .filter(({ pid, parent }) => roots.includes(pid) || roots.includes(parent))
      .reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0);
  };
  return { servers: cpuOf("servers"), PostgreSQL: cpuOf("PostgreSQL"), Redis: cpuOf("Redis"), HAProxy: cpuOf("HAProxy") };
}

function cpuOfProcess(pid: number): number {
  try {
    return cpuMicroseconds(pid);
  } catch {
    return 0; // The process has ended, as helpers of PostgreSQL often do.
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
  const child = Bun.spawn([...fundfeed, "serve", "--port", `${port}`, ...options], {
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
  throw new Error(`The server on port ${port} ended before it listened: ${await log.text()}`);
}

async function singleServer(name: string, options: readonly string[], key: string, pids: Target["pids"] = {}): Promise<Target> {
  const { pid, base } = await start(options);
  return { name, base, keys: linesFile(`key-${pid}`, [key]), pids: { ...pids, servers: [pid] } };
}

/** Starts three servers behind HAProxy (deploy/haproxy.cfg), with quotas in Redis. */
async function threeServers(name: string, options: readonly string[], key: string, pids: Target["pids"] = {}): Promise<Target> {
  const servers = await Promise.all([1, 2, 3].map(() => start(options, { FUNDFEED_QUOTAS: redis.address })));
  const port = await freePort();
  const proxy = await startHaProxy(
    port,
    servers.map((server) => server.port),
  );
  running.defer(proxy.stop);
  const all = { ...pids, servers: servers.map(({ pid }) => pid), Redis: [redis.pid], HAProxy: [proxy.pid] };
  return { name, base: proxy.base, keys: linesFile(`key-${port}`, [key]), pids: all };
}

async function startRedis(): Promise<{ address: string; pid: number }> {
  const server = await aRedis();
  running.defer(server.stop);
  const info = String(await server.command("INFO", "server"));
  return { address: server.address, pid: Number(/process_id:(\d+)/.exec(info)?.[1]) };
}

/** Returns the name of a database with a copy of the generated catalog. Creates it if an earlier run has not. */
async function filledDatabase({ command, url }: Postgres, records: number): Promise<string> {
  const directory = await generatedCatalog(records);
  const name = directory.slice(directory.lastIndexOf("/") + 1).replaceAll("-", "_");
  if ((await command(`select 1 from pg_database where datname = '${name}'`)).length > 0) return name;
  const unfinished = `${name}_unfinished`;
  await command(`drop database if exists ${unfinished}`);
  await command(`create database ${unfinished} template template0 encoding utf8`);
  const { exitCode, stderr } = Bun.spawnSync([...fundfeed, "copy", "--data", directory, url(unfinished)]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  await command("vacuum (analyze)", unfinished); // Otherwise autovacuum would do it a minute later, during the measurement.
  await command(`alter database ${unfinished} rename to ${name}`);
  return name;
}

/** Returns the name of a copy of the smaller database with this many keys. The keys themselves are in `keyFileOf(count)`. */
async function databaseWithKeys(server: Postgres, count: number): Promise<string> {
  const source = await filledDatabase(server, SMALL);
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

/** Writes a file for `scale.lua`, which uses its lines in turn, and returns the path. */
function linesFile(name: string, lines: readonly string[]): string {
  const file = join(scratch, `${name}.txt`);
  writeFileSync(file, lines.join("\n"));
  return file;
}
