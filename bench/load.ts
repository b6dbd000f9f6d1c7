/** Requests per second over HTTP: the program with all hooks, bare servers and the peer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { generatedCatalog } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { type LoadResult, measure } from "./http-load.ts";
import { fundfeed, run, SERVER_CORE, type Server, serve } from "./processes.ts";
import { atLeast, count, median, printAlone, round, type Section, table } from "./report.ts";

const RECORDS = 100_000;
type Target = { name: string; server: Server; headers: Record<string, string> };
/** `isOwn`: measured on the program alone. */
type Request = { name: string; path: string; headers?: Record<string, string>; isOwn?: true };

/** Measures the same requests on all servers. Throws if a request fails. */
export async function loadBenchmark(): Promise<Section> {
  const directory = await generatedCatalog(RECORDS);
  const targets = await startTargets(directory);
  try {
    return report(await measureAll(targets, await requestsTo(targets, generatedId(1, 4711))));
  } finally {
    for (const { server } of targets) await server.stop();
  }
}

/** Creates a key whose quotas no benchmark exhausts. `location` is a data directory, or with `--database` a PostgreSQL URL. */
export async function createBenchKey(location: string, option: "--data" | "--database" = "--data"): Promise<string> {
  const databases = [option, location];
  await run(SERVER_CORE, [...fundfeed, "plans", "set", "bench", "--daily", "1000000000", "--per-minute", "1000000000", ...databases]);
  return (await run(SERVER_CORE, [...fundfeed, "keys", "create", "--account", "bench", "--plan", "bench", ...databases])).output.trim();
}

async function startTargets(directory: string): Promise<Target[]> {
  const bareServer = (kind: string) => serve([process.execPath, join(import.meta.dir, "bare-server.ts"), kind, directory]);
  const targets: Target[] = [
    { name: "static", server: await bareServer("static"), headers: {} },
    { name: "rows", server: await bareServer("rows"), headers: {} },
    {
      name: "fundfeed",
      server: await serve([...fundfeed, "serve", "--port", "0", "--data", directory]),
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

/** Returns whether the peer is installed. The first run installs it, if there is npm. */
async function installPeer(): Promise<boolean> {
  const directory = join(import.meta.dir, "peer");
  if (existsSync(join(directory, "node_modules/.package-lock.json"))) return true;
  if (Bun.which("npm") === null) return false;
  const { exited } = Bun.spawn(["npm", "ci", "--no-audit", "--no-fund"], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  return (await exited) === 0;
}

/** Filters and conditional requests are compared with what all servers have: a list and a detail. */
async function requestsTo(targets: readonly Target[], id: string): Promise<Request[]> {
  const detail = `/opportunities/${id}`;
  const target = targets.find(({ name }) => name === "fundfeed");
  const response = await fetch(`${target?.server.address}${detail}`, { headers: target?.headers ?? {} });
  return [
    { name: "list", path: "/opportunities" },
    { name: "status=open", path: "/opportunities?status=open", isOwn: true },
    { name: "source=GRANTS_GOV", path: "/opportunities?source=GRANTS_GOV", isOwn: true },
    { name: "detail", path: detail },
    { name: "detail, 304", path: detail, headers: { "If-None-Match": response.headers.get("etag") ?? "" }, isOwn: true },
  ];
}

/** Results by target and request. */
type Measured = Map<string, Map<string, LoadResult>>;

/** A request is measured on all servers in turn, so that a slow minute of the machine affects all of them. The first round only warms up. */
async function measureAll(targets: readonly Target[], requests: readonly Request[]): Promise<Measured> {
  const measured: Measured = new Map(targets.map(({ name }) => [name, new Map()]));
  for (let round = 0; round < 2; round++) {
    for (const request of requests) {
      for (const { name, server, headers } of targets) {
        if (request.isOwn && name !== "fundfeed") continue;
        measured.get(name)?.set(request.name, await measure(server, request.path, { ...headers, ...request.headers }));
      }
    }
  }
  return measured;
}

export function medians(all: readonly LoadResult[]): LoadResult {
  return { perSecond: median(all.map(({ perSecond }) => perSecond)), cpuUs: median(all.map(({ cpuUs }) => cpuUs)) };
}

function report(measured: Measured): Section {
  const of = (target: string, request: string) => measured.get(target)?.get(request) ?? { perSecond: Number.NaN, cpuUs: Number.NaN };
  const rows = [...measured].map(([target, ofTarget]) => {
    const cells = columns.map((request) => {
      const result = ofTarget.get(request);
      const rowsUs = of("rows", request === "detail" || request === "detail, 304" ? "detail" : "list").cpuUs;
      if (result === undefined) return [request, "–"];
      return [request, `${round(result.perSecond)} (${round(result.cpuUs)} µs, ${round(rowsUs / result.cpuUs)} ×)`];
    });
    return { "requests/s (CPU µs, × rows)": target, ...Object.fromEntries(cells) };
  });
  // Ratios of CPU time: requests per second on a free core are inversely proportional to it, and other programs hardly change it.
  const ratio = (request: string, target: string, as = request) => of(target, as).cpuUs / of("fundfeed", request).cpuUs;
  const peerGoals = [
    atLeast("list, compared with the peer", ratio("list", "peer"), 6, " ×"),
    atLeast("list, compared with the peer with bytes", ratio("list", "peer with bytes"), 3, " ×"),
    atLeast("detail, compared with the peer", ratio("detail", "peer"), 1.5, " ×"),
  ];
  const hasPeer = measured.has("peer");
  return {
    title: `Requests per second, ${count(RECORDS)} records, 32 connections`,
    text: `${table(rows)}\n\n${LEGEND}${hasPeer ? "" : " The peer is missing: `npm ci` in bench/peer did not install it."}`,
    goals: [
      atLeast("list, compared with rows", ratio("list", "rows"), 0.85, " ×"),
      ...(hasPeer ? peerGoals : []),
      atLeast("list of one status, compared with a list of rows", ratio("status=open", "rows", "list"), 0.65, " ×"),
      atLeast("list of one source, compared with a list of rows", ratio("source=GRANTS_GOV", "rows", "list"), 0.65, " ×"),
      atLeast("detail, compared with rows", ratio("detail", "rows"), 0.55, " ×"),
      atLeast("304, compared with the detail", ratio("detail, 304", "fundfeed", "detail"), 1, " ×"),
    ],
  };
}

/** What the rows of the table are. */
const LEGEND =
  "*static* and *rows* are bare Bun servers: the same bytes from memory, and documents joined from the same database. *peer* is Fastify with better-sqlite3, joining strings or bytes.";

const columns = ["list", "status=open", "source=GRANTS_GOV", "detail", "detail, 304"];

if (import.meta.main) await printAlone(loadBenchmark);
