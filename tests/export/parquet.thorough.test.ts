/** `export --format parquet`, read by DuckDB: every value is that of the NDJSON export and of the SQLite file, and no file is half an export. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { OpportunityEvent } from "../../src/events/event.ts";
import { createParquetFiles } from "../../src/export/parquet.ts";
import { dueOf } from "../../src/opportunities/due.ts";
import type { Opportunity, Sidecar, WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { plainText } from "../../src/text/plain-text.ts";
import { aDirectoryOfAll } from "../support/all-records.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

/** A month after the records were stored, so that the clock has changed some of them. (E-64) */
const NOW = Date.parse("2026-04-01T12:00:00Z");

let data: string;
let directory: string;
let duckdb: DuckDBConnection;
let one: WholeOpportunity;

const exported = (...args: string[]) => fundfeed(["export", "--data", data, ...args], {}, () => NOW);
const read = async (sql: string) => (await duckdb.runAndReadAll(sql)).getRowObjectsJson();
const files = ["changes", "classifications", "contacts", "documents", "events", "opportunities"];

beforeAll(async () => {
  const stored = await aDirectoryOfAll();
  data = stored.data;
  one = stored.all[0] as WholeOpportunity;
  directory = join(aDirectory(), "columns");
  duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run("set timezone = 'UTC'");
  const { code, out, err } = await exported("--format", "parquet", directory, "--json");
  const { records, events, ...others } = JSON.parse(out);
  expect([code, err, others, records > 1000, events > 1000]).toEqual([0, "", { directory, amounts_left_out: 0 }, true, true]);
});
afterAll(() => {
  duckdb.closeSync();
  dropScratch();
});

test("has a file for each view, which only its owner may read", () => {
  expect(readdirSync(directory).sort()).toEqual(files.map((name) => `${name}.parquet`));
  for (const name of files) expect(statSync(join(directory, `${name}.parquet`)).mode & 0o777).toBe(0o600);
});

/** A timestamp as DuckDB prints it: without the zeros at the end of its fraction. */
const shown = (instant: string | null) =>
  instant === null
    ? null
    : new Date(instant)
        .toISOString()
        .replace("T", " ")
        .replace(/\.?0*Z$/, "+00");
const DUE = "due_at, due_on, due_kind, deadline_note";
const isAmount = (column: string) => column.includes("amount");
const dayOf = (instant: string | null) => instant?.slice(0, 10) ?? null;
const amountOf = (amount: string | null | undefined) =>
  amount ? `${amount.split(".")[0]}.${(amount.split(".")[1] ?? "").padEnd(4, "0")}` : null;
const plain = (text: string | null) => (text === null ? null : plainText(text));

test.each([
  ["now", []],
  ["at an earlier moment", ["--as-of", "2026-03-01T12:00:10Z"]],
])("opportunities have every value of the NDJSON export %s", async (_, asOf) => {
  const lines = (await exported(...asOf)).out.trimEnd().split("\n");
  const expected = lines.map((line) => {
    const { id, source, dates, funding, program, organization, classifications, ...of }: Opportunity & Sidecar = JSON.parse(line);
    return {
      ...{ id, source: source.code, upstream_id: source.opportunity_id, url: source.url },
      ...{ solicitation_id: program.solicitation_id, program_type: program.type, contract_class: program.contract_class },
      ...{ title: of.title, status: of.status, status_display: of.status_display, ...organization },
      ...{ posted_at: shown(dates.posted_at), opens_at: shown(dates.opens_at), closes_at: shown(dates.closes_at) },
      ...{ response_at: shown(dates.response_at), created_at: shown(of.created_at), updated_at: shown(of.updated_at) },
      ...{ posted_on: dayOf(dates.posted_at), opens_on: dayOf(dates.opens_at), closes_on: dayOf(dates.closes_at) },
      ...{ response_on: dayOf(dates.response_at), funding: funding?.display ?? null },
      ...{ amount_min: amountOf(funding?.amount_min), amount_max: amountOf(funding?.amount_max) },
      ...{ ...classifications, eligibility: of.eligibility.requirements, geographic_scope: of.eligibility.geographic_scope },
      ...{ ...of.relationships, summary: plain(of.summary), description: plain(of.description) },
      ...{ agency_codes: of.agency_codes ?? [], applicant_types: of.applicant_types ?? [], expires_at: shown(of.expires_at ?? null) },
      ...{ place_city: of.place?.city ?? null, place_state: of.place?.state ?? null, place_country: of.place?.country ?? null },
      ...{ award_number: of.award?.number ?? null, award_date: of.award?.date ?? null, award_amount: amountOf(of.award?.amount) },
      awardee: of.award?.awardee ?? null,
    };
  });
  const path = asOf.length === 0 ? directory : aDirectory();
  if (asOf.length > 0) await exported("--format", "parquet", path, ...asOf);
  const rows = await read(`select * exclude (${DUE}) from '${path}/opportunities.parquet'`);
  expect(rows.length).toBe(expected.length);
  const events = await read(`select max(detected_at)::text as last from '${path}/events.parquet'`);
  if (asOf.length > 0) expect(`${events[0]?.last}` <= "2026-03-01 12:00:10+00").toBe(true);
  const wrong = rows.findIndex((row, n) => !Bun.deepEquals(row, expected[n]));
  expect(rows[wrong]).toEqual(expected[wrong] as (typeof rows)[number]);
  const isEmpty = (name: string) => rows.every((row) => row[name] === null || `${row[name]}` === "");
  if (asOf.length === 0) expect(Object.keys(rows[0] ?? {}).filter(isEmpty)).toEqual([]);
});

test("opportunities are due as CSV has it", async () => {
  const csv = join(aDirectory(), "all.csv");
  writeFileSync(csv, (await exported("--format", "csv")).out);
  const ofCsv = `select id, cast(due_at as timestamptz) as due_at, due_kind, deadline_note, due_at[:10] as due_on from read_csv('${csv}', all_varchar = true)`;
  const ofParquet = `select id, due_at, due_kind, deadline_note, cast(due_on as varchar) from '${directory}/opportunities.parquet'`;
  expect(await read(`(${ofCsv}) except (${ofParquet})`)).toEqual([]);
});

test.each(files.map((name) => [name, name.slice(0, -1).replace(/ie$/, "y")]))(
  "%s have the columns and rows of the view %s",
  async (name, view) => {
    const path = join(directory, "..", "same.sqlite");
    if (!existsSync(path)) await exported("--format", "sqlite", path);
    const sqlite = new Database(path, { readonly: true });
    const rows = sqlite.query<Record<string, string | null>, []>(`select * from ${view}`).all();
    sqlite.close();
    const asShown = rows.map(({ rowid: _, ...row }) =>
      Object.entries(row).map(([column, value]) => {
        if (column.endsWith("_at") || column === "since") return [column, shown(value)];
        if (isAmount(column) && value !== null) return [column, Number(value)];
        return [column, /_codes|_types|taxonomy|keywords|technology_areas/.test(column) ? JSON.parse(value ?? "null") : value];
      }),
    );
    const stored = (await read(`from '${directory}/${name}.parquet'`)).map((row) =>
      Object.entries(row).map(([column, value]) => [column, isAmount(column) && value !== null ? Number(value) : value]),
    );
    expect(asShown.length).toBeGreaterThan(100);
    const sorted = (all: readonly unknown[]) => all.map((row) => JSON.stringify(row)).sort();
    expect(sorted(stored)).toEqual(sorted(asShown));
  },
);

test("has timestamps in UTC, dates, decimals and lists, and says what it was made of", async () => {
  const types = await read(`select column_name, column_type from (describe from '${directory}/opportunities.parquet')`);
  const typeOf = (column: string) => types.find(({ column_name }) => column_name === column)?.column_type;
  expect(["closes_at", "closes_on", "amount_max", "keywords", "title"].map(typeOf)).toEqual([
    "TIMESTAMP WITH TIME ZONE",
    "DATE",
    "DECIMAL(38,4)",
    "VARCHAR[]",
    "VARCHAR",
  ]);
  const about = await read(`select decode(key) as key, decode(value) as value from parquet_kv_metadata('${directory}/changes.parquet')`);
  expect(about).toEqual([
    { key: "filter", value: "{}" },
    { key: "made_at", value: new Date(NOW).toISOString() },
  ]);
});

test("keeps values at the limits, and leaves out amounts with too many digits", async () => {
  const path = join(aDirectory(), "limits");
  const put = { filter: "{}", made_at: "2026-04-01T12:00:00.000Z" };
  const made = await createParquetFiles(path, put);
  const whole = "9".repeat(34);
  const amounts = ["-0.5", "007.10000", `${whole}.9999`, `-${whole}.9999`, "0", `1${whole}`, "0.00001", null];
  const instants = ["0000-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "2026-01-01T00:00:00.123999+05:30", "9999-12-31T23:59:59-05:00"];
  const changed: unknown[] = ["", "text", 0, 1.5, false, null, undefined, { a: ["ü"] }, [], "\ud83d\ude80 \u0000 \ud800"];
  for (const [n, amount_max] of amounts.entries()) {
    const opportunity: WholeOpportunity = {
      ...one,
      id: `${n}`,
      funding: { currency: "USD", amount_min: null, amount_max, display: null },
      dates: { ...one.dates, closes_at: instants[n] ?? null },
      classifications: { ...one.classifications, keywords: n % 2 === 0 ? [] : ["a;b", "", "c"] },
    };
    const changes = changed.map((current, item) => ({ field: `${item}`, previous: null, current }));
    const event: OpportunityEvent = {
      ...{ id: `e${n}`, opportunity_id: `${n}`, type: "unknown", severity: "unknown", summary: null },
      ...{ changed_fields: [], changes: n === 0 ? changes : [], detected_at: "2026-01-01T00:00:00.000Z" },
    };
    made.put({ ...opportunity, due: dueOf(opportunity, NOW, []) }, [event]);
  }
  expect(made.finish()).toEqual({ records: amounts.length, events: amounts.length, amounts_left_out: 2 });
  made.abandon();
  const rows = await read(`select amount_max, closes_at, closes_on, keywords from '${path}/opportunities.parquet' order by id`);
  expect(rows.map(({ amount_max }) => amount_max)).toEqual([
    ...["-0.5000", "7.1000", `${whole}.9999`, `-${whole}.9999`, "0.0000"],
    ...[null, null, null],
  ]);
  expect(rows.slice(0, 5).map(({ closes_at }) => closes_at)).toEqual([
    ...["0000-01-01 00:00:00+00", "2017-01-01 00:00:00+00", "2025-12-31 18:30:00.123+00", "10000-01-01 04:59:59+00", null],
  ]);
  expect(rows.slice(1, 4).map(({ closes_on }) => closes_on)).toEqual(["2016-12-31", "2026-01-01", "9999-12-31"]);
  expect(rows.slice(0, 2).map(({ keywords }) => keywords)).toEqual([[], ["a;b", "", "c"]]);
  const current = await read(`select current from '${path}/changes.parquet' order by field`);
  expect(current.map((row) => row.current)).toEqual([
    ...["", "text", "0", "1.5", "false", null, null, '{"a":["ü"]}', "[]", "\ud83d\ude80 \u0000 \ufffd"],
  ]);
});

test("writes a row group when many rows or long texts have come, and loses none", async () => {
  const path = join(aDirectory(), "groups");
  const made = await createParquetFiles(path, { filter: "{}", made_at: "" });
  const keywords = Array.from({ length: 30_000 }, (_, n) => `${n}`);
  const description = "long ".repeat(1_000_000);
  for (let n = 0; n < 3; n++)
    made.put(
      {
        ...one,
        due: dueOf(one, NOW, []),
        id: `${n}`,
        description,
        classifications: { ...one.classifications, keywords, tech_taxonomy: [] },
      },
      [],
    );
  made.finish();
  const rowsOf = async (name: string) => {
    const groups = `select row_group_id, any_value(row_group_num_rows)::integer as n from parquet_metadata('${path}/${name}.parquet')`;
    return (await read(`${groups} group by 1 order by 1`)).map(({ n }) => n);
  };
  expect(await rowsOf("opportunities")).toEqual([2, 1]);
  expect((await rowsOf("classifications"))[0]).toBe(50_000);
  const classified = `from '${path}/classifications.parquet' where scheme = 'keyword'`;
  expect(await read(`select count(*)::integer as all, count(distinct (opportunity_id, code))::integer as different ${classified}`)).toEqual(
    [{ all: 90_000, different: 90_000 }],
  );
});

test("takes the filters, also those that nothing meets, and replaces its own earlier export only", async () => {
  const path = aDirectory();
  const into = (...args: string[]) => exported("--format", "parquet", path, ...args);
  const count = async () => (await read(`select count(*)::integer as n from '${path}/opportunities.parquet'`))[0]?.n;
  expect((await into("--min-amount", "99999999999999")).code).toBe(0);
  expect(await count()).toBe(0);
  writeFileSync(join(path, "notes.txt"), "mine");
  expect((await into("--source", "DSIP")).code).toBe(0);
  const sources = await read(
    `select distinct source from '${path}/opportunities.parquet' union select distinct source from '${path}/events.parquet'`,
  );
  expect(sources).toEqual([{ source: "DSIP" }]);
  expect(readdirSync(path).sort()).toEqual([...files.map((name) => `${name}.parquet`), "notes.txt"].sort());

  const other = join(path, "events.parquet");
  for (const content of ["my notes", ""]) {
    writeFileSync(other, content);
    const { code, err } = await into();
    expect([code, err]).toEqual([1, `Cannot export into ${path}: ${other} is not an export of this program; use another directory\n`]);
    expect(readFileSync(other, "utf8")).toBe(content);
  }
  await duckdb.run(`copy (select 1 as one) to '${other}' (format parquet)`);
  expect((await into()).err).toContain("is not an export of this program");
  expect(readdirSync(path)).toHaveLength(7);
});

test("a signal ends it, leaves the earlier export, and nothing of the new one", async () => {
  const path = aDirectory();
  const stopped = async () => {
    let signal = () => {};
    const told: string[] = [];
    const code = await runCommandLine(["export", "--format", "parquet", path, "--data", data], {
      ...machineOf({}, { printLine: () => undefined, printError: (text) => void told.push(text) }),
      onStopSignal: (stop) => {
        signal = stop;
      },
      showProgress: (line) => {
        if (line.startsWith("exporting")) signal();
      },
    });
    expect([code, told]).toEqual([1, [`Cannot export into ${path}: it was stopped`]]);
  };
  await stopped();
  expect(readdirSync(path)).toEqual([]);
  await exported("--format", "parquet", path, "--source", "DSIP");
  const before = files.map((name) => readFileSync(join(path, `${name}.parquet`)).toString("base64"));
  await stopped();
  expect(files.map((name) => readFileSync(join(path, `${name}.parquet`)).toString("base64"))).toEqual(before);
  expect(readdirSync(path)).toHaveLength(files.length);
});

test("needs a directory", async () => {
  expect(await exported("--format", "parquet")).toMatchObject({
    code: 2,
    err: expect.stringContaining("error: --format parquet needs a directory: fundfeed export --format parquet DIR"),
  });
  const { code, err } = await exported("--format", "parquet", join(directory, "events.parquet"));
  expect([code, err]).toEqual([1, expect.stringMatching(/^Cannot export into .*events\.parquet: /)]);
});
