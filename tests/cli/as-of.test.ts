/** `--as-of`: what commands printed at an instant, they print as of that instant. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";

setDefaultTimeout(300_000); // A busy machine takes its time.

afterAll(dropScratch);

const at = (day: number) => new Date(NOON + day * DAY).toISOString();

/** A data directory, and a function that runs a command on it some days after noon. */
function aHistory() {
  const data = aDirectory();
  const run = (day: number, ...args: string[]) => fundfeed([...args, "--data", data], {}, () => NOON + day * DAY);
  const take = (day: number, records: object[]) => run(day, "import", "records", aFile(records), "--snapshot", "--allow-removals");
  return { data, run, take };
}

const record = (n: number, given: object = {}) => ({
  source: { code: "OWN", opportunity_id: `N${n}` },
  title: "Same",
  dates: { closes_at: at(20) },
  ...given,
});
const ANN = { contacts: [{ name: "Ann", email: "ann@example.org" }] };

test("an export of each format is the one that was made then", async () => {
  const { data, run, take } = aHistory();
  await take(0, [record(1, ANN), record(2), record(3)]);
  const formats = [["ndjson"], ["csv", "--bom"], ["commongrants"], ["commongrants", "--events"], ["ndjson", "--status", "open"]];
  const exported = async (day: number, ...asOf: string[]) => {
    const file = join(data, `day-${day}.sqlite`);
    const outputs = [];
    for (const format of formats) outputs.push((await run(day, "export", "--format", ...format, ...asOf)).out);
    expect((await run(day, "export", "--format", "sqlite", file, ...asOf)).code).toBe(0);
    const directory = join(data, `day-${day}`);
    expect((await run(day, "export", "--format", "parquet", directory, ...asOf)).code).toBe(0);
    const tables = readdirSync(directory).sort();
    return [...outputs, ...[file, ...tables.map((name) => join(directory, name))].map((path) => readFileSync(path).toHex())];
  };
  const made = await exported(1);
  await take(7, [record(1, { title: "Other" }), record(2, { dates: { closes_at: at(30) } }), record(4)]);
  expect(await exported(9, "--as-of", at(1))).toEqual(made);
  expect(await exported(9)).not.toEqual(made);
  expect((await run(9, "export", "--as-of", at(-1))).err).toBe(
    "Nothing was stored then: the first record came on Mar 1, 2026, 12:00 PM UTC, and what was before is not known\n",
  );
});

test("contacts that were erased since are not known, and that is said", async () => {
  const { run, take } = aHistory();
  await take(0, [record(1, ANN), record(2)]);
  expect((await run(1, "redact")).code).toBe(0);
  const { out, err } = await run(2, "export", "--as-of", at(0.5));
  expect(out).not.toContain("Ann");
  expect(err).toBe("As of Mar 2, 2026, 12:00 AM UTC\nThe contacts of 1 record were erased since then and are not known\n");
  expect((await run(2, "export")).err).toBe("");
  expect((await run(2, "show", "N1", "--as-of", at(0.5))).out).toStartWith(
    "As of Mar 2, 2026, 12:00 AM UTC; its contacts were erased on Mar 2, 2026, 12:00\nPM UTC, and are not known\n\nSame\n",
  );
  const shown = async (id: string, day: number) => JSON.parse((await run(2, "show", id, "--as-of", at(day), "--json")).out);
  expect(await shown("N1", 0.5)).toMatchObject({ as_of: at(0.5), unknown_fields: ["contacts"], contacts: [] });
  expect(await shown("N2", 0.5)).toMatchObject({ unknown_fields: [] });
  expect(await shown("N1", 1)).toMatchObject({ unknown_fields: [] });
});

test("one opportunity is shown as it was, with its history until then and the status of the day", async () => {
  const { run, take } = aHistory();
  await take(0, [record(1)]);
  const before = [await run(1, "show", "N1"), await run(7, "show", "N1")];
  await take(12, [record(1, { title: "Other", dates: { closes_at: at(60) } })]);
  expect((await run(13, "show", "N1")).out).toContain("Other");
  for (const [n, day] of [1, 7].entries()) {
    const { out } = await run(13, "show", "N1", "--as-of", at(day));
    expect(out.split("\n").slice(2).join("\n")).toBe(before[n]?.out ?? "");
  }
  expect(before[1]?.out).toContain("closing soon");
  expect((await run(13, "show", "N1", "--as-of", at(-1))).err).toBe(
    `Cannot show N1 as of ${at(-1)}: it was first stored on Mar 1, 2026, 12:00 PM UTC, and what it said before is not known\n`,
  );
});

test("a restored record is not known from before it was restored", async () => {
  const [{ run, take }, restored] = [aHistory(), aHistory()];
  await take(0, [record(1)]);
  await take(2, [record(1, { title: "Other" })]);
  const lines = (await run(3, "export")).out;
  await restored.run(5, "import", "records", aFile(lines));
  expect((await restored.run(8, "show", "N1", "--as-of", at(3))).err).toContain(
    "it was restored from an export on Mar 6, 2026, 12:00 PM UTC, and an export has no earlier versions",
  );
  await restored.take(7, [record(1, { title: "Third" })]);
  expect((await restored.run(8, "export", "--as-of", at(5.5))).out).toBe(lines);
});

test("an export of then in a directory of its own is searched as it was", async () => {
  const { data, run, take } = aHistory();
  await take(0, [record(1, { title: "Quantum" }), record(2, { title: "Quantum", dates: { closes_at: at(1) } }), record(3)]);
  await take(7, [record(1), record(2, { title: "Quantum" }), record(4)]);
  const then = join(data, "then");
  const { out } = await run(40, "export", "--as-of", at(2), "--status", "open,closing_soon");
  await fundfeed(["import", "records", aFile(out), "--data", then], {}, () => NOON + 40 * DAY);
  const found = await fundfeed(["find", "quantum", "--json", "--data", then], {}, () => NOON + 40 * DAY);
  expect(JSON.parse(found.out).data).toMatchObject([{ source: { opportunity_id: "N1" }, title: "Quantum" }]);
});

test("only one moment of the past can be meant", async () => {
  const { run, take } = aHistory();
  await take(0, [record(1)]);
  const refused = async (...args: string[]) => {
    const { code, err } = await run(2, ...args);
    expect(code).toBe(2);
    return err;
  };
  expect(await refused("show", "N1", "--as-of", "2027-01-01")).toContain("It must be in the past, and this is still to come.");
  expect(await refused("find", "--as-of", "1d")).toBe("error: --as-of is not an option of find; see fundfeed help past\n(see --help)\n");
  expect(await refused("export", "--as-of", "all")).toMatch(
    /argument 'all' is invalid\. It must be a time ago .*, or an RFC 3339 timestamp\.\n/,
  );
  expect(await refused("show", "N1", "--as-of", "1d", "--similar")).toContain("--similar looks among the opportunities of today");
});
