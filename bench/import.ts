/** What `import` computes and holds, beside what SQLite alone needs for the same rows, and what readers feel meanwhile. */
import { Database } from "bun:sqlite";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { catalogOf } from "./catalog.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { LOAD_CORE, measured, product, run, serve, type Used, workDirectory } from "./processes.ts";
import { atMost, type Bar, megabytes, printAlone, quantile, type Section, table } from "./report.ts";

const RECORDS = 100_000;
/** As large as the real extract was in 2026: 82,000 synopses in some 320 MB. */
const SYNOPSES = 82_000;
const DESCRIPTION_TIMES = 4;
const EXTRACT = join(import.meta.dir, "../tests/data/grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz");
const RESIDENT_MB = 300;

/** Bars: processor time a record, which a busy machine hardly changes. */
const FIRST_AGAINST_SQLITE = 5;
const CHANGED_AGAINST_FIRST = 1.7;
const UNCHANGED_AGAINST_FIRST = 0.3;

export async function importBenchmark(): Promise<Section> {
  const [first, changed] = [await writeRecords("first.ndjson", false), await writeRecords("changed.ndjson", true)];
  const ofRecords = await importThrice("records", "records", RECORDS, first, changed);
  const [extract, changedExtract] = [await writeExtract("extract.xml", false), await writeExtract("changed.xml", true)];
  const ofExtract = await importThrice("Grants.gov extract", "grants-gov", SYNOPSES, extract, changedExtract);
  const readers = await readersMeanwhile(changed);

  const rows = [...ofRecords.writes, ...ofExtract.writes].map(({ name, records, seconds, cpuSeconds, peakBytes }) => ({
    Import: name,
    records,
    "records/s": records / seconds,
    seconds,
    "µs computed a record": (cpuSeconds / records) * 1e6,
    "peak MB": peakBytes === undefined ? "–" : megabytes(peakBytes),
  }));
  const text = `${table(rows)}\n\nReaders' p99 (200 requests/s): ${readers.idleMs.toFixed(1)} ms idle, ${readers.busyMs.toFixed(1)} ms while an import of changed records writes.`;
  const bars = [
    ...ofRecords.bars,
    ...ofExtract.bars,
    atMost("readers' p99 while an import writes, against idle", readers.busyMs / readers.idleMs, 3, " ×"),
  ];
  return { title: "Imports", text, bars };
}

/** Something that wrote so many records. */
type Write = Omit<Used, "peakBytes"> & { name: string; records: number; peakBytes?: number };

/** Into an empty catalog, then with every record changed, then the same again; and what SQLite alone needs for the rows of the first. */
async function importThrice(
  what: string,
  format: string,
  records: number,
  file: string,
  changedFile: string,
): Promise<{ writes: Write[]; bars: Bar[] }> {
  const directory = emptyDirectory(`import-${format}`);
  const importInto = async (name: string, file: string) => ({
    name: `${what}, ${name}`,
    records,
    ...(await importOf(format, file, directory)),
  });
  const first = await importInto("first", file);
  const alone = await sqliteAlone(`its rows, SQLite alone`, directory);
  const changed = await importInto("every one changed", changedFile);
  const unchanged = await importInto("none changed", changedFile);
  const against = (write: Write, other: Write) => write.cpuSeconds / write.records / (other.cpuSeconds / other.records);
  const bars = [
    atMost(`${first.name}, against SQLite alone`, against(first, alone), FIRST_AGAINST_SQLITE, " ×"),
    atMost(`${changed.name}, against the first`, against(changed, first), CHANGED_AGAINST_FIRST, " ×"),
    atMost(`${unchanged.name}, against the first`, against(unchanged, first), UNCHANGED_AGAINST_FIRST, " ×"),
    ...[first, changed, unchanged].map(({ name, peakBytes }) =>
      atMost(`resident while importing ${name}`, megabytes(peakBytes), RESIDENT_MB, " MB"),
    ),
  ];
  return { writes: [first, alone, changed, unchanged], bars };
}

/** What was written to prepare it is on the disk before: the import's own writes would wait for it. */
async function importOf(format: string, file: string, directory: string): Promise<Used> {
  await run(LOAD_CORE, ["sync"]);
  return measured(LOAD_CORE, [...product, "import", format, file, "--data", directory]);
}

/** Beside which a first import is to be seen, whatever the hour: this machine's files and SQLite without anything of ours. */
async function sqliteAlone(name: string, directory: string): Promise<Write> {
  const { output } = await run(LOAD_CORE, [process.execPath, join(import.meta.dir, "import-limit.ts"), directory, emptyDirectory("limit")]);
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

/** The real synopses over and over, each time under other ids and with the description's usual length, which the sample cut off. */
async function writeExtract(name: string, changed: boolean): Promise<string> {
  const xml = new TextDecoder().decode(Bun.gunzipSync(await Bun.file(EXTRACT).bytes()));
  const synopses = xml.match(/\t<OpportunitySynopsisDetail_1_0>[\s\S]*?<\/OpportunitySynopsisDetail_1_0>\n/g) ?? [];
  const head = xml.slice(0, xml.indexOf(synopses[0] ?? ""));
  const synopsis = (index: number) =>
    (synopses[index % synopses.length] ?? "")
      .replace(/(<OpportunityID>)\d+/, `$1${1_000_000 + index}`)
      .replace(/(<Description>)([^<]*)/, (_, tag, text) => tag + (changed ? "Amended. " : "") + text.repeat(DESCRIPTION_TIMES));
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

/** p99 of a light, steady load on a server before, and while another process writes changes of every record. */
async function readersMeanwhile(changed: string): Promise<{ idleMs: number; busyMs: number }> {
  const directory = emptyDirectory("readers");
  cpSync(await catalogOf(RECORDS), directory, { recursive: true });
  const headers = { Authorization: `Bearer ${await createBenchKey(directory)}` };
  const server = await serve([...product, "serve", "--port", "0", "--data", directory]);
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
    const hasWritten = watch(directory);
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

/** Whether anything has been committed since. */
function watch(directory: string): () => boolean {
  const db = new Database(join(directory, "catalog.db"), { readonly: true });
  const newest = db.query<[number], []>("select max(updated_at) from opportunities");
  const before = newest.values().flat()[0] ?? 0;
  return () => (newest.values().flat()[0] ?? 0) > before;
}

if (import.meta.main) await printAlone(importBenchmark);
