/** Net changes between two instants are the differences of what was stored at both, for random histories. */
import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { contentOfWhole } from "../../src/changes/content.ts";
import { detect } from "../../src/changes/detect.ts";
import type { FeedEntry } from "../../src/events/feed.ts";
import type { Draft } from "../../src/import/format.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { eachNetChange, type Period } from "../../src/past/net-changes.ts";
import { fundfeed } from "../support/command-line.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, aDirectory, aFile, DAY, dropScratch, NOON, opportunitiesOf, type TestCatalog } from "../support/imports.ts";

afterAll(dropScratch);

const ALL = { filter: {} };

async function netChanges({ db }: TestCatalog, period: Period): Promise<FeedEntry[]> {
  const found: FeedEntry[] = [];
  await eachNetChange(db, period, (entries) => void found.push(...entries));
  return found;
}

/** Few values, so that fields often come back to what they were. Dates lie far ahead, so that the clock changes nothing. */
const aRecord = fc.record({
  n: fc.integer({ min: 0, max: 3 }),
  title: fc.constantFrom("One", "Two"),
  summary: fc.constantFrom(null, "Text"),
  closes_at: fc.constantFrom(null, "2029-01-01T00:00:00Z", "2029-02-01T00:00:00Z"),
  funding: fc.constantFrom(null, { currency: "USD", amount_min: "1", amount_max: null, display: null }),
  attachment: fc.boolean(),
});

function draftOf({ n, title, summary, closes_at, funding, attachment }: ReturnType<typeof aRecord.generate>["value"]): Draft {
  const attachments = attachment ? [{ name: "Call", url: "https://example.org/call.pdf" }] : [];
  const fields = { title, summary, status: "open", funding, dates: { closes_at }, attachments };
  return { source: { code: "OWN", opportunity_id: `N${n}` }, ...fields } as Draft;
}

/** What is expected: `added`, `removed` or the changed fields with both values, by the id of a record. */
function expected(before: readonly WholeOpportunity[], after: readonly WholeOpportunity[]): Map<string, unknown> {
  const was = new Map(before.map((record) => [record.id, record]));
  const found = after.flatMap((record): [string, unknown][] => {
    const earlier = was.get(record.id);
    if (earlier === undefined) return record.status === "archived" ? [] : [[record.id, "added"]];
    const changes = detect(contentOfWhole(earlier), contentOfWhole(record));
    return changes.length === 0 ? [] : [[record.id, changes.map((change) => change.field).sort()]];
  });
  return new Map(found);
}

function told(entries: readonly FeedEntry[]): Map<string, unknown> {
  const byRecord = Map.groupBy(entries, ({ event }) => event.opportunity_id);
  return new Map(
    [...byRecord].map(([id, all]) => {
      const isAdded = all.some(({ event }) => event.type === "opportunity_added");
      return [id, isAdded ? "added" : all.flatMap(({ event }) => event.changed_fields).sort()];
    }),
  );
}

describe.each(engines)("net changes on %s", (name, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);

  testIf("are what differs between any two instants", async () => {
    const imports = fc.array(
      fc.record({ records: fc.uniqueArray(aRecord, { selector: ({ n }) => n, minLength: 1 }), snapshot: fc.boolean() }),
      {
        minLength: 2,
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(imports, async (all) => {
        const catalog = await aCatalog(await emptyCatalog());
        const stored = [await opportunitiesOf(catalog.db)];
        for (const [day, { records, snapshot }] of all.entries()) {
          catalog.clock.now = NOON + (day + 1) * DAY;
          await catalog.take(records.map(draftOf), { snapshot, allowRemovals: true });
          stored.push(await opportunitiesOf(catalog.db));
        }
        for (let from = 0; from < stored.length; from++)
          for (let to = from + 1; to < stored.length; to++) {
            const period = { since: NOON + from * DAY + DAY / 2, until: NOON + to * DAY + DAY / 2, ...ALL };
            expect(told(await netChanges(catalog, period))).toEqual(expected(stored[from] ?? [], stored[to] ?? []));
          }
        await catalog.db.close();
      }),
      { numRuns: name === "SQLite" ? 20 : 5 },
    );
  });
});

test("the command counts what is new, gone and changed, and leaves out what came back", async () => {
  const data = aDirectory();
  const at = (day: number) => new Date(NOON + day * DAY).toISOString();
  const run = (day: number, ...args: string[]) => fundfeed([...args, "--data", data], {}, () => NOON + day * DAY);
  const record = (n: number, title = "Same") => ({ source: { code: "OWN", opportunity_id: `N${n}` }, title, status: "open" });
  const take = (day: number, records: object[]) => run(day, "import", "records", aFile(records), "--snapshot", "--allow-removals");
  await take(0, [record(1), record(2), record(3)]);
  await take(2, [record(1, "Other"), record(2, "Other"), record(4)]);
  await take(4, [record(1), record(2, "Last"), record(4), record(3)]);
  const { code, out, err } = await run(5, "diff", at(1));
  expect([code, err]).toEqual([0, ""]);
  expect(out).toEndWith("\n1 added, 0 removed, 1 changed from Mar 2, 2026, 12:00 PM UTC to Mar 6, 2026,\n12:00 PM UTC; informational\n");
  const json = JSON.parse((await run(5, "diff", at(1), at(3), "--json")).out);
  expect(json.records).toEqual({ added: 1, removed: 1, changed: 2 });
  expect((await run(5, "diff", at(1), at(3), "--words", "nothing", "--format", "ndjson")).out).toBe("");
  expect((await run(5, "diff", at(3), at(1))).err).toContain(`${at(3)} must be earlier than ${at(1)}`);
  expect((await run(5, "diff", at(3), at(6))).err).toContain("It must be in the past, and this is still to come.");
  expect((await run(5, "quality", "--since", at(6))).err).toContain("It must be in the past, and this is still to come.");
});
