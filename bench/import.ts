/** CPU time and memory of imports, compared with bare inserts of the same rows, and how much an import slows down readers. */
import { Database } from "bun:sqlite";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generatedCatalog } from "./catalog.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { fundfeed, LOAD_CORE, run, runMeasured, serve, type Usage, workDirectory } from "./processes.ts";
import { atMost, type Goal, megabytes, printAlone, quantile, type Section, table } from "./report.ts";

const RECORDS = 100_000;
/** The size of the real extract in 2026: 82,000 synopses in about 320 MB. */
const SYNOPSES = 82_000;
const DESCRIPTION_REPEATS = 4;
const EXTRACT = join(import.meta.dir, "../tests/data/grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz");
const RESIDENT_MB = 300;

/** Goals for ratios of CPU time per record, which other programs on the machine hardly change. */
const FIRST_PER_BARE = 5;
const CHANGED_PER_FIRST = 1.7;
const UNCHANGED_PER_FIRST = 0.3;

/** Measures imports of generated records and of an extract, and readers during an import. Throws if an import fails. */
export async function importBenchmark(): Promise<Section> {
  const [first, changed] = [await writeRecords("first.ndjson", false), await writeRecords("changed.ndjson", true)];
  const ofRecords = await importThrice("records", "records", RECORDS, first, changed);
  const [extract, changedExtract] = [await writeExtract("extract.xml", false), await writeExtract("changed.xml", true)];
  const ofExtract = await importThrice("Grants.gov extract", "grants-gov", SYNOPSES, extract, changedExtract);
  const readers = await readersDuringImport(changed);

  const rows = [...ofRecords.writes, ...ofExtract.writes].map(({ name, records, seconds, cpuSeconds, peakBytes }) => ({
    Import: name,
    records,
    "records/s": records / seconds,
    seconds,
    "CPU µs per record": (cpuSeconds / records) * 1e6,
    "peak MB": peakBytes === undefined ? "–" : megabytes(peakBytes),
  }));
  const text = `${table(rows)}\n\nReaders' p99 (200 requests/s): ${readers.idleMs.toFixed(1)} ms idle, ${readers.busyMs.toFixed(1)} ms while an import of changed records writes.`;
  const goals = [
    ...ofRecords.goals,
    ...ofExtract.goals,
    atMost("readers' p99 while an import writes, compared with idle", readers.busyMs / readers.idleMs, 3, " ×"),
  ];
  return { title: "Imports", text, goals };
}

type Write = Omit<Usage, "peakBytes"> & { name: string; records: number; peakBytes?: number };

/** Imports a file into an empty catalog, then one with every record changed, then the same one again. Also inserts the rows of the first import without the program. */
async function importThrice(
  what: string,
  format: string,
  records: number,
  file: string,
  changedFile: string,
): Promise<{ writes: Write[]; goals: Goal[] }> {
  const directory = emptyDirectory(`import-${format}`);
  const importInto = async (name: string, file: string) => ({
    name: `${what}, ${name}`,
    records,
    ...(await importOf(format, file, directory)),
  });
  const first = await importInto("first", file);
  const bare = await bareInserts(`its rows, bare inserts`, directory);
  const changed = await importInto("every record changed", changedFile);
  const unchanged = await importInto("no record changed", changedFile);
  const ratio = (write: Write, other: Write) => write.cpuSeconds / write.records / (other.cpuSeconds / other.records);
  const goals = [
    atMost(`CPU of ${first.name}, compared with bare inserts`, ratio(first, bare), FIRST_PER_BARE, " ×"),
    atMost(`CPU of ${changed.name}, compared with the first`, ratio(changed, first), CHANGED_PER_FIRST, " ×"),
    atMost(`CPU of ${unchanged.name}, compared with the first`, ratio(unchanged, first), UNCHANGED_PER_FIRST, " ×"),
    ...[first, changed, unchanged].map(({ name, peakBytes }) => atMost(`peak memory of ${name}`, megabytes(peakBytes), RESIDENT_MB, " MB")),
  ];
  return { writes: [first, bare, changed, unchanged], goals };
}

/** Runs an import. It first writes cached data to disk, because the import's own writes would have to wait for that. */
async function importOf(format: string, file: string, directory: string): Promise<Usage> {
  await run(LOAD_CORE, ["sync"]);
  return runMeasured(LOAD_CORE, [...fundfeed, "import", format, file, "--data", directory]);
}

/** Inserts the rows of a catalog without the program. A first import is compared with this, because both vary with the machine. */
async function bareInserts(name: string, directory: string): Promise<Write> {
  const { output } = await run(LOAD_CORE, [
    process.execPath,
    join(import.meta.dir, "bare-inserts.ts"),
    directory,
    emptyDirectory("bare-inserts"),
  ]);
  return { name, ...JSON.parse(output) };
}

function emptyDirectory(name: string): string {
  const directory = join(workDirectory, name);
  rmSync(directory, { recursive: true, force: true });
  return directory;
}

async function writeRecords(name: string, changed: boolean): Promise<string> {
  return await writeLines(name, RECORDS, (index) => `${JSON.stringify(generateRecord(1, index, changed))}\n`);
}

/** Writes an extract that repeats the real synopses with new ids. Descriptions get their usual length, because the excerpt has truncated ones. */
async function writeExtract(name: string, changed: boolean): Promise<string> {
  const xml = new TextDecoder().decode(Bun.gunzipSync(await Bun.file(EXTRACT).bytes()));
  const synopses = xml.match(/\t<OpportunitySynopsisDetail_1_0>[\s\S]*?<\/OpportunitySynopsisDetail_1_0>\n/g) ?? [];
  const head = xml.slice(0, xml.indexOf(synopses[0] ?? ""));
  const synopsis = (index: number) =>
    (synopses[index % synopses.length] ?? "")
      .replace(/(<OpportunityID>)\d+/, `$1${1_000_000 + index}`)
      .replace(/(<Description>)([^<]*)/, (_, tag, text) => tag + (changed ? "Amended. " : "") + text.repeat(DESCRIPTION_REPEATS));
  return await writeLines(
    name,
    SYNOPSES,
    (index) => (index === 0 ? head : "") + synopsis(index) + (index === SYNOPSES - 1 ? "</Grants>\n" : ""),
  );
}

async function writeLines(name: string, count: number, line: (index: number) => string): Promise<string> {
  const path = join(workDirectory, name);
  const out = Bun.file(path).writer();
  for (let index = 0; index < count; index++) {
    out.write(line(index));
    if (index % 1000 === 0) await out.flush();
  }
  await out.end();
  return path;
}

/** Returns the p99 of a light, steady load on a server, before an import of changed records and while it writes. */
async function readersDuringImport(changed: string): Promise<{ idleMs: number; busyMs: number }> {
  const directory = emptyDirectory("readers");
  cpSync(await generatedCatalog(RECORDS), directory, { recursive: true });
  const headers = { Authorization: `Bearer ${await createBenchKey(directory)}` };
  const server = await serve([...fundfeed, "serve", "--port", "0", "--data", directory]);
  try {
    const read = async () => {
      const started = performance.now();
      await (await fetch(`${server.address}/opportunities?status=open`, { headers })).arrayBuffer();
      const took = performance.now() - started;
      await Bun.sleep(Math.max(0, 5 - took));
      return took;
    };
    for (let request = 0; request < 400; request++) await read();
    const idle: number[] = [];
    for (let request = 0; request < 1000; request++) idle.push(await read());

    const importing = { done: false };
    const imported = importOf("records", changed, directory).finally(() => {
      importing.done = true;
    });
    const hasWritten = watchCommits(directory);
    const busy: number[] = [];
    while (!importing.done) {
      const took = await read();
      if (hasWritten()) busy.push(took);
    }
    await imported;
    return { idleMs: quantile(idle, 0.99), busyMs: quantile(busy, 0.99) };
  } finally {
    await server.stop();
  }
}

/** Returns a function that tells whether anything has been committed since. */
function watchCommits(directory: string): () => boolean {
  const db = new Database(join(directory, "catalog.db"), { readonly: true });
  const newest = db.query<[number], []>("select max(updated_at) from opportunities");
  const before = newest.values().flat()[0] ?? 0;
  return () => (newest.values().flat()[0] ?? 0) > before;
}

if (import.meta.main) await printAlone(importBenchmark);
