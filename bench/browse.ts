/** The pages at 100,000 records: time and CPU time of each, compared with a static page of the same size in the same run: `bun bench/browse.ts`. */
import { dateAt } from "../src/text/instant.ts";
import { generatedCatalog, warmFileCache } from "./catalog.ts";
import { cpuMicroseconds, fundfeed, type Server, serve } from "./processes.ts";
import { atMost, type Goal, median, print, quantile, round, type Section, sectionText, table } from "./report.ts";

const RECORDS = 100_000;
const RUNS = 25;
const GOAL_MS = 100;

const DAY_MS = 86_400_000;
/** The generated catalog has its changes in these days, and its deadlines around them. */
const BUSY = dateAt(Date.UTC(2024, 0, 9));

const pages: Readonly<Record<string, string>> = {
  "find, everything": "/",
  "find, rare words": "/?words=quantum+lidar&status=open",
  "find, a word of most records": "/?words=research",
  "find, status and agency by deadline": "/?status=open&agency=energy&sort=closes",
  "find, eligibility": "/?eligibility=small",
  "what changed, 30 busy days": `/changes?since=30d&until=${BUSY}`,
  "what changed, filtered": `/changes?since=30d&until=${BUSY}&status=open&agency=energy&at_least=material`,
  deadlines: "/deadlines",
  "deadlines, filtered": `/deadlines?from=${dateAt(Date.UTC(2024, 0, 9) + 30 * DAY_MS)}&status=open&words=energy`,
  sources: "/sources",
};

type Measured = { ms: number; worstMs: number; cpuMs: number; bytes: number };

export async function browseBenchmark(): Promise<Section> {
  const directory = await generatedCatalog(RECORDS);
  await warmFileCache(directory);
  const server = await serve([...fundfeed, "browse", "--data", directory, "--port", "0"]);
  try {
    const found = await (await fetch(server.address)).text();
    const [, id = ""] = /href="(\/opportunities\/[0-9a-f-]+)"/.exec(found) ?? [];
    const paths = { ...pages, "one opportunity": id };
    const measured: Record<string, Measured> = {};
    for (const [name, path] of Object.entries(paths)) measured[name] = await measure(server, path.replace(/^\//, ""));
    const bare = await bareMs(found);
    return sectionOf(measured, bare);
  } finally {
    await server.stop();
  }
}

/** One after the other, as a person reads them. The first run is not counted: it reads from the disk. */
async function measure({ address, process }: Server, path: string): Promise<Measured> {
  const times: number[] = [];
  let bytes = (await (await fetch(address + path)).bytes()).length;
  const before = cpuMicroseconds(process.pid);
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    const response = await fetch(address + path);
    bytes = (await response.bytes()).length;
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    times.push(performance.now() - started);
  }
  const cpuMs = (cpuMicroseconds(process.pid) - before) / RUNS / 1000;
  return { ms: median(times), worstMs: quantile(times, 1), cpuMs, bytes };
}

/** The median time of the same page from memory, served by Bun alone. */
async function bareMs(html: string): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(html) });
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    await (await fetch(server.url)).bytes();
    times.push(performance.now() - started);
  }
  await server.stop(true);
  return median(times);
}

function sectionOf(measured: Readonly<Record<string, Measured>>, bare: number): Section {
  const rows = Object.entries(measured).map(([page, { ms, worstMs, cpuMs, bytes }]) => ({
    page,
    "median ms": round(ms),
    "worst ms": round(worstMs),
    "CPU ms": round(cpuMs),
    "× static": round(ms / bare),
    KB: round(bytes / 1000),
  }));
  const goals: Goal[] = Object.entries(measured).map(([page, { cpuMs }]) => atMost(`${page}: CPU time`, cpuMs, GOAL_MS, " ms"));
  const text = `${table(rows)}\n\n*× static*: the median compared with the first of these pages sent from memory by \`Bun.serve\`, ${round(bare)} ms in the same run.`;
  return { title: `Pages at ${RECORDS.toLocaleString("en-US")} records`, text, goals };
}

if (import.meta.main) print(sectionText(await browseBenchmark()));
