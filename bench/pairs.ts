/**
 * What one program costs beside another, both measured in turn, so that whatever else the machine does meets both: processor time of a request,
 * the start, and memory. Each begins with the same records in a directory of its own.
 *
 *   bun bench/pairs.ts "OLD serve" "NEW serve"
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cpuMicroseconds, LOAD_CORE, residentBytes, run, type Server, serve, workDirectory } from "./processes.ts";
import { median, megabytes, table } from "./report.ts";

const STARTS = 15;
const ROUNDS = 60;
const REQUESTS = 1000;
const AT_ONCE = 8;
/** After this time without requests, a server is at rest. */
const REST_MS = 3000;
const RECORDS = join(import.meta.dir, "../src/cli/demo-sample/grants-gov-20260803.xml.gz");
/** `ID` is that of a record. */
const KINDS: { readonly [kind: string]: readonly string[] } = {
  list: ["/opportunities?limit=5", "/opportunities?status=open&limit=20"],
  record: ["/opportunities/ID"],
  other: ["/sources", "/meta"],
};

const compared = process.argv.slice(2).map((text) => text.split(" "));
const sides = await Promise.all(compared.map(prepare));

const starts = sides.map(() => ({ listening: [] as number[], cpu: [] as number[], resident: [] as number[] }));
for (let round = 0; round < STARTS; round++) {
  for (const [n, { start }] of sides.entries()) {
    const server = await start();
    starts[n]?.listening.push(server.startedInMs);
    starts[n]?.cpu.push(cpuMicroseconds(server.process.pid) / 1000);
    await Bun.sleep(REST_MS);
    starts[n]?.resident.push(megabytes(await residentBytes(server.process.pid)));
    await server.stop();
  }
}

const costs = sides.map(() => Object.keys(KINDS).map(() => [] as number[]));
const servers = await Promise.all(sides.map(({ start }) => start()));
for (let round = -1; round < ROUNDS; round++) {
  const turns = [...servers.entries()];
  for (const [n, server] of round % 2 === 0 ? turns : turns.reverse()) {
    for (const [k, paths] of Object.values(KINDS).entries()) {
      const cost = await costOf(server, sides[n]?.key ?? "", paths);
      if (round >= 0) costs[n]?.[k]?.push(cost); // The first round warms up.
    }
  }
}
await Promise.all(servers.map(({ stop }) => stop()));
for (const { data } of sides) rmSync(data, { recursive: true });

const rows = compared.map((command, n) => ({
  Program: command.join(" "),
  ...Object.fromEntries(
    Object.keys(KINDS).flatMap((kind, k) => {
      const [own = [], first = []] = [costs[n]?.[k], costs[0]?.[k]];
      return [
        [`${kind}, µs`, median(own)],
        [`${kind}, of the first`, median(own.map((cost, round) => cost / (first[round] ?? Number.NaN)))],
      ];
    }),
  ),
  "listening, ms": median(starts[n]?.listening ?? []),
  "processor until then, ms": median(starts[n]?.cpu ?? []),
  "resident, MB": median(starts[n]?.resident ?? []),
}));
process.stdout.write(`${table(rows)}\n`);

async function prepare([program = "", ...command]: string[]) {
  const data = mkdtempSync(join(workDirectory, "pair-"));
  const at = ["--data", data];
  await run(LOAD_CORE, [program, "import", "grants-gov", RECORDS, ...at]);
  await run(LOAD_CORE, [program, "plans", "set", "endless", "--daily", "1000000000", "--per-minute", "1000000000", ...at]);
  const { output } = await run(LOAD_CORE, [program, "keys", "create", "--account", "a", "--plan", "endless", ...at]);
  return { data, key: output.trim(), start: () => serve([program, ...command, "--port", "0", ...at]) };
}

/** Microseconds of the processor for one request to these paths. */
async function costOf({ address, process: { pid } }: Server, key: string, kind: readonly string[]): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` };
  const list = (await (await fetch(`${address}/opportunities?limit=1`, { headers })).json()) as { data: [{ id: string }] };
  const paths = kind.map((path) => path.replace("ID", list.data[0].id));
  const before = cpuMicroseconds(pid);
  let sent = 0;
  const send = async () => {
    while (sent < REQUESTS) {
      const response = await fetch(address + paths[sent++ % paths.length], { headers });
      if (!response.ok) throw new Error(`${response.url} got ${response.status}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  return (cpuMicroseconds(pid) - before) / REQUESTS;
}
