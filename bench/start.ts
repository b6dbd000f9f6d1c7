/** The time from the command to `listening`, and memory at rest. */
import { join } from "node:path";
import { generatedCatalog } from "./catalog.ts";
import { fundfeed, LOAD_CORE, residentBytes, run, SERVER_CORE, serve, workDirectory } from "./processes.ts";
import { median, megabytes, printAlone, type Section, table } from "./report.ts";

const RECORDS = 1_000_000;
const SMALLER = 100_000;
const ROUNDS = 3;
/** After this time without requests, a server is at rest. */
const REST_MS = 3000;

const binary = join(workDirectory, "fundfeed");

export async function startBenchmark(): Promise<Section> {
  await run(LOAD_CORE, [process.execPath, "run", "--cwd", join(import.meta.dir, ".."), "build", "--outfile", binary]);
  const programs: [string, string[]][] = [
    ["bun src/main.ts", fundfeed],
    ["binary", [binary]],
  ];
  const rows = [];
  for (const [name, program] of programs) {
    for (const records of [SMALLER, RECORDS])
      rows.push({ Program: name, records, ...(await measureStarts(program, await generatedCatalog(records))) });
    rows.push({ Program: name, records: "version", "listening, ms": (await versionSeconds(program)) * 1000, "resident, MB": "–" });
  }
  return { title: "Start", text: table(rows), goals: [] };
}

async function measureStarts(program: string[], directory: string) {
  const times: number[] = [];
  const resident: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await serve([...program, "serve", "--port", "0", "--data", directory]);
    times.push(server.startedInMs);
    await Bun.sleep(REST_MS);
    resident.push(megabytes(await residentBytes(server.process.pid)));
    await server.stop();
  }
  return { "listening, ms": median(times), "resident, MB": median(resident) };
}

async function versionSeconds(program: string[]): Promise<number> {
  const runs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) runs.push((await run(SERVER_CORE, [...program, "version"])).seconds);
  return median(runs);
}

if (import.meta.main) await printAlone(startBenchmark);
