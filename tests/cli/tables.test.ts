/** Tables that people read fit a terminal of 80 columns. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const DAY_MS = 86_400_000;
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const data = join(aDirectory(), "data");

beforeAll(async () => {
  const file = join(aDirectory(), "a-directory-with-a-long-name-0123456789".repeat(1).concat(".ndjson"));
  const records = [
    { code: "SIMPLER_GRANTS_GOV", posted_at: dayBefore(0), status: "open" },
    { code: "SAM_GOV", posted_at: dayBefore(1), status: "archived" },
    { code: "DSIP", posted_at: dayBefore(1234), status: "closed" },
    { code: "OWN", posted_at: null, status: "forecasted" },
  ];
  const lines = records.map(({ code, posted_at, status }) => ({
    source: { code, opportunity_id: "1" },
    title: "T",
    status,
    dates: { posted_at },
  }));
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  await fundfeed(["import", "records", file, "--data", data]);
  const db = new Database(join(data, "catalog.db"));
  db.run("update instants set at = at - 23 * 3600000 - 1000 where name = 'imported' and day = ''");
  db.run(`update instants set at = ${Date.now() - 49 * 3600000} where name = 'changed' and day = ''`);
  db.close();
});

describe("imports list", () => {
  test("shows format, time, counts other than zero and files in 80 columns", async () => {
    const db = new Database(join(data, "catalog.db"));
    const insert = db.query(
      "insert into imports values ($id, $format, $files, '[]', $snapshot, $as_of, 1764000000000, $finished_at, null, $counts)",
    );
    const big = 12_345_678;
    const counts = {
      read: big,
      added: big,
      changed: big,
      unchanged: big,
      merged: big,
      rejected: big,
      removed: big,
      linked: big,
      events: big,
    };
    const path = `/srv/${"directory/".repeat(10)}GrantsDBExtract20261121v2.zip`;
    const files = JSON.stringify([{ name: path }, { name: "small\n.csv" }]);
    insert.run({
      $id: 10_000,
      $format: "simpler-grants-gov",
      $files: files,
      $snapshot: 1,
      $as_of: 1763000000000,
      $finished_at: null,
      $counts: JSON.stringify(counts),
    });
    insert.run({ $id: 9999, $format: "events", $files: "[]", $snapshot: 0, $as_of: null, $finished_at: 1764000001000, $counts: "{}" });
    db.close();
    const { out } = await fundfeed(["imports", "list", "--data", data]);
    expect(out).toStartWith(`10000  2025-11-24 16:00:00Z  simpler-grants-gov  snapshot  not finished
       as of 2025-11-13 02:13:20Z
       12,345,678 read: 12,345,678 added, 12,345,678 changed, 12,345,678
       unchanged, 12,345,678 merged, 12,345,678 rejected, 12,345,678 removed,
       12,345,678 linked, 12,345,678 events
       …y/directory/directory/directory/directory/GrantsDBExtract20261121v2.zip
       small\\u000a.csv
 9999  2025-11-24 16:00:00Z  events
       0 read
    1  20`);
    expect(out).toContain(": 4 added, 4 events\n");
    expect(widest(out)).toBeLessThan(80);
  });
});

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));
}

describe("keys list and sources list", () => {
  test("fit 80 columns", async () => {
    await fundfeed(["keys", "create", "--account", "Acme Research", "--label", "sync ".repeat(30), "--expires", "90d", "--data", data]);
    const keys = await fundfeed(["keys", "list", "--data", data]);
    expect(keys.out).toMatch(/^key_\w+ {2}…\w{4} {2}active {3}Acme Research\n {2}"sync /);
    const sources = await fundfeed(["sources", "list", "--data", data]);
    expect(sources.out).toMatch(/^code +import as +name\n/);
    for (const out of [keys.out, sources.out]) expect(widest(out)).toBeLessThan(80);
  });
});

describe("sources status", () => {
  test("shows how fresh each source is, and which has gone silent, in 80 columns", async () => {
    const { out } = await fundfeed(["sources", "status", "--data", data]);
    expect(out).toBe(`source              records  open  posted      changed  imported  state
DSIP                      1     0  1,234 days  2 days   23 hours  –
OWN                       1     0  –           2 days   23 hours  –
SAM_GOV                   1     0  1 day       2 days   23 hours  –
SIMPLER_GRANTS_GOV        1     1  today       2 days   23 hours  –

Records of no known agency: DSIP 1, OWN 1, SAM_GOV 1, SIMPLER_GRANTS_GOV 1;
--agency finds them only by their published names
`);
    expect(widest(out)).toBeLessThanOrEqual(80);
  });

  test("says why a source counts as silent", async () => {
    const silent = join(aDirectory(), "data");
    const posted = Array.from({ length: 12 }, (_, index) => ({
      source: { code: "SIMPLER_GRANTS_GOV", opportunity_id: `${index}` },
      title: "T",
      dates: { posted_at: dayBefore(400 + index) },
    }));
    const file = join(aDirectory(), "posted.ndjson");
    writeFileSync(file, posted.map((line) => JSON.stringify(line)).join("\n"));
    await fundfeed(["import", "records", file, "--data", silent, "--as-of", dayBefore(399)]);
    const { code, out } = await fundfeed(["sources", "status", "--data", silent]);
    expect([code, widest(out) <= 80]).toEqual([0, true]);
    expect(out.split("\n")[1]).toMatch(/^SIMPLER_GRANTS_GOV +12 +\d+ +400 days +399 days +\d+ seconds? +silent$/);
    expect(out.replaceAll(/\s+/g, " ")).toContain(
      `at SIMPLER_GRANTS_GOV: nothing after ${dayBefore(399).slice(0, 10)} was imported; usually`,
    );
  });

  test("calls no age of an import that was dated ahead of the clock, and reports it as stale", async () => {
    const ahead = join(aDirectory(), "data");
    const file = join(aDirectory(), "one.ndjson");
    writeFileSync(file, JSON.stringify({ source: { code: "OWN", opportunity_id: "1" }, title: "T" }));
    await fundfeed(["import", "records", file, "--data", ahead], {}, () => Date.parse("2028-01-01T00:00:00Z"));
    const run = (...args: string[]) => fundfeed([...args, "--data", ahead], {}, () => Date.parse("2026-03-01T00:00:00Z"));
    const { code, out, err } = await run("sources", "status", "--max-age", "1d");
    expect([code, err]).toEqual([1, "Not imported for 24 hours: OWN\n"]);
    expect(out.split("\n")[1]).toMatch(/^OWN +1 +1 +– +– +– +–$/);
    expect((await run("find")).out).toEndWith("\n1 of 1; imported at an unknown time\n");
    expect(JSON.parse((await run("sources", "status", "--json")).out)[0]).toMatchObject({ last_import_age_seconds: null, known_on: null });
  });

  test("has the same values in JSON, and explains them in its help", async () => {
    const { out } = await fundfeed(["sources", "status", "--json", "--data", data]);
    expect(JSON.parse(out)[0]).toEqual({
      source: "DSIP",
      records: 1,
      open: 0,
      live: 1,
      newest_posted_on: dayBefore(1234).slice(0, 10),
      newest_posted_age_days: 1234,
      last_change_at: expect.any(String),
      last_change_age_seconds: expect.any(Number),
      last_import_at: expect.any(String),
      last_import_age_seconds: expect.any(Number),
      known_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      state: null,
      silent_because: null,
      silent_since: null,
      usual_news_pause_days: null,
      usual_import_pause_days: null,
      unresolved: 1,
    });
    expect((await fundfeed(["sources", "status", "--help"])).out).toContain("posted    how long ago the source posted its newest record");
  });
});

test("members list --json has instants as texts, as every command", async () => {
  const data = join(aDirectory(), "data");
  await fundfeed(["members", "add", "a@uni.example", "--data", data]);
  const { out } = await fundfeed(["members", "list", "--json", "--data", data]);
  expect(JSON.parse(out)).toEqual({
    allowed: [{ entry: "a@uni.example", added_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) }],
    members: [],
  });
});
