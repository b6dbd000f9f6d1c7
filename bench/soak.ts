/**
 * A soak: ten minutes of mixed traffic at four fifths of the server's capacity, with imports at the same time (`bun bench/soak.ts [minutes]`).
 * Goals: no errors, memory that does not grow, and `/meta` within 50 ms throughout. Needs `wrk`.
 *
 * The server has a core of its own. Every second the load is adjusted so that the server uses four fifths of that core. A rate measured before
 * the soak would be wrong a minute later, because the machine's speed varies. The other core runs the load (a small C program), the imports
 * (with low priority, `nice`), and the probe of `/meta`. The probe has priority over both (`chrt`, only as root), so that it measures the
 * server; the report also shows how long it still waited for its core. In a virtual machine, the report separates responses during which the
 * hypervisor used a core itself (Linux: stolen time), because then nothing runs on that core.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generatedCatalog, warmFileCache } from "./catalog.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { fundfeed, LOAD_CORE, residentBytes, run, serve, workDirectory } from "./processes.ts";
import { atLeast, atMost, count, type Goal, goalsTable, megabytes, print, quantile, round, table } from "./report.ts";

const RECORDS = 100_000;
const CONNECTIONS = 64;
const CORE_SHARE = 0.8;
const ADJUST_EVERY_MS = 1000;
/** Not counted. Meanwhile hot code is compiled, and the load finds its rate. */
const WARM_UP_SECONDS = 30;
/** The pause between two imports. */
const IMPORT_EVERY_MS = 20_000;
/** Changed records per import. */
const IMPORTED = 2000;
const PROBE_EVERY_MS = 100;
const SLICE_SECONDS = 30;
/** Resident memory of the last third may be this many times that of the first. */
const MEMORY_GROWTH_MAX = 1.05;

const minutes = Number(process.argv[2] ?? 10);
Bun.spawnSync(["taskset", "-a", "-p", "-c", String(LOAD_CORE), String(process.pid)]); // Keeps this process off the server's core.
const inputs = await Promise.all(["even imports", "odd imports"].map(writeInput)); // Now, because it takes a tenth of a second.
const directory = join(workDirectory, "soak");
rmSync(directory, { recursive: true, force: true });
cpSync(await generatedCatalog(RECORDS), directory, { recursive: true });
await warmFileCache(directory);
const key = await createBenchKey(directory);
const server = await serve([...fundfeed, "serve", "--port", "0", "--data", directory]);
process.on("exit", () => server.process.kill()); // Even if the soak fails.
const ids = await idsOf(100);
const delayFile = join(workDirectory, "soak.delay");

let soaking = true;
let imports = 0;
let importsSeconds = 0;
const importing = importRepeatedly();
/** The share of its core that the server used, one for each adjustment of the load. */
const shares: number[] = [];
const adjusting = adjustLoad();
await load(WARM_UP_SECONDS);

const probe = startProbe();
const slices: Slice[] = [];
while (slices.length < (minutes * 60) / SLICE_SECONDS) {
  const [sharesBefore, responsesBefore, waitedBefore] = [shares.length, probe.responses.length, waitedSeconds(server.process.pid)];
  slices.push({
    ...(await load(SLICE_SECONDS)),
    shares: shares.slice(sharesBefore),
    waitedShare: (waitedSeconds(server.process.pid) - waitedBefore) / SLICE_SECONDS,
    responses: probe.responses.slice(responsesBefore),
    residentMb: megabytes(await residentBytes(server.process.pid)),
    imports,
  });
}
soaking = false;
await probe.stop();
await Promise.all([importing, adjusting]);
await server.stop();
rmSync(directory, { recursive: true, force: true });

const goals = goalsOf(slices);
print(`${table(slices.map(rowOf))}\n\n${summaryOf(slices)}\n\n${goalsTable(goals)}`);
process.exit(goals.every(({ met }) => met) ? 0 : 1);

type Load = { requests: number; errors: number; coreShare: number; p50: number; p99: number; worst: number };
/** For one response of `/meta`, in milliseconds: its time, how long the probe waited for its core, and how much time was stolen until the next request. */
type ProbeResponse = { took: number; waited: number; stolen: number };
/** `waitedShare` is the share of time in which the server's main thread was ready but other threads or programs used its core. */
type Slice = Load & { shares: number[]; waitedShare: number; responses: ProbeResponse[]; residentMb: number; imports: number };

/** Sends a mix of lists, filtered lists, details and histories. Each client pauses between two requests. */
async function load(seconds: number): Promise<Load> {
  const script = join(workDirectory, "soak.lua");
  await Bun.write(script, mixScript());
  const url = new URL(server.address).origin;
  const options = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}`, "--latency", "--timeout", "30s", "-s", script];
  const { output, cpuSeconds } = await run(LOAD_CORE, ["wrk", ...options, "-H", `Authorization: Bearer ${key}`, url]);
  const measures = (/^sum (.*)$/m.exec(output)?.[1] ?? "").split(" ").map(Number);
  const [requests, errors, p50, p99, worst] = measures as [number, number, number, number, number];
  return { requests, errors, coreShare: cpuSeconds / seconds, p50, p99, worst };
}

/** Returns a script for wrk. Pauses are random, as among independent clients, around a mean that the script reads again from time to time. */
function mixScript(): string {
  return `
local ids = { ${ids.map((id) => `"${id}"`).join(", ")} }
local base = "${new URL(server.address).pathname}"
local mean, requests = 0, 0
local function read()
  local file = io.open("${delayFile}")
  mean = file:read("*n") or mean
  file:close()
end
read()
function request()
  local dice, id = math.random(), ids[math.random(#ids)]
  local path = "/sources"
  if dice < 0.25 then path = "/opportunities"
  elseif dice < 0.4 then path = "/opportunities?status=open&limit=10"
  elseif dice < 0.5 then path = "/opportunities?agency=health&updated_since=2024-01-01T00:00:00Z"
  elseif dice < 0.85 then path = "/opportunities/" .. id
  elseif dice < 0.95 then path = "/opportunities/" .. id .. "/events?include_insignificant=true" end
  return wrk.format("GET", base .. path)
end
function delay()
  requests = requests + 1
  if requests % 500 == 0 then read() end
  return math.floor(-mean * math.log(1 - math.random()) + math.random())
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("sum %d %d %.3f %.3f %.3f\\n", summary.requests, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end`;
}

/** Adjusts the clients' pauses, each time by half of the deviation, until the server uses the wanted share of its core. */
async function adjustLoad(): Promise<void> {
  let pauseMs = 8;
  await Bun.write(delayFile, String(pauseMs));
  let before = { at: performance.now(), cpuSeconds: cpuSecondsOf(server.process.pid) };
  while (soaking) {
    await Bun.sleep(ADJUST_EVERY_MS);
    const present = { at: performance.now(), cpuSeconds: cpuSecondsOf(server.process.pid) };
    const share = (present.cpuSeconds - before.cpuSeconds) / ((present.at - before.at) / 1000);
    before = present;
    shares.push(share);
    pauseMs = Math.min(1000, Math.max(0.1, pauseMs * Math.sqrt(share / CORE_SHARE)));
    await Bun.write(delayFile, String(pauseMs));
  }
}

/** Returns the CPU time of a process so far in seconds, ended threads included. Linux counts it in hundredths of a second. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Returns how long a process's main thread was ready to run but had no core, in seconds. */
function waitedSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e9;
}

/** Starts a process that requests `/meta`, one request at a time, as a health check does. */
function startProbe(): { responses: ProbeResponse[]; stop: () => Promise<void> } {
  const isRoot = process.getuid?.() === 0;
  const priority = isRoot ? ["chrt", "--fifo", "1"] : [];
  const child = Bun.spawn(
    [...priority, "taskset", "-c", String(LOAD_CORE), process.execPath, "-e", probeScript(), `${server.address}/meta`],
    {
      stdin: "pipe",
      stdout: "pipe",
    },
  );
  const responses: ProbeResponse[] = [];
  const reading = readLines(child.stdout, (line) => {
    const [took, waited, stolen] = line.split(" ").map(Number) as [number, number, number];
    responses.push({ took, waited, stolen });
  });
  const stop = async () => {
    child.stdin.end();
    await reading;
  };
  return { responses, stop };
}

/** Returns a script that prints a `ProbeResponse` for each response and ends with its standard input. Stolen time is read late, because Linux reports it late, in hundredths of a second. */
function probeScript(): string {
  return `
import { readFileSync } from "node:fs";
const waited = () => Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
const stolen = () => Number(readFileSync("/proc/stat", "utf8").split(/\\s+/, 9)[8]) * 10;
let running = true;
void Bun.stdin.text().then(() => { running = false; });
while (running) {
  const [waitedBefore, stolenBefore] = [waited(), stolen()];
  const started = performance.now();
  await fetch(process.argv[1]).then((response) => response.arrayBuffer());
  const took = performance.now() - started;
  const waitedMs = waited() - waitedBefore;
  await Bun.sleep(${PROBE_EVERY_MS});
  console.log(took.toFixed(2), waitedMs.toFixed(2), stolen() - stolenBefore);
}
process.exit();`;
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const piece of stream) {
    const lines = (rest + Buffer.from(piece).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
}

/** Writes the same records with another title, so that importing the two files alternately changes all records. */
async function writeInput(name: string, index: number): Promise<string> {
  const file = join(workDirectory, `soak-${index}.ndjson`);
  const records = Array.from({ length: IMPORTED }, (_, number) => ({ ...generateRecord(1, number), title: `Title of ${name}` }));
  await Bun.write(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

async function importRepeatedly(): Promise<void> {
  let seconds = 0;
  for (; soaking; imports++) {
    const file = inputs[imports % inputs.length] as string;
    seconds += (await run(LOAD_CORE, ["nice", "-n", "19", ...fundfeed, "import", "records", file, "--data", directory])).seconds;
    importsSeconds = seconds / (imports + 1);
    for (const next = performance.now() + IMPORT_EVERY_MS; soaking && performance.now() < next; ) await Bun.sleep(100);
  }
}

async function idsOf(count: number): Promise<string[]> {
  const response = await fetch(`${server.address}/opportunities?limit=${count}`, { headers: { Authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

function rowOf(
  { requests, shares, waitedShare, coreShare, p50, p99, worst, responses, residentMb, imports }: Slice,
  index: number,
): Record<string, string | number> {
  const took = responses.map((response) => response.took);
  return {
    minute: ((index + 1) * SLICE_SECONDS) / 60,
    "requests/s": requests / SLICE_SECONDS,
    "server's core, %": spread(shares),
    "waited for core, %": waitedShare * 100,
    "load's core, %": coreShare * 100,
    "p50 ms": p50,
    "p99 ms": p99,
    "worst ms": worst,
    "/meta p99 ms": quantile(took, 0.99),
    "/meta worst ms": Math.max(...took),
    "resident MB": residentMb,
    imports,
  };
}

/** Formats the lowest, mean and highest share in percent. */
function spread(shares: readonly number[]): string {
  return [Math.min(...shares), mean(shares), Math.max(...shares)].map((share) => round(share * 100)).join(" / ");
}

function summaryOf(slices: readonly Slice[]): string {
  const requests = slices.reduce((sum, slice) => sum + slice.requests, 0);
  const responses = slices.flatMap((slice) => slice.responses);
  const took = responses.map((response) => response.took);
  const [p50, p99, worst] = [0.5, 0.99, 1].map((share) => round(quantile(took, share)));
  const withStolenTime = responses.filter((response) => response.stolen > 0);
  return [
    `${count(requests)} requests, which used ${spread(slices.flatMap(({ shares }) => shares))} % of the server's core (lowest, mean and highest second);`,
    `${imports} imports of ${IMPORTED} changed records in ${round(importsSeconds)} s each;`,
    `p99 ${round(Math.max(...slices.map(({ p99 }) => p99)))} ms in the worst half minute, slowest request ${round(Math.max(...slices.map((slice) => slice.worst)))} ms;`,
    `${count(responses.length)} responses of /meta: p50 ${p50}, p99 ${p99}, worst ${worst} ms; the probe waited for its core at most ${round(Math.max(...responses.map(({ waited }) => waited)))} ms;`,
    `${withStolenTime.length} of these responses met stolen time: worst ${round(Math.max(0, ...withStolenTime.map((response) => response.took)))} ms.`,
  ].join("\n");
}

function goalsOf(slices: readonly Slice[]): Goal[] {
  const resident = slices.map(({ residentMb }) => residentMb);
  const third = Math.ceil(resident.length / 3);
  const errors = slices.reduce((sum, slice) => sum + slice.errors, 0);
  const responses = slices.flatMap((slice) => slice.responses);
  const undisturbed = responses.filter(({ stolen }) => stolen === 0);
  return [
    atMost("errors", errors, 0),
    atMost(
      "resident memory, last third compared with the first",
      mean(resident.slice(-third)) / mean(resident.slice(0, third)),
      MEMORY_GROWTH_MAX,
      " ×",
    ),
    atLeast("/meta, share of responses without stolen time", undisturbed.length / responses.length, 0.9, " ×"),
    atMost("/meta, worst without stolen time", Math.max(...undisturbed.map(({ took }) => took)), 50, " ms"),
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
