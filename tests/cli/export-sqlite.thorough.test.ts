/** `export --format sqlite`: the whole file or none, and views that find what the filters find. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { matches, readFilter } from "../../src/filter/filter.ts";
import { type WholeOpportunity, withoutSidecar } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { readDuplicates } from "../../src/opportunities/related.ts";
import { aDirectoryOfAll } from "../support/all-records.ts";
import { program } from "../support/binary.ts";
import { run } from "../support/clocked-program.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { expectInStep } from "../support/sql-file.ts";
import { waitFor } from "../support/wait-for.ts";

/** FUNDFEED_KILLS=50 for a thorough run. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 2);

setDefaultTimeout(600_000);

/** A month after the records were stored, so that the clock has changed some of them. (E-64) */
const NOW = Date.parse("2026-04-01T12:00:00Z");
const args = (path: string, from = data) => ["export", "--format", "sqlite", path, "--data", from];

let data: string;
let all: WholeOpportunity[];
let duplicates: Map<string, WholeOpportunity[]>;
let directory: string;
let file: string;
/** The demo's records, whose export takes a third of the time, for what does not depend on the records. */
let few: string;
let fileOfFew: string;

beforeAll(async () => {
  const stored = await aDirectoryOfAll();
  data = stored.data;
  const catalog = openCatalog(data, NOW);
  const ids = stored.all.map(({ id }) => id);
  all = await readOpportunities(catalog, ids, NOW);
  duplicates = await readDuplicates(catalog, ids, NOW);
  await catalog.close();
  directory = aDirectory();
  file = join(directory, "all.sqlite");
  const { code, out, err } = await fundfeed([...args(file), "--json"], {}, () => NOW);
  expect([code, err, JSON.parse(out)]).toEqual([0, "", { file, records: all.length, events: expect.any(Number) }]);
  few = await aDirectoryOfTheDemo();
  fileOfFew = join(aDirectory(), "few.sqlite");
  expect((await fundfeed(args(fileOfFew, few), {}, () => NOW)).code).toBe(0);
});
afterAll(dropScratch);

const byId = (left: WholeOpportunity, right: WholeOpportunity) => (left.id < right.id ? -1 : 1);
const read = <Row>(path: string, sql: string, ...values: (string | number)[]): Row[] => {
  const sqlite = new Database(path, { readonly: true });
  const rows = sqlite.query<Row, (string | number)[]>(sql).all(...values);
  sqlite.close();
  return rows;
};

test("has every document, with all views in step, and only its owner may read it", () => {
  expect(expectInStep(file)).toEqual(all.toSorted(byId).map(withoutSidecar));
  const [about] = read<{ made_at: string; filter: string }>(file, "select * from export");
  expect(about).toEqual({ made_at: expect.stringMatching(/^20..-..-..T.*Z$/), filter: "{}" });
  expect([readdirSync(directory), statSync(file).mode & 0o777]).toEqual([["all.sqlite"], 0o600]);
});

test("has the history that show prints", async () => {
  const [one] = read<{ id: string; events: number }>(
    file,
    "select opportunity_id as id, count(*) as events from event group by 1 order by 2 desc limit 1",
  );
  const { history } = JSON.parse((await fundfeed(["show", one?.id ?? "", "--json", "--data", data])).out);
  expect(history).toHaveLength(one?.events ?? 0);
  const documents = read<{ document: string }>(
    file,
    "select document from events where opportunity_id = ? order by detected_at",
    one?.id ?? "",
  );
  expect(documents.map(({ document }) => JSON.parse(document).id).sort()).toEqual(history.map(({ id }: { id: string }) => id).sort());
});

/** The due date at NOW, as docs/reference/sql.md says. */

/** Filters, and the same condition as a person writes it in SQL. */
const conditions: readonly (readonly [filter: object, sql: string])[] = [
  [{ status: ["open", "closing_soon"] }, "status in ('open', 'closing_soon')"],
  [{ source: ["SAM_GOV"] }, "source = 'SAM_GOV'"],
  [{ agency: "health" }, "agency like '%health%' or sub_agency like '%health%'"],
  [{ program_type: ["SBIR", "BAA"] }, "program_type in ('SBIR', 'BAA')"],
  [{ naics: ["54"] }, "id in (select opportunity_id from classification where scheme = 'naics' and code like '54%')"],
  [{ psc: ["6"] }, "id in (select opportunity_id from classification where scheme = 'psc' and code like '6%')"],
  [{ listing: ["47.041"] }, "id in (select opportunity_id from classification where scheme = 'aln' and code = '47.041')"],
  [{ set_aside: ["SBA"] }, "id in (select opportunity_id from classification where scheme = 'set_aside' and code in ('SBA', 'SBP'))"],
  [{ eligibility: "small" }, "eligibility like '%small%'"],
  [{ posted_after: "2026-01-01T00:00:00Z" }, "posted_at >= '2026-01-01'"],
  [{ opens_before: "2026-01-01T00:00:00Z" }, "opens_at < '2026-01-01'"],
  [{ closes_after: "2026-03-01T00:00:00Z", closes_before: "2026-09-01T00:00:00Z" }, "due_at >= '2026-03-01' and due_at < '2026-09-01'"],
  [{ min_amount: "250000" }, "coalesce(amount_max, amount_min) >= 250000"],
  [{ max_amount: "100000" }, "coalesce(amount_min, amount_max) <= 100000"],
  [{ words: '"quantum" -"optical"' }, "rowid in (select rowid from search where search match 'quantum NOT optical')"],
  [{ words: '"natural product"' }, `rowid in (select rowid from search where search match '"natural product"')`],
];

test.each(conditions)("the view opportunity finds the records of the filter %j", (json, sql) => {
  const filter = readFilter(json, "the filter");
  const expected = all.filter((opportunity) => matches(filter, opportunity, NOW, duplicates.get(opportunity.id))).map(({ id }) => id);
  expect(expected.length).toBeGreaterThan(0);
  expect(read<{ id: string }>(file, `select id from opportunity where ${sql} order by id`).map(({ id }) => id)).toEqual(expected.sort());
});

test("takes the filters, and replaces its own earlier export only", async () => {
  const path = join(aDirectory(), "some.sqlite");
  const exported = (...args: string[]) => fundfeed(["export", "--format", "sqlite", path, "--data", data, ...args]);
  await exported("--status", "archived");
  chmodSync(path, 0o644);
  expect((await exported("--source", "DSIP,OTHER")).code).toBe(0);
  const some = read<{ source: string }>(path, "select distinct source from opportunity order by 1").map(({ source }) => source);
  expect(some).toEqual(["DSIP"]);
  expect(statSync(path).mode & 0o777).toBe(0o644);
  expect(read(path, "select filter from export")).toEqual([{ filter: '{"source":["DSIP","OTHER"]}' }]);

  const link = join(aDirectory(), "link.sqlite");
  symlinkSync(path, link);
  expect((await fundfeed(["export", "--format", "sqlite", link, "--data", data, "--source", "NSF"])).code).toBe(0);
  expect([lstatSync(link).isSymbolicLink(), read(path, "select filter from export")]).toEqual([true, [{ filter: '{"source":["NSF"]}' }]]);

  writeFileSync(`${path}-wal`, "");
  expect((await exported()).err).toBe(
    `Cannot export into ${path}: ${path}-wal exists: another program has the file open; close it there\n`,
  );
  for (const other of [aFile("my notes"), join(data, "catalog.db"), aDirectory()]) {
    const before = statSync(other).isFile() ? readFileSync(other) : undefined;
    const { code, err } = await fundfeed(["export", "--format", "sqlite", other, "--data", data]);
    expect([code, err]).toEqual([1, `Cannot export into ${other}: it exists and is not an export of this program; use another file\n`]);
    if (before !== undefined) expect(readFileSync(other).equals(before)).toBe(true);
  }
});

test("shows the records and then the steps of indexing as progress", async () => {
  const shown: string[] = [];
  const path = join(aDirectory(), "shown.sqlite");
  const code = await runCommandLine(["export", "--format", "sqlite", path, "--data", few], {
    ...machineOf({}, { printLine: () => undefined, printError: () => undefined }),
    showProgress: (line) => void shown.push(line),
  });
  expect([code, shown[0], shown.at(-1)]).toEqual([0, expect.stringMatching(/^exporting 1 records/), ""]);
  expect(shown.at(-2)).toMatch(/^finishing 9\d %, (\d+) of \d+ steps$/);
  expect(shown.at(-3)).toMatch(/^indexing texts \d\d %, /);
});

test("needs a file, which the other formats do not take", async () => {
  expect(await fundfeed(["export", "--format", "sqlite", "--data", data])).toMatchObject({
    code: 2,
    err: expect.stringContaining("error: --format sqlite needs a file: fundfeed export --format sqlite FILE"),
  });
  expect(await fundfeed(["export", "--format", "csv", "x.csv", "--data", data])).toMatchObject({
    code: 2,
    err: expect.stringContaining("error: csv is printed; write it with > x.csv"),
  });
});

test.each(["exporting", "indexing texts"])(
  "a signal while it is %s removes the unfinished file, and leaves the earlier one",
  async (step) => {
    const path = join(aDirectory(), "stopped.sqlite");
    const stopped = async () => {
      let signal = () => {};
      const told: string[] = [];
      const machine = machineOf({}, { printLine: () => undefined, printError: (text) => void told.push(text) });
      const code = await runCommandLine(["export", "--format", "sqlite", path, "--data", few], {
        ...machine,
        onStopSignal: (stop) => {
          signal = stop;
        },
        showProgress: (line) => {
          if (line.startsWith(step)) signal();
        },
      });
      expect([code, told]).toEqual([1, [`Cannot export into ${path}: it was stopped`]]);
      return readdirSync(join(path, ".."));
    };
    expect(await stopped()).toEqual([]);
    copyFileSync(fileOfFew, path);
    expect(await stopped()).toEqual(["stopped.sqlite"]);
    expect(readFileSync(path).equals(readFileSync(fileOfFew))).toBe(true);
  },
);

test.each(["SIGINT", "SIGTERM"] as const)("%s removes the unfinished file of the real program", async (signal) => {
  const path = join(aDirectory(), "stopped.sqlite");
  const child = Bun.spawn([program, "export", "--format", "sqlite", path, "--data", few], { stdout: "ignore", stderr: "pipe" });
  await waitFor("the export begins", () => existsSync(`${path}.partial`));
  child.kill(signal);
  const [code, err] = [await child.exited, await child.stderr.text()];
  // On a busy machine, the signal may come when all is done.
  expect([code, err]).toEqual(existsSync(path) ? [0, ""] : [1, `Cannot export into ${path}: it was stopped\n`]);
  expect(existsSync(`${path}.partial`)).toBe(false);
});

test("a killed export leaves the earlier file as it was, and the next one completes", async () => {
  const path = join(aDirectory(), "killed.sqlite");
  const atNow = () => ({ clockShiftMs: NOW - Date.now() });
  const startedAt = performance.now();
  expect((await run(args(path, few), atNow())).code).toBe(0);
  const tookMs = performance.now() - startedAt;
  const expected = expectInStep(fileOfFew);
  for (const isThere of [true, false]) {
    for (let kill = 0; kill < KILLS / 2; kill++) {
      if (!isThere) rmSync(path, { force: true });
      await run(args(path, few), { ...atNow(), killAfterMs: Math.random() * tookMs });
      if (isThere || existsSync(path)) expect(expectInStep(path)).toEqual(expected);
    }
  }
  expect((await run(args(path, few), atNow())).code).toBe(0);
  expect(expectInStep(path)).toEqual(expected);
  expect(readdirSync(join(path, "..")).filter((name) => name !== "killed.sqlite")).toEqual([]);
});
