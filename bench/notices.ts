/**
 * SAM.gov's bulk CSV, compared with what people would write for it: `bun bench/notices.ts [CSV] [PROGRAM…]`. The first import is compared
 * with `sqlite-utils insert --csv --detect-types`, which sqlite-utils 4 does by default, and the same file again with a Python script that
 * reads, hashes and compares each row. Without a file, it repeats the excerpt. All run in turn, and ratios are medians of CPU time. Needs
 * Python 3 and Debian's sqlite-utils.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { csvRows } from "../src/import/readers/csv-rows.ts";
import { realFile } from "../tests/support/real-data.ts";
import { LOAD_CORE, run, runMeasured, workDirectory } from "./processes.ts";
import { atMost, median, printAlone, type Section, table } from "./report.ts";

const EXCERPT = "sam-gov/derived/ContractOpportunitiesFullCSV-20260425.reconstructed.csv";
const REPEATED = 12;
const ROUNDS = 7;
/** The goals: a first import compared with sqlite-utils, and another one of the same file with the script. */
const [FIRST_MAX, AGAIN_MAX] = [1.5, 1.5];

const binary = join(workDirectory, "fundfeed");
const [given, ...others] = process.argv.slice(2);

/** Measures imports of one file by each program. Throws if one fails. */
async function noticesBenchmark(): Promise<Section> {
  const file = given ?? (await writeRepeated());
  if (others.length === 0)
    await run(LOAD_CORE, [process.execPath, "run", "--cwd", join(import.meta.dir, ".."), "build", "--outfile", binary]);
  const programs = others.length === 0 ? [binary] : others;
  const times = new Map<string, number[]>();
  const measure = async (what: string, command: string[]) => {
    const { cpuSeconds } = await runMeasured(LOAD_CORE, command);
    times.set(what, [...(times.get(what) ?? []), cpuSeconds]);
  };
  const [database, script] = [join(workDirectory, "notices.db"), join(workDirectory, "rows.db")];
  rmSync(script, { force: true });
  const compareRows = ["python3", join(import.meta.dir, "peer/rows.py"), file, "NoticeId", script];
  await run(LOAD_CORE, compareRows);
  for (let round = 0; round < ROUNDS; round++) {
    rmSync(database, { force: true });
    const layout = ["--csv", "--pk", "NoticeId", "--encoding", "windows-1252", "--detect-types"];
    await measure(PEER_FIRST, ["sqlite-utils", "insert", database, "rows", file, ...layout]);
    await measure(PEER_AGAIN, compareRows);
    for (const program of programs) {
      const directory = join(workDirectory, "notices");
      rmSync(directory, { recursive: true, force: true });
      for (const what of ["first", "again"])
        await measure(`${program}, ${what}`, [program, "import", "sam-gov", file, "--data", directory]);
    }
  }
  const ratio = (what: string, peer: string) =>
    median((times.get(what) ?? []).map((seconds, round) => seconds / (times.get(peer)?.[round] ?? Number.NaN)));
  const goals = programs.flatMap((program) => [
    atMost(`${program}, first, compared with ${PEER_FIRST}`, ratio(`${program}, first`, PEER_FIRST), FIRST_MAX, " ×"),
    atMost(`${program}, again, compared with ${PEER_AGAIN}`, ratio(`${program}, again`, PEER_AGAIN), AGAIN_MAX, " ×"),
  ]);
  const rows = [...times].map(([What, seconds]) => ({ What, "CPU seconds": median(seconds) }));
  return { title: "Notices of SAM.gov", text: table(rows), goals };
}

const PEER_FIRST = "sqlite-utils insert --csv --detect-types";
const PEER_AGAIN = "the Python script";

/** Writes the excerpt several times with other ids and numbers. */
async function writeRepeated(): Promise<string> {
  async function* bytes(): AsyncIterable<Uint8Array> {
    yield realFile(EXCERPT);
  }
  const path = join(workDirectory, "notices.csv");
  const out = Bun.file(path).writer();
  const line = (cells: string[]) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;
  let isFirst = true;
  for await (const { raw: row } of csvRows(bytes(), [], "windows-1252")) {
    if (isFirst) out.write(line(Object.keys(row)));
    isFirst = false;
    for (let time = 0; time < REPEATED; time++)
      out.write(line(Object.values({ ...row, NoticeId: `${row.NoticeId}-${time}`, "Sol#": `${row["Sol#"]}-${time}` })));
  }
  await out.end();
  return path;
}

if (import.meta.main) await printAlone(noticesBenchmark);
