/** Requests a second over HTTP: the product with everything on, beside the limit and the peer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { catalogOf } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { measure, type Pressure } from "./pressure.ts";
import { product, run, SERVER_CORE, type Server, serve } from "./processes.ts";
import { atLeast, median, printAlone, round, type Section, table } from "./report.ts";

const RECORDS = 100_000;
const ROUNDS = 3;

type Target = { name: string; server: Server; headers: Record<string, string> };
type Request = { name: string; path: string; headers?: Record<string, string>; skip?: readonly string[] };

export async function loadBenchmark(): Promise<Section> {
  const directory = await catalogOf(RECORDS);
  const targets = await startTargets(directory);
  try {
    return report(await measureAll(targets, await requestsTo(targets, generatedId(1, 4711))));
  } finally {
    for (const { server } of targets) await server.stop();
  }
}

/** A key whose quotas no benchmark reaches, in a data directory or in a PostgreSQL. */
export async function createBenchKey(place: string, option: "--data" | "--database" = "--data"): Promise<string> {
  const at = [option, place];
  await run(SERVER_CORE, [...product, "plans", "set", "bench", "--daily", "1000000000", "--per-minute", "1000000000", ...at]);
  return (await run(SERVER_CORE, [...product, "keys", "create", "--account", "bench", "--plan", "bench", ...at])).output.trim();
}

async function startTargets(directory: string): Promise<Target[]> {
  const limit = (kind: string) => serve([process.execPath, join(import.meta.dir, "limit.ts"), kind, directory]);
  const targets: Target[] = [
    { name: "static bytes", server: await limit("static"), headers: {} },
    { name: "rows", server: await limit("rows"), headers: {} },
    {
      name: "fundfeed",
      server: await serve([...product, "serve", "--port", "0", "--data", directory]),
      headers: { Authorization: `Bearer ${await createBenchKey(directory)}` },
    },
  ];
  if (!(await installPeer())) return targets;
  for (const [name, kind] of [
    ["peer", "text"],
    ["peer with bytes", "bytes"],
  ] as const) {
    const files = [join(directory, "catalog.db"), join(directory, `peer-${kind}.db`)];
    const server = await serve(["node", join(import.meta.dir, "peer/server.js"), kind, ...files]);
    targets.push({ name, server, headers: { Authorization: "Bearer bench" } });
  }
  return targets;
}

/** Whether the peer is there: installed at the first run, where npm can. */
async function installPeer(): Promise<boolean> {
  const directory = join(import.meta.dir, "peer");
  if (existsSync(join(directory, "node_modules/.package-lock.json"))) return true;
  if (Bun.which("npm") === null) return false;
  const { exited } = Bun.spawn(["npm", "ci", "--no-audit", "--no-fund"], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  return (await exited) === 0;
}

/** The limit knows no filter and no validator: its list and detail stand for those too. */
async function requestsTo(targets: readonly Target[], id: string): Promise<Request[]> {
  const detail = `/opportunities/${id}`;
  const fundfeed = targets.find(({ name }) => name === "fundfeed");
  const answer = await fetch(`${fundfeed?.server.address}${detail}`, { headers: fundfeed?.headers ?? {} });
  const skip = ["static bytes", "rows"];
  return [
    { name: "list", path: "/opportunities" },
    { name: "status=open", path: "/opportunities?status=open", skip },
    { name: "source=GRANTS_GOV", path: "/opportunities?source=GRANTS_GOV", skip },
    { name: "detail", path: detail },
    { name: "304 of it", path: detail, headers: { "If-None-Match": answer.headers.get("etag") ?? "" }, skip },
  ];
}

/** By target and request. */
type Measured = Map<string, Map<string, Pressure>>;

/** Rounds go over all targets in turn, so that a slow minute of the machine hits them alike. */
async function measureAll(targets: readonly Target[], requests: readonly Request[]): Promise<Measured> {
  const samples = new Map(targets.map(({ name }) => [name, new Map<string, Pressure[]>()]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const request of requests) {
      for (const { name, server, headers } of targets) {
        if (request.skip?.includes(name)) continue;
        const pressure = await measure(server, request.path, { ...headers, ...request.headers });
        const ofTarget = samples.get(name);
        ofTarget?.set(request.name, [...(ofTarget.get(request.name) ?? []), pressure]);
      }
    }
  }
  return new Map([...samples].map(([name, ofTarget]) => [name, new Map([...ofTarget].map(([request, all]) => [request, medians(all)]))]));
}

/** The middle of each figure on its own. */
export function medians(all: readonly Pressure[]): Pressure {
  return { perSecond: median(all.map(({ perSecond }) => perSecond)), computedUs: median(all.map(({ computedUs }) => computedUs)) };
}

function report(measured: Measured): Section {
  const of = (target: string, request: string) => measured.get(target)?.get(request) ?? { perSecond: Number.NaN, computedUs: Number.NaN };
  const rows = [...measured].map(([target, ofTarget]) => {
    const cells = columns.map((request) => {
      const pressure = ofTarget.get(request);
      const limit = of("rows", request === "detail" || request === "304 of it" ? "detail" : "list").computedUs;
      if (pressure === undefined) return [request, "–"];
      return [request, `${round(pressure.perSecond)} (${round(pressure.computedUs)} µs, ${round(limit / pressure.computedUs)} ×)`];
    });
    return { "requests/s (µs computed, × rows)": target, ...Object.fromEntries(cells) };
  });
  // Of processor time: a server that has its core to itself answers as many more requests, and a busy machine hardly changes it.
  const ratio = (request: string, target: string, as = request) => of(target, as).computedUs / of("fundfeed", request).computedUs;
  const peerBars = [
    atLeast("list against the peer", ratio("list", "peer"), 6, " ×"),
    atLeast("list against the peer with bytes", ratio("list", "peer with bytes"), 3, " ×"),
  ];
  const hasPeer = measured.has("peer");
  return {
    title: `Requests a second, ${RECORDS.toLocaleString("en-US")} records, 32 connections`,
    text: hasPeer ? table(rows) : `${table(rows)}\n\nThe peer is left out: \`npm ci\` in bench/peer did not install it.`,
    bars: [
      atLeast("list against rows", ratio("list", "rows"), 0.8, " ×"),
      ...(hasPeer ? peerBars : []),
      atLeast("list of one status against rows' list", ratio("status=open", "rows", "list"), 0.6, " ×"),
      atLeast("list of one source against rows' list", ratio("source=GRANTS_GOV", "rows", "list"), 0.6, " ×"),
      atLeast("detail against rows", ratio("detail", "rows"), 0.58, " ×"),
      atLeast("304 against the detail", ratio("304 of it", "fundfeed", "detail"), 1, " ×"),
    ],
  };
}

const columns = ["list", "status=open", "source=GRANTS_GOV", "detail", "304 of it"];

if (import.meta.main) await printAlone(loadBenchmark);
