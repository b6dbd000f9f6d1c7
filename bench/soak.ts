/**
 * A soak: mixed traffic at four fifths of what the server can take, with imports running beside it, for ten minutes (`bun bench/soak.ts
 * [minutes]`). What must hold: no error, memory that does not grow, and `/meta` within 50 ms throughout.
 */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { catalogueOf, warm } from "./catalogue.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { LOAD_CORE, product, residentBytes, run, serve, workDirectory } from "./processes.ts";
import { megabytes, quantile, table } from "./report.ts";

const RECORDS = 100_000;
const CONNECTIONS = 16;
const CAPACITY_SECONDS = 10;
const SHARE_OF_CAPACITY = 0.8;
/** Between two imports, each of so many changed records. */
const IMPORT_EVERY_MS = 20_000;
const IMPORTED = 2000;
const PROBE_EVERY_MS = 250;
const SAMPLE_EVERY_MS = 30_000;

const minutes = Number(process.argv[2] ?? 10);
const directory = join(workDirectory, "soak");
rmSync(directory, { recursive: true, force: true });
cpSync(catalogueOf(RECORDS), directory, { recursive: true });
await warm(directory);
const key = await createBenchKey(directory);
const server = await serve([...product, "serve", "--port", "0", "--data", directory]);
const headers = { Authorization: `Bearer ${key}`, "Accept-Encoding": "identity" };

const tally = { requests: 0, errors: 0, latencies: [] as number[] };
const ids = await idsOf(100);
const capacity = await measureCapacity();
const rate = capacity * SHARE_OF_CAPACITY;
process.stderr.write(
  `capacity ${Math.round(capacity)} requests/s with this client; soaking at ${Math.round(rate)} for ${minutes} minutes\n`,
);

const end = performance.now() + minutes * 60_000;
const meta: number[] = [];
const memory: { minute: number; requests: number; "p99 ms": number; "resident MB": number; imports: number }[] = [];
let imports = 0;
tally.requests = 0;
await Promise.all([soak(), probe(), importNowAndThen(), sample()]);
await server.stop();
rmSync(directory, { recursive: true, force: true });

process.stdout.write(`${table(memory)}\n\n`);
process.stdout.write(
  `${tally.requests} requests, ${tally.errors} errors, ${imports} imports; /meta: p99 ${quantile(meta, 0.99).toFixed(1)} ms, worst ${Math.max(...meta).toFixed(1)} ms\n`,
);
process.exit(tally.errors === 0 ? 0 : 1);

/** Lists, filtered lists, details, conditional details and histories, as clients mix them. */
function aPath(): string {
  const id = ids[Math.floor(Math.random() * ids.length)];
  const dice = Math.random();
  if (dice < 0.25) return "/opportunities";
  if (dice < 0.4) return "/opportunities?status=open&limit=10";
  if (dice < 0.5) return "/opportunities?agency=health&updated_since=2024-01-01T00:00:00Z";
  if (dice < 0.85) return `/opportunities/${id}`;
  return dice < 0.95 ? `/opportunities/${id}/events?include_insignificant=true` : "/sources";
}

async function ask(path: string): Promise<void> {
  const started = performance.now();
  try {
    const answer = await fetch(server.address + path, { headers });
    await answer.arrayBuffer();
    if (answer.status !== 200) tally.errors++;
  } catch {
    tally.errors++;
  }
  tally.requests++;
  tally.latencies.push(performance.now() - started);
}

async function measureCapacity(): Promise<number> {
  const until = performance.now() + CAPACITY_SECONDS * 1000;
  const work = async () => {
    while (performance.now() < until) await ask(aPath());
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const perSecond = tally.requests / CAPACITY_SECONDS;
  tally.latencies = [];
  return perSecond;
}

/** An open loop: requests are sent when they are due, whether or not the server keeps up. */
async function soak(): Promise<void> {
  const started = performance.now();
  const pending = new Set<Promise<void>>();
  for (let sent = 0; performance.now() < end; ) {
    const due = Math.floor(((performance.now() - started) / 1000) * rate);
    for (; sent < due; sent++) {
      const request = ask(aPath()).finally(() => pending.delete(request));
      pending.add(request);
    }
    await Bun.sleep(2);
  }
  await Promise.all(pending);
}

/** What a health check feels: one at a time, on its own connection. */
async function probe(): Promise<void> {
  while (performance.now() < end) {
    const started = performance.now();
    await fetch(`${server.address}/meta`).then((answer) => answer.arrayBuffer());
    meta.push(performance.now() - started);
    await Bun.sleep(PROBE_EVERY_MS);
  }
}

async function importNowAndThen(): Promise<void> {
  for (; performance.now() < end - IMPORT_EVERY_MS; imports++) {
    const file = join(workDirectory, "soak.ndjson");
    const lines = Array.from({ length: IMPORTED }, (_, index) => ({ ...generateRecord(1, index), title: `Title of turn ${imports}` }));
    await Bun.write(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await run(LOAD_CORE, [...product, "import", "records", file, "--data", directory]);
    await Bun.sleep(IMPORT_EVERY_MS);
  }
}

async function sample(): Promise<void> {
  for (let taken = 1; performance.now() < end - 1000; taken++) {
    await Bun.sleep(Math.min(SAMPLE_EVERY_MS, end - performance.now()));
    const latencies = tally.latencies;
    tally.latencies = [];
    const resident = await residentBytes(server.process.pid);
    memory.push({
      minute: (taken * SAMPLE_EVERY_MS) / 60_000,
      requests: tally.requests,
      "p99 ms": quantile(latencies, 0.99),
      "resident MB": megabytes(resident),
      imports,
    });
  }
}

async function idsOf(count: number): Promise<string[]> {
  const answer = await fetch(`${server.address}/opportunities?limit=${count}`, { headers });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}
