/**
 * A soak: mixed traffic at four fifths of what the server can take, with imports running beside it, for ten minutes (`bun bench/soak.ts
 * [minutes]`). What must hold: no error, memory that does not grow, and `/meta` within 50 ms throughout. Needs `wrk`.
 *
 * The server has its core to itself. On the other one are the load, whose client is a small C program, the probe, a process of its own so
 * that it waits for nobody, and the imports, which take what is left (`nice`).
 */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { catalogueOf, warm } from "./catalogue.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { computedMicroseconds, LOAD_CORE, product, residentBytes, run, serve, workDirectory } from "./processes.ts";
import { megabytes, quantile, table } from "./report.ts";

const RECORDS = 100_000;
const CONNECTIONS = 64;
const CAPACITY_SECONDS = 10;
const SHARE_OF_CAPACITY = 0.8;
/** Between two imports, each of so many changed records. */
const IMPORT_EVERY_MS = 20_000;
const IMPORTED = 2000;
const PROBE_EVERY_MS = 100;
const SLICE_SECONDS = 30;

const minutes = Number(process.argv[2] ?? 10);
const directory = join(workDirectory, "soak");
rmSync(directory, { recursive: true, force: true });
cpSync(catalogueOf(RECORDS), directory, { recursive: true });
await warm(directory);
const key = await createBenchKey(directory);
const server = await serve([...product, "serve", "--port", "0", "--data", directory]);
const ids = await idsOf(100);

const capacity = (await load(CAPACITY_SECONDS, 0)).perSecond;
const wanted = capacity * SHARE_OF_CAPACITY;
let delayMs = (CONNECTIONS / wanted) * 1000;
process.stderr.write(`capacity ${Math.round(capacity)} requests/s; soaking at four fifths of it for ${minutes} minutes\n`);

let soaking = true;
let imports = 0;
let importsSeconds = 0;
const importing = importNowAndThen();
const probe = Bun.spawn(["taskset", "-c", String(LOAD_CORE), process.execPath, "-e", probeScript(), `${server.address}/meta`], {
  stdin: "pipe",
  stdout: "pipe",
});
const slices: Record<string, number>[] = [];
const total = { requests: 0, errors: 0 };
for (let slice = 1; slice <= (minutes * 60) / SLICE_SECONDS; slice++) {
  const before = computedMicroseconds(server.process.pid);
  const { requests, errors, p50, p99, worst } = await load(SLICE_SECONDS, delayMs);
  delayMs *= requests / SLICE_SECONDS / wanted; // What an answer takes adds to the delay.
  total.requests += requests;
  total.errors += errors;
  slices.push({
    minute: (slice * SLICE_SECONDS) / 60,
    "requests/s": requests / SLICE_SECONDS,
    "server's core, %": (computedMicroseconds(server.process.pid) - before) / SLICE_SECONDS / 10_000,
    "p50 ms": p50,
    "p99 ms": p99,
    "worst ms": worst,
    "resident MB": megabytes(await residentBytes(server.process.pid)),
    imports,
  });
}
soaking = false;
probe.stdin.end();
const meta = JSON.parse(await new Response(probe.stdout).text()) as number[];
await importing;
await server.stop();
rmSync(directory, { recursive: true, force: true });

process.stdout.write(`${table(slices)}\n\n`);
process.stdout.write(
  `${total.requests} requests, ${total.errors} errors, ${imports} imports of ${IMPORTED} changed records in ${importsSeconds.toFixed(1)} s each; ` +
    `/meta, ${meta.length} times: p50 ${quantile(meta, 0.5).toFixed(1)}, p99 ${quantile(meta, 0.99).toFixed(1)}, worst ${Math.max(...meta).toFixed(1)} ms\n`,
);
process.exit(total.errors === 0 ? 0 : 1);

type Slice = { requests: number; errors: number; perSecond: number; p50: number; p99: number; worst: number };

/** Lists, filtered lists, details and histories, as clients mix them; each connection waits `delayMs` between two requests. */
async function load(seconds: number, delayMs: number): Promise<Slice> {
  const script = join(workDirectory, "soak.lua");
  await Bun.write(script, mixScript(delayMs));
  const url = new URL(server.address).origin;
  const shape = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}`, "--latency", "--timeout", "30s", "-s", script];
  const { output } = await run(LOAD_CORE, ["wrk", ...shape, "-H", `Authorization: Bearer ${key}`, url]);
  const [requests, errors, p50, p99, worst] = (/^sum (.*)$/m.exec(output)?.[1] ?? "").split(" ").map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return { requests, errors, perSecond: requests / seconds, p50, p99, worst };
}

/** wrk's whole milliseconds of delay are spread at random, so that the rate is the one that is wanted. */
function mixScript(delayMs: number): string {
  return `
local ids = { ${ids.map((id) => `"${id}"`).join(", ")} }
local base = "${new URL(server.address).pathname}"
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
${delayMs === 0 ? "" : `function delay() return math.floor(${delayMs} + math.random()) end`}
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("sum %d %d %.3f %.3f %.3f\\n", summary.requests, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end`;
}

/** What a health check feels: one at a time. Ends when its standard input does, and prints all times in milliseconds. */
function probeScript(): string {
  return `
const times = [];
let on = true;
void Bun.stdin.text().then(() => { on = false; });
while (on) {
  const started = performance.now();
  await fetch(process.argv[1]).then((answer) => answer.arrayBuffer());
  times.push(performance.now() - started);
  await Bun.sleep(${PROBE_EVERY_MS});
}
console.log(JSON.stringify(times));
process.exit();`;
}

async function importNowAndThen(): Promise<void> {
  let seconds = 0;
  for (; soaking; imports++) {
    const file = join(workDirectory, "soak.ndjson");
    const lines = Array.from({ length: IMPORTED }, (_, index) => ({ ...generateRecord(1, index), title: `Title of turn ${imports}` }));
    await Bun.write(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
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
