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
  db.run("update imports set finished_at = finished_at - 23 * 3600000 - 1000");
  db.close();
});

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));
}

describe("sources status", () => {
  test("shows what is open beside what is not archived, the age of the data and that of the import", async () => {
    const { out } = await fundfeed(["sources", "status", "--data", data]);
    expect(out).toBe(`source              records  open  not archived  newest data     last import
DSIP                      1     0             1  1,234 days ago  23 hours ago
OWN                       1     0             1  –               23 hours ago
SAM_GOV                   1     0             0  1 day ago       23 hours ago
SIMPLER_GRANTS_GOV        1     1             1  today           23 hours ago
`);
    expect(widest(out)).toBeLessThanOrEqual(80);
  });

  test("has the same as JSON, and says in its help what each is", async () => {
    const { out } = await fundfeed(["sources", "status", "--json", "--data", data]);
    expect(JSON.parse(out)[0]).toEqual({
      source: "DSIP",
      records: 1,
      open: 0,
      live: 1,
      newest_posted_on: dayBefore(1234).slice(0, 10),
      newest_posted_age_days: 1234,
      last_import_at: expect.any(String),
      last_import_age_seconds: expect.any(Number),
    });
    expect((await fundfeed(["sources", "status", "--help"])).out).toContain("newest data   the newest date on which the source posted");
  });
});
