/**
 * A soak: mixed traffic at four fifths of what the server can take, with imports running beside it, for ten minutes (`bun bench/soak.ts
 * [minutes]`). What must hold: no error, memory that does not grow, and `/meta` within 50 ms throughout. Needs `wrk`.
 *
 * The server has its core to itself, and what it can take is that core: every second the load is steered so that four fifths of it are used,
 * imports and all. What was measured beforehand would be another rate a minute later. On the other core are the load, whose client is a small
 * C program, the imports, which take what is left (`nice`), and the probe, which goes before both (`chrt`, where root starts it), so that what
 * it measures is the server. How long it waited for its core all the same is told too. In a virtual machine, answers that were under way
 * while the hypervisor had a core for itself (Linux calls that time stolen) are told apart: then nothing at all runs there.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { catalogOf, warm } from "./catalog.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { LOAD_CORE, product, residentBytes, run, serve, workDirectory } from "./processes.ts";
import { atLeast, atMost, type Bar, barsTable, megabytes, print, quantile, round, table } from "./report.ts";

const RECORDS = 100_000;
const CONNECTIONS = 64;
const SHARE_OF_CORE = 0.8;
const STEER_EVERY_MS = 1000;
/** Not counted: hot code is compiled meanwhile, and the load finds its rate. */
const WARM_UP_SECONDS = 30;
/** Between two imports, each of so many changed records. */
const IMPORT_EVERY_MS = 20_000;
const IMPORTED = 2000;
const PROBE_EVERY_MS = 100;
const SLICE_SECONDS = 30;
/** Of the last third of the soak against the first. */
const GROWTH = 1.05;

const minutes = Number(process.argv[2] ?? 10);
Bun.spawnSync(["taskset", "-a", "-p", "-c", String(LOAD_CORE), String(process.pid)]); // This program, too, leaves the server's core alone.
const inputs = await Promise.all(["one turn", "the other turn"].map(writeInput)); // Beforehand: it takes a tenth of a second.
const directory = join(workDirectory, "soak");
rmSync(directory, { recursive: true, force: true });
cpSync(await catalogOf(RECORDS), directory, { recursive: true });
await warm(directory);
const key = await createBenchKey(directory);
const server = await serve([...product, "serve", "--port", "0", "--data", directory]);
process.on("exit", () => server.process.kill()); // Also when something fails.
const ids = await idsOf(100);
const delayFile = join(workDirectory, "soak.delay");

let soaking = true;
let imports = 0;
let importsSeconds = 0;
const importing = importNowAndThen();
/** Shares of its core that the server used, one for each turn of steering. */
const shares: number[] = [];
const steering = steer();
await load(WARM_UP_SECONDS);

const probe = startProbe();
const slices: Slice[] = [];
while (slices.length < (minutes * 60) / SLICE_SECONDS) {
  const [sharesBefore, answersBefore, waitedBefore] = [shares.length, probe.answers.length, waitedSeconds(server.process.pid)];
  slices.push({
    ...(await load(SLICE_SECONDS)),
    shares: shares.slice(sharesBefore),
    waitedShare: (waitedSeconds(server.process.pid) - waitedBefore) / SLICE_SECONDS,
    answers: probe.answers.slice(answersBefore),
    residentMb: megabytes(await residentBytes(server.process.pid)),
    imports,
  });
}
soaking = false;
await probe.stop();
await Promise.all([importing, steering]);
await server.stop();
rmSync(directory, { recursive: true, force: true });

const bars = barsOf(slices);
print(`${table(slices.map(rowOf))}\n\n${summaryOf(slices)}\n\n${barsTable(bars)}`);
process.exit(bars.every(({ met }) => met) ? 0 : 1);

type Load = { requests: number; errors: number; coreShare: number; p50: number; p99: number; worst: number };
/** In milliseconds: what `/meta` took, how long the probe waited for its core meanwhile, and for how long a core was stolen until the next. */
type ProbeAnswer = { took: number; waited: number; stolen: number };
/** `waitedShare`: how much of the time the server's main thread waited for its core, taken by its other threads or by other programs. */
type Slice = Load & { shares: number[]; waitedShare: number; answers: ProbeAnswer[]; residentMb: number; imports: number };

/** Lists, filtered lists, details and histories, as clients mix them, each of whom pauses between two requests. */
async function load(seconds: number): Promise<Load> {
  const script = join(workDirectory, "soak.lua");
  await Bun.write(script, mixScript());
  const url = new URL(server.address).origin;
  const shape = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}`, "--latency", "--timeout", "30s", "-s", script];
  const { output, cpuSeconds } = await run(LOAD_CORE, ["wrk", ...shape, "-H", `Authorization: Bearer ${key}`, url]);
  const figures = (/^sum (.*)$/m.exec(output)?.[1] ?? "").split(" ").map(Number);
  const [requests, errors, p50, p99, worst] = figures as [number, number, number, number, number];
  return { requests, errors, coreShare: cpuSeconds / seconds, p50, p99, worst };
}

/** Pauses are as random as those of clients who know nothing of each other, around a mean that is read again now and then. */
function mixScript(): string {
  return `
local ids = { ${ids.map((id) => `"${id}"`).join(", ")} }
local base = "${new URL(server.address).pathname}"
local mean, answers = 0, 0
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
  answers = answers + 1
  if answers % 500 == 0 then read() end
  return math.floor(-mean * math.log(1 - math.random()) + math.random())
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("sum %d %d %.3f %.3f %.3f\\n", summary.requests, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end`;
}

/** Lengthens and shortens the clients' pauses, half the way at a time, until the server uses the wanted share of its core. */
async function steer(): Promise<void> {
  let pauseMs = 8;
  await Bun.write(delayFile, String(pauseMs));
  let before = { at: performance.now(), computed: computedSeconds(server.process.pid) };
  while (soaking) {
    await Bun.sleep(STEER_EVERY_MS);
    const present = { at: performance.now(), computed: computedSeconds(server.process.pid) };
    const share = (present.computed - before.computed) / ((present.at - before.at) / 1000);
    before = present;
    shares.push(share);
    pauseMs = Math.min(1000, Math.max(0.1, pauseMs * Math.sqrt(share / SHARE_OF_CORE)));
    await Bun.write(delayFile, String(pauseMs));
  }
}

/** What a process has computed so far, threads that have ended included. Linux counts it in hundredths of a second here. */
function computedSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** How long a process's main thread has been ready to run, and did not. */
function waitedSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e9;
}

/** What a health check feels: one at a time. */
function startProbe(): { answers: ProbeAnswer[]; stop: () => Promise<void> } {
  const isRoot = process.getuid?.() === 0;
  const goesFirst = isRoot ? ["chrt", "--fifo", "1"] : [];
  const child = Bun.spawn(
    [...goesFirst, "taskset", "-c", String(LOAD_CORE), process.execPath, "-e", probeScript(), `${server.address}/meta`],
    {
      stdin: "pipe",
      stdout: "pipe",
    },
  );
  const answers: ProbeAnswer[] = [];
  const reading = readLines(child.stdout, (line) => {
    const [took, waited, stolen] = line.split(" ").map(Number) as [number, number, number];
    answers.push({ took, waited, stolen });
  });
  const stop = async () => {
    child.stdin.end();
    await reading;
  };
  return { answers, stop };
}

/** Prints what each answer took, how long the process waited for its core meanwhile, and what was stolen (Linux notes that later, and in hundredths of a second). Ends when its standard input does. */
function probeScript(): string {
  return `
import { readFileSync } from "node:fs";
const waited = () => Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
const stolen = () => Number(readFileSync("/proc/stat", "utf8").split(/\\s+/, 9)[8]) * 10;
let on = true;
void Bun.stdin.text().then(() => { on = false; });
while (on) {
  const [waitedBefore, stolenBefore] = [waited(), stolen()];
  const started = performance.now();
  await fetch(process.argv[1]).then((answer) => answer.arrayBuffer());
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

/** The same records with other titles, so that an import of this file after the other one changes all of them. */
async function writeInput(turn: string, index: number): Promise<string> {
  const file = join(workDirectory, `soak-${index}.ndjson`);
  const records = Array.from({ length: IMPORTED }, (_, number) => ({ ...generateRecord(1, number), title: `Title of ${turn}` }));
  await Bun.write(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

async function importNowAndThen(): Promise<void> {
  let seconds = 0;
  for (; soaking; imports++) {
    const file = inputs[imports % inputs.length] as string;
    seconds += (await run(LOAD_CORE, ["nice", "-n", "19", ...product, "import", "records", file, "--data", directory])).seconds;
    importsSeconds = seconds / (imports + 1);
    for (const until = performance.now() + IMPORT_EVERY_MS; soaking && performance.now() < until; ) await Bun.sleep(100);
  }
}

async function idsOf(count: number): Promise<string[]> {
  const answer = await fetch(`${server.address}/opportunities?limit=${count}`, { headers: { Authorization: `Bearer ${key}` } });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

function rowOf(
  { requests, shares, waitedShare, coreShare, p50, p99, worst, answers, residentMb, imports }: Slice,
  index: number,
): Record<string, string | number> {
  const took = answers.map((answer) => answer.took);
  return {
    minute: ((index + 1) * SLICE_SECONDS) / 60,
    "requests/s": requests / SLICE_SECONDS,
    "server's core, %": spread(shares),
    "waited for it, %": waitedShare * 100,
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

/** Lowest, mean and highest, in percent. */
function spread(shares: readonly number[]): string {
  return [Math.min(...shares), mean(shares), Math.max(...shares)].map((share) => round(share * 100)).join(" / ");
}

function summaryOf(slices: readonly Slice[]): string {
  const requests = slices.reduce((sum, slice) => sum + slice.requests, 0);
  const answers = slices.flatMap((slice) => slice.answers);
  const took = answers.map((answer) => answer.took);
  const [p50, p99, worst] = [0.5, 0.99, 1].map((share) => round(quantile(took, share)));
  const stolen = answers.filter((answer) => answer.stolen > 0);
  return [
    `${requests.toLocaleString("en-US")} requests, which took ${spread(slices.flatMap(({ shares }) => shares))} % of the server's core (lowest, mean and highest second);`,
    `${imports} imports of ${IMPORTED} changed records in ${round(importsSeconds)} s each;`,
    `p99 ${round(Math.max(...slices.map(({ p99 }) => p99)))} ms in the worst half minute, the worst request ${round(Math.max(...slices.map((slice) => slice.worst)))} ms;`,
    `/meta, ${answers.length} times: p50 ${p50}, p99 ${p99}, worst ${worst} ms, of which its client waited for its core ${round(Math.max(...answers.map(({ waited }) => waited)))} ms at most;`,
    `while the hypervisor had a core, ${stolen.length} of them: worst ${round(Math.max(0, ...stolen.map((answer) => answer.took)))} ms.`,
  ].join("\n");
}

function barsOf(slices: readonly Slice[]): Bar[] {
  const resident = slices.map(({ residentMb }) => residentMb);
  const third = Math.ceil(resident.length / 3);
  const errors = slices.reduce((sum, slice) => sum + slice.errors, 0);
  const undisturbed = slices.flatMap(({ answers }) => answers).filter(({ stolen }) => stolen === 0);
  return [
    atMost("errors", errors, 0),
    atMost(
      "resident memory, the last third against the first",
      mean(resident.slice(-third)) / mean(resident.slice(0, third)),
      GROWTH,
      " ×",
    ),
    atLeast(
      "/meta, answers while the machine had its cores",
      undisturbed.length / slices.flatMap(({ answers }) => answers).length,
      0.9,
      " ×",
    ),
    atMost("/meta, worst while the machine had its cores", Math.max(...undisturbed.map(({ took }) => took)), 50, " ms"),
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
