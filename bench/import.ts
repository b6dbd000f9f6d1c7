/** Records a second and memory of `import`, on one core with the whole input judged first, and what readers feel meanwhile. */
import { Database } from "bun:sqlite";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { catalogueOf } from "./catalogue.ts";
import { generateRecord } from "./generate.ts";
import { createBenchKey } from "./load.ts";
import { type Finished, LOAD_CORE, product, run, serve, workDirectory } from "./processes.ts";
import { atLeast, atMost, megabytes, printAlone, quantile, type Section, table } from "./report.ts";

const RECORDS = 100_000;
/** As large as the real extract was in 2026: 82,000 synopses in some 320 MB. */
const SYNOPSES = 82_000;
const DESCRIPTION_TIMES = 4;
const EXTRACT = join(import.meta.dir, "../tests/data/grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz");
const RESIDENT_MB = 300;

export async function importBenchmark(): Promise<Section> {
  const first = await writeRecords("first.ndjson", false);
  const changed = await writeRecords("changed.ndjson", true);
  const added = await importInto(emptyDirectory("import"), "records", first);
  const updated = await importInto(join(workDirectory, "import"), "records", changed);
  const unchanged = await importInto(join(workDirectory, "import"), "records", changed);
  const runs: [string, number, Finished][] = [
    ["records, first", RECORDS, added],
    ["records, every one changed", RECORDS, updated],
    ["records, none changed", RECORDS, unchanged],
  ];
  const extract = await writeExtract("extract.xml", false);
  const changedExtract = await writeExtract("changed.xml", true);
  const directory = emptyDirectory("import-grants-gov");
  const firstExtract = await importInto(directory, "grants-gov", extract);
  runs.push(["Grants.gov extract, first", SYNOPSES, firstExtract]);
  const limit = await limitOf(firstExtract, directory);
  runs.push(["Grants.gov extract, every one changed", SYNOPSES, await importInto(directory, "grants-gov", changedExtract)]);
  runs.push(["Grants.gov extract, none changed", SYNOPSES, await importInto(directory, "grants-gov", changedExtract)]);
  const readers = await readersMeanwhile(changed);

  const rows = runs.map(([name, records, done]) => ({
    Import: name,
    records,
    "records/s": perSecond(records, done),
    seconds: done.seconds,
    "of them computing": done.cpuSeconds,
    "peak MB": megabytes(done.peakBytes),
  }));
  const text = `${table(rows)}\n\n${limit}\n\nReaders' p99 (200 requests/s): ${readers.idleMs.toFixed(1)} ms idle, ${readers.busyMs.toFixed(1)} ms while an import of changed records writes.`;
  const bars = [
    ...runs.map(([name, records, done]) => atLeast(name, perSecond(records, done), barOf(name), " records/s")),
    ...runs.map(([name, , { peakBytes }]) => atMost(`resident while importing ${name}`, megabytes(peakBytes), RESIDENT_MB, " MB")),
    atMost("readers' p99 while an import writes, against idle", readers.busyMs / readers.idleMs, 3, " ×"),
  ];
  return { title: "Imports", text, bars };
}

function perSecond(records: number, { seconds }: Finished): number {
  return records / seconds;
}

/** Records a second that an import has to judge and store. */
function barOf(name: string): number {
  if (name.endsWith("none changed")) return 20_000;
  return name.endsWith("first") ? 6000 : 4000;
}

/** What was written to prepare it is on the disk before: the import's own writes would wait for it. */
async function importInto(directory: string, format: string, file: string): Promise<Finished> {
  await run(LOAD_CORE, ["sync"]);
  return run(LOAD_CORE, [...product, "import", format, file, "--data", directory]);
}

/** Beside which a first import is to be seen, whatever the hour: this machine's files and SQLite without anything of ours. */
async function limitOf(first: Finished, directory: string): Promise<string> {
  const alone = await run(LOAD_CORE, [process.execPath, join(import.meta.dir, "import-limit.ts"), directory, emptyDirectory("limit")]);
  const share = perSecond(SYNOPSES, first) / Number(alone.output);
  return `SQLite alone writes the rows of the extract at ${alone.output.trim()} records/s: the first import has ${share.toFixed(2)} × that.`;
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
  cpSync(await catalogueOf(RECORDS), directory, { recursive: true });
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
    const imported = importInto(directory, "records", changed).finally(() => {
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
