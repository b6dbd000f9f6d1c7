/** `export` with filters and as CSV. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Filter, matches, readFilter } from "../../src/filter/filter.ts";
import { type CsvRow, csvRows } from "../../src/import/readers/csv-rows.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { aDirectoryOfAll } from "../support/all-records.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";

setDefaultTimeout(300_000);

let data: string;
let all: WholeOpportunity[];

beforeAll(async () => {
  ({ data, all } = await aDirectoryOfAll());
});
afterAll(dropScratch);

async function rowsOf(csv: string): Promise<CsvRow[]> {
  const bytes = (async function* () {
    yield Buffer.from(csv);
  })();
  return Array.fromAsync(csvRows(bytes, ["id", "title"]), ({ raw }) => raw);
}

const exported = (...args: string[]) => fundfeed(["export", ...args, "--data", data], {}, () => NOON);

test.each<[string[], object]>([
  [["--status", "open,closing_soon"], { status: ["open", "closing_soon"] }],
  [["--source", "SAM_GOV", "--psc", "6"], { source: ["SAM_GOV"], psc: ["6"] }],
  [["--agency", "navy", "--program-type", "sbir"], { agency: "navy", program_type: ["SBIR"] }],
  [["--min-amount", "1000000"], { min_amount: "1000000" }],
])("fundfeed export %p has the records that match, as NDJSON and as CSV", async (args, json) => {
  const filter: Filter = readFilter(json, "the filter");
  const expected = all.filter((opportunity) => matches(filter, opportunity, NOON)).map(({ id }) => id);
  expect(expected.length).toBeGreaterThan(0);
  const lines = (await exported(...args)).out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(expected);
  expect((await rowsOf((await exported(...args, "--format", "csv")).out)).map(({ id }) => id ?? "")).toEqual(expected);
});

test("CSV has a line for each record, with the documented columns", async () => {
  const { code, out, err } = await exported("--format", "csv");
  const rows = await rowsOf(out);
  expect([code, err, rows.length]).toEqual([0, "", all.length]);
  const documented = await Bun.file(`${import.meta.dir}/../../docs/reference/filters.md`).text();
  const [, columns = ""] = /^Columns: ([\s\S]*?)\n\n/m.exec(documented) ?? [];
  expect(out.split("\r\n")[0]?.split(",")).toEqual([...columns.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ""));

  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const { id, title, funding, dates, classifications } of all) {
    const row = byId.get(id);
    expect(row?.title?.replace(/^'/, "")).toBe(title.replace(/\r\n?/g, "\n").replace(/^'/, ""));
    expect([row?.amount_max, row?.closes_at]).toEqual([funding?.amount_max ?? "", dates.closes_at ?? ""]);
    expect(row?.naics_codes?.split("; ").filter(Boolean)).toEqual(classifications.naics_codes);
  }
});

test("CSV of hostile records runs nothing and keeps its rows apart", async () => {
  const directory = aDirectory();
  const record = {
    source: { code: "OWN", opportunity_id: "=1+1" },
    title: '=HYPERLINK("http://example.gov","x"),\n"y"\r\n',
    organization: { agency: "@SUM(1)" },
    classifications: { keywords: ["a; b", "c", "-d"] },
    funding: { amount_min: "-1.50" },
  };
  await fundfeed(["import", "records", aFile([record]), "--data", directory]);
  const [row, ...rest] = await rowsOf((await fundfeed(["export", "--format", "csv", "--data", directory])).out);
  expect(rest).toEqual([]);
  expect(row).toMatchObject({ upstream_id: "'=1+1", agency: "'@SUM(1)", keywords: "a, b; c; -d", amount_min: "-1.50" });
  expect(row?.title).toStartWith(`'=HYPERLINK("http://example.gov","x"),\n"y"`);
});

test("--bom begins CSV with a byte-order mark, and is refused without CSV", async () => {
  expect((await exported("--format", "csv", "--bom", "--status", "forecast")).out).toStartWith("\ufeffid,source,");
  const { code, err } = await exported("--bom");
  expect([code, err]).toEqual([2, expect.stringContaining("error: --bom needs --format csv")]);
});
