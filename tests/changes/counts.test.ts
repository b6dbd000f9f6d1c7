/** The counts of records by facet and by date agree with the records after every kind of change. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { sourceStatuses } from "../../src/opportunities/source-counts.ts";
import { listPostingDays } from "../../src/sources/counts.ts";
import { countUnresolved } from "../../src/sources/published-agencies.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { fundfeed } from "../support/command-line.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

const day = (n: number) => formatInstant(NOON + n * DAY);
const record = (n: number, posted: number | null, fields: object = {}) => ({
  source: { code: n % 2 === 1 ? "ODD" : "EVEN", opportunity_id: `N${n}` },
  title: `Title ${n}`,
  organization: { agency: `Agency ${n % 3}` },
  dates: { posted_at: posted === null ? null : day(posted), closes_at: day(30 + n) },
  contacts: [{ name: "Jo Doe", email: null, phone: null, role: null }],
  ...fields,
});

/** Records, open and not archived ones, and the newest date, by source. */
async function countsOf(db: CatalogDb): Promise<unknown> {
  const counts: unknown[] = [];
  for (const { source, records, open, live } of await sourceStatuses(db)) {
    const [newest] = await listPostingDays(db, source, day(1000).slice(0, 10), 1);
    counts.push([source, records, open, live, newest?.slice(5)]);
  }
  return counts;
}

describe.each(engines)("counts on %s", (_, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);

  async function filled() {
    const catalog = await aCatalog(await emptyCatalog());
    await catalog.take([record(1, 1), record(2, 2), record(3, 3), record(4, null), record(5, 5), record(6, 6)]);
    return catalog;
  }

  testIf("follow additions, changes, removals, status turns and redaction", async () => {
    const { db, clock, take } = await filled();
    const expectCounts = async (...expected: unknown[]) => {
      expect(await countsOf(db)).toEqual(expected);
      expect(await checkCatalog(db)).toEqual([]);
    };
    await expectCounts(["EVEN", 3, 3, 3, "03-07"], ["ODD", 3, 3, 3, "03-06"]);

    clock.now += DAY;
    await take([record(6, 4), record(4, 3), record(5, null), record(1, 1, { organization: { agency: "Other" } })]);
    await expectCounts(["EVEN", 3, 3, 3, "03-05"], ["ODD", 3, 3, 3, "03-04"]);

    clock.now += DAY;
    await take([record(1, 1), record(3, 3)], { snapshot: true, allowRemovals: true });
    await expectCounts(["EVEN", 3, 3, 3, "03-05"], ["ODD", 3, 2, 2, "03-04"]);

    await redactStored(db, undefined, NOON + 3 * DAY);
    await turnStatuses(db, NOON + 32 * DAY + 1);
    await expectCounts(["EVEN", 3, 2, 3, "03-05"], ["ODD", 3, 1, 2, "03-04"]);
    await db.close();
  });

  testIf("follow codes of agencies, which are not served", async () => {
    const { db, clock, take } = await filled();
    expect(await countUnresolved(db)).toEqual(
      new Map([
        ["EVEN", 3],
        ["ODD", 3],
      ]),
    );
    for (const codes of [["7529"], ["NO-SUCH"], ["HHS-NIH11"]]) {
      clock.now += DAY;
      await take([record(1, 1, { agency_codes: codes }), record(3, 3, { agency_codes: codes, title: `With ${codes}` })]);
      expect([(await countUnresolved(db)).get("ODD"), await checkCatalog(db)]).toEqual([codes[0] === "NO-SUCH" ? 3 : 1, []]);
    }
    await db.close();
  });
});

describe("the counts of a copy", () => {
  /** A data directory whose records changed, and what its counts say. */
  async function filledDirectory() {
    const data = aDirectory();
    const catalog = await aCatalog(openCatalog(data, NOON));
    await catalog.take([record(1, 1), record(2, 2), record(3, 3), record(4, null)]);
    catalog.clock.now += DAY;
    await catalog.take([record(2, 5), record(3, 3, { organization: { agency: "Other" } })]);
    const counts = await countsOf(catalog.db);
    await catalog.db.close();
    return { data, counts };
  }

  /** Takes a backup, makes the catalog differ from it, and restores it. */
  async function restored(data: string): Promise<string> {
    const backup = join(aDirectory(), "backup");
    await fundfeed(["keys", "create", "--account", "A", "--data", data]); // Creates the state.
    expect((await fundfeed(["backup", backup, "--data", data])).code).toBe(0);
    expect((await fundfeed(["import", "records", aFile([record(7, 9)]), "--data", data])).code).toBe(0);
    expect((await fundfeed(["restore", backup, "--data", data])).code).toBe(0);
    return data;
  }

  async function expectCounts(db: CatalogDb, expected: unknown): Promise<void> {
    expect(await countsOf(db)).toEqual(expected);
    expect(await checkCatalog(db)).toEqual([]);
    const { clock, take } = await aCatalog(db);
    clock.now += 2 * DAY;
    await take([record(8, 8)]); // Is added to the counts that were copied.
    expect(await checkCatalog(db)).toEqual([]);
    await db.close();
  }

  test("are those of the backup after restore", async () => {
    const { data, counts } = await filledDirectory();
    await expectCounts(openCatalog(await restored(data), NOON), counts);
  });
});
