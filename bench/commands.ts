/**
 * Every command and every endpoint at several sizes of the catalog: CPU time and peak memory of each command, and the longest stop of the
 * server's event loop at each endpoint. `bun bench/commands.ts [name…]` runs only commands and endpoints whose names contain one of these.
 * With `FUNDFEED_BENCH_DATABASE`, the URL of a copy of the catalog of that size, they run on PostgreSQL.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../db/sqlite/open.ts";
import { readPast } from "../src/past/as-of.ts";
import { countMonths } from "../src/search/months.ts";
import { openSearchFile } from "../src/search/search-file.ts";
import { formatInstant } from "../src/text/instant.ts";
import { cpuMsOf } from "../tests/support/cpu-time.ts";
import { createBenchKey } from "./load.ts";
import { cpuMicroseconds, fundfeed, residentBytes, runMeasured, SERVER_CORE, serve, workDirectory } from "./processes.ts";
import { count, megabytes, print, printAlone, type Section, table } from "./report.ts";
import { shortCatalog } from "./short-catalog.ts";

const SIZES = (process.env.FUNDFEED_BENCH_RECORDS ?? "100000,1000000,10000000").split(",").map(Number);
const DATABASE = process.env.FUNDFEED_BENCH_DATABASE;
const names = process.argv.slice(2);
const REQUESTS = 50;
const PROBE_PORT = 18_473;
const NEW_RECORDS = 1000;

/**
 * A data directory, and things in it to ask for: at `added` all records were there and none had changed, at `changed` all changes were. `scratch`
 * is removed at the end.
 */
type Place = Record<"data" | "scratch" | "id" | "longId" | "eventId" | "source" | "number" | "added" | "changed", string>;

/** Where a command works: on the data (`--data` is added), or on nothing. */
type Command = {
  name: string;
  args: (place: Place) => string[];
  without?: "data";
  /** It works on files only. */
  onFiles?: true;
  before?: (place: Place) => void;
};

const databaseOf = ({ data }: Place) => (DATABASE === undefined ? ["--data", data] : ["--database", DATABASE]);
const searchDataOf = ({ data, scratch }: Place) => (DATABASE === undefined ? data : scratch);

const watching = ({ scratch }: Place, command: string, ...options: string[]) => ["watch", command, ...options, "--watch-data", scratch];

/** Cost must not grow with the catalog, except of those that read everything. */
const commands: Command[] = [
  { name: "version", args: () => ["version"], without: "data" },
  { name: "openapi", args: () => ["openapi"], without: "data" },
  { name: "completion", args: () => ["completion"], without: "data" },
  { name: "sources list", args: () => ["sources", "list"] },
  { name: "sources status", args: () => ["sources", "status"] },
  { name: "sources add", args: () => ["sources", "add", "FORECAST_1", "--name", "Forecasts", "--description", "Forecasts."] },
  { name: "sources remove", args: () => ["sources", "remove", "FORECAST_1"] },
  { name: "imports list", args: () => ["imports", "list"] },
  { name: "explain", args: ({ eventId }) => ["explain", eventId] },
  { name: "plans list", args: () => ["plans", "list"] },
  { name: "plans set", args: () => ["plans", "set", "other", "--daily", "5", "--per-minute", "5"] },
  { name: "accounts list", args: () => ["accounts", "list"] },
  { name: "keys list", args: () => ["keys", "list"] },
  { name: "keys usage", args: () => ["keys", "usage"] },
  { name: "keys create", args: () => ["keys", "create", "--account", "Account 1"] },
  { name: "refresh", args: () => ["refresh"] },
  { name: "changes --since 1d", args: () => ["changes", "--since", "1d"] },
  {
    name: "watch add",
    args: (place) => watching(place, "add", "own", "--source", "OWN", "--to", "stdout", "--search-data", searchDataOf(place)),
  },
  { name: "watch list", args: (place) => watching(place, "list") },
  {
    name: "import of 1,000 new records",
    args: ({ scratch }) => ["import", "records", join(scratch, "new.ndjson")],
    before: writeNewRecords,
  },
  { name: "import of 1,000 unchanged records", args: ({ scratch }) => ["import", "records", join(scratch, "new.ndjson")] },
  { name: "watch run, of 1,000 new records", args: (place) => watching(place, "run", "--search-data", searchDataOf(place)) },
  { name: "watch deliveries", args: (place) => watching(place, "deliveries") },
  { name: "watch remove", args: (place) => watching(place, "remove", "own") },
  {
    name: "find, first (builds the index)",
    args: (place) => ["find", "opportunity", "--status", "open", "--search-data", searchDataOf(place)],
    before: (place) => rmSync(join(searchDataOf(place), "search.db"), { force: true }),
  },
  { name: "find", args: (place) => ["find", "opportunity", "--status", "open", "--search-data", searchDataOf(place)] },
  { name: "find a number", args: (place) => ["find", place.number, "--search-data", searchDataOf(place)] },
  { name: "show", args: ({ number }) => ["show", number] },
  { name: "export", args: () => ["export"] },
  { name: "export --format csv --status open", args: () => ["export", "--format", "csv", "--status", "open"] },
  { name: "export --format csv", args: () => ["export", "--format", "csv"] },
  { name: "export --format parquet", args: ({ scratch }) => ["export", "--format", "parquet", join(scratch, "parquet")] },
  { name: "show --as-of", args: ({ number, added }) => ["show", number, "--as-of", added] },
  { name: "export --as-of", args: ({ added }) => ["export", "--as-of", added] },
  { name: "diff", args: ({ added, changed }) => ["diff", added, changed, "--json"] },
  { name: "redact --dry-run", args: () => ["redact", "--dry-run"] },
  { name: "check", args: () => ["check"] },
  { name: "backup", args: ({ scratch }) => ["backup", join(scratch, "backup")], onFiles: true },
  {
    name: "restore",
    args: ({ scratch }) => ["restore", join(scratch, "backup"), "--data", join(scratch, "restored")],
    without: "data",
    onFiles: true,
  },
];

/** Requests by name; a path, or headers with it. */
const endpoints: [string, (place: Place) => string][] = [
  ["/meta", () => "/meta"],
  ["/sources", () => "/sources"],
  ["/opportunities", () => "/opportunities?limit=25"],
  ["… with 100 records", () => "/opportunities?limit=100"],
  ["… of one status", () => "/opportunities?status=open"],
  ["… of one agency and status", () => "/opportunities?agency=Department%20of%20Energy%20-%20Science%20Office&status=cancelled"],
  ["… of source OTHER", () => "/opportunities?source=OTHER&program_type=SBIR"],
  ["… that match nothing", () => "/opportunities?agency=nobody"],
  ["… since an instant", () => "/opportunities?updated_since=2024-01-01T01:00:00Z&status=awarded"],
  ["… by upstream id", ({ source, number }) => `/opportunities?source=${source}&source_opportunity_id=${number}`],
  ["/opportunities/{id}", ({ id }) => `/opportunities/${id}`],
  ["/opportunities/{id}/events", ({ id }) => `/opportunities/${id}/events`],
  ["… of 2,000 events", ({ longId }) => `/opportunities/${longId}/events?limit=100`],
  ["/openapi.json", () => "/openapi.json"],
  ["/docs", () => "/docs"],
];

type Measures = Record<string, string | number>;

async function commandsBenchmark(): Promise<Section> {
  const [ofCommands, ofEndpoints]: [Rows, Rows] = [new Map(), new Map()];
  for (const records of SIZES) {
    const place = placeIn(await shortCatalog(records));
    try {
      addColumns(ofCommands, records, [...(await runCommands(place)), ...(await measureStarts(place))]);
      addColumns(ofEndpoints, records, [...(await measureInside(place)), ...(await requestAll(place))]);
    } finally {
      rmSync(place.scratch, { recursive: true, force: true });
    }
  }
  return {
    title: "Commands and endpoints",
    text: [ofCommands, ofEndpoints]
      .filter((rows) => rows.size > 0)
      .map(tableOf)
      .join("\n\n"),
    goals: [],
  };
}

type Rows = Map<string, Measures>;

function addColumns(rows: Rows, records: number, measured: [string, Measures][]): void {
  for (const [name, measures] of measured) {
    const columns = Object.entries(measures).map(([unit, measure]) => [`${count(records)}: ${unit}`, measure]);
    rows.set(name, { ...rows.get(name), ...Object.fromEntries(columns) });
  }
}

const tableOf = (rows: Rows) => table([...rows].map(([name, measures]) => ({ name, ...measures })));

const isMeasured = ({ name, onFiles }: Command) => isWanted(name) && (DATABASE === undefined || onFiles !== true);
const isWanted = (name: string) => names.length === 0 || names.some((part) => name.includes(part));

function placeIn(data: string): Place {
  const db = openCatalog(data, Date.now()); // Not only for reading: the first program of a new version migrates.
  const one = (text: string) => db.sqlite.query<{ value: string }, []>(text).get()?.value ?? "";
  const place = {
    data,
    scratch: mkdtempSync(join(workDirectory, "commands-")),
    id: one("select id as value from opportunities where seq = 50000"),
    longId: one("select id as value from opportunities where seq = 101"),
    eventId: one("select id as value from events where opportunity_seq = 50000"),
    source: one("select source as value from opportunities where seq = 50000"),
    number: one("select source_opportunity_id as value from opportunities where seq = 50000"),
    added: formatInstant(Number(one("select max(created_at) as value from opportunities"))),
    changed: formatInstant(Number(one("select max(updated_at) as value from opportunities"))),
  };
  db.sqlite.close();
  return place;
}

function writeNewRecords({ scratch }: Place): void {
  const name = `R${Date.now()}`; // New at each run.
  const lines = Array.from({ length: NEW_RECORDS }, (_, number) => ({
    source: { code: "OWN", opportunity_id: `${name}-${number}` },
    title: `Record ${number}`,
    status: "open",
  }));
  writeFileSync(join(scratch, "new.ndjson"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function runCommands(place: Place): Promise<[string, Measures][]> {
  const measured: [string, Measures][] = [];
  for (const { name, args, without, before } of commands.filter(isMeasured)) {
    before?.(place);
    const database = without === "data" ? [] : databaseOf(place);
    const { cpuSeconds, peakBytes } = await runMeasured(SERVER_CORE, [...fundfeed, ...args(place), ...database]);
    print(`${name}: ${cpuSeconds.toFixed(2)} s, ${megabytes(peakBytes).toFixed(0)} MB`);
    measured.push([name, { "CPU s": cpuSeconds, MB: Math.round(megabytes(peakBytes)) }]);
  }
  return measured;
}

/** What a process takes for it that runs already: one record of the past, and the counts of the page of months when the index has changed. */
async function measureInside({ data }: Place): Promise<[string, Measures][]> {
  if (!isWanted("inside") || DATABASE !== undefined) return [];
  const db = openCatalog(data, Date.now());
  const index = openSearchFile(data);
  const added = Number(db.sqlite.query<{ value: number }, []>("select max(created_at) as value from opportunities").get()?.value);
  const ids = db.sqlite.query<{ id: string }, []>("select id from opportunities where updated_at > created_at limit 200").all();
  const past = await cpuMsOf(async () => {
    for (const { id } of ids) await readPast(db, [id], added);
  });
  const months = await cpuMsOf(() => countMonths(db, index, Date.now()));
  index.close();
  await db.close();
  return [
    ["inside: a changed record as of an instant", { "CPU ms": past / ids.length }],
    ["inside: months", { "CPU ms": months }],
  ];
}

/** The start of a server, and `health` against it. */
async function measureStarts(place: Place): Promise<[string, Measures][]> {
  if (!isWanted("serve")) return [];
  const server = await start(place);
  const started = await measuresOfStart(server.process.pid, server.cpuSeconds);
  const { cpuSeconds, peakBytes } = await runMeasured(SERVER_CORE, [...fundfeed, "health", "--url", server.address]);
  await server.stop();
  return [
    ["serve, to `listening`", started],
    ["health", { "CPU s": cpuSeconds, MB: Math.round(megabytes(peakBytes)) }],
  ];
}

/** Each endpoint, one request after the other. */
async function requestAll(place: Place): Promise<[string, Measures][]> {
  const wanted = endpoints.filter(([name]) => isWanted(name));
  if (wanted.length === 0) return [];
  const key = DATABASE === undefined ? await createBenchKey(place.data) : await createBenchKey(DATABASE, "--database");
  const server = await start(place);
  await Bun.sleep(3000); // The description is built a second after the start.
  const measured: [string, Measures][] = [];
  for (const [name, path] of wanted)
    measured.push([`GET ${name}`, await measuresOf(server.address + path(place), key, server.process.pid)]);
  const metrics = await measuresOf(`http://127.0.0.1:${PROBE_PORT + 1}/metrics`, key, server.process.pid);
  measured.push(["GET /metrics", metrics]);
  await server.stop();
  return measured;
}

async function start(place: Place) {
  const probe = ["env", `STOP_PROBE_PORT=${PROBE_PORT}`, process.execPath, "--preload", join(import.meta.dir, "stop-probe.ts")];
  const options = ["--port", "0", "--metrics-port", String(PROBE_PORT + 1)];
  const server = await serve([...probe, ...fundfeed.slice(1), "serve", ...databaseOf(place), ...options]);
  return { ...server, cpuSeconds: cpuMicroseconds(server.process.pid) / 1e6 };
}

/** The CPU time until the server listened, and its memory at rest. */
async function measuresOfStart(pid: number, cpuSeconds: number): Promise<Measures> {
  await Bun.sleep(3000);
  return { "CPU s": cpuSeconds, MB: Math.round(megabytes(await residentBytes(pid))) };
}

/** Milliseconds of CPU time of a request, and the longest stop while they were served, the first one included. */
async function measuresOf(url: string, key: string, pid: number): Promise<Measures> {
  const stop = async () => Number(await (await fetch(`http://127.0.0.1:${PROBE_PORT}/`)).text());
  await stop();
  const before = cpuMicroseconds(pid);
  for (let request = 0; request < REQUESTS; request++) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`GET ${url} returned ${response.status}`);
    await response.arrayBuffer();
  }
  const cpuMs = (cpuMicroseconds(pid) - before) / 1000 / REQUESTS;
  return { "CPU ms": cpuMs, "stop, ms": await stop() };
}

if (import.meta.main) await printAlone(commandsBenchmark);
