/** Imports from beginning to end: what they store, what they leave alone, what they refuse (D-30 to D-36). */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { type DatabaseFile, openCatalog } from "../../db/sqlite/open.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import type { Draft } from "../../src/import/format.ts";
import { records } from "../../src/import/formats/records.ts";
import { emptySummary } from "../../src/import/import-log.ts";
import { importFiles } from "../../src/import/run.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { noSidecar } from "../../src/opportunities/opportunity.ts";
import { addSource } from "../../src/sources/source.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { onPostgres } from "../support/database-locations.ts";
import {
  aCatalog,
  aDirectory,
  aFile,
  contentsOf,
  cutShort,
  DAY,
  documentOf,
  documentsOf,
  dropScratch,
  eventsOf,
  exportOf,
  inScratch,
  NOON,
  opportunitiesOf,
  ordersOf,
  SECOND,
  type TestCatalog,
} from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

/** Records in one transaction of an import that has several: fewer than usual. */
const FEW = 400;
const NOTHING = { ...emptySummary, rejects: [], messages: [] };

/** A record whose status follows its dates, unless it states one. */
const record = (id: string, fields: Partial<Draft> = {}): Draft => ({
  source: { code: "A", opportunity_id: id },
  title: `Title ${id}`,
  ...fields,
});
const many = (count: number, fields: Partial<Draft> = {}) => Array.from({ length: count }, (_, n) => record(`N${n}`, fields));
const instants = async ({ db }: TestCatalog) => [...new Set((await documentsOf(db)).map(({ updated_at }) => updated_at))];

describe("import", () => {
  test("stores a new record at the instant of its transaction, with its addition", async () => {
    const catalog = await aCatalog();
    expect(await catalog.take([record("N1")])).toEqual({ ...NOTHING, read: 1, added: 1, events: 1 });
    const source = { code: "A", name: "A", opportunity_id: "N1", url: null };
    const [created_at, updated_at] = [formatInstant(NOON), formatInstant(NOON)];
    expect(await documentsOf(catalog.db)).toMatchObject([
      { id: opportunityId("A", "N1"), source, title: "Title N1", status: "open", created_at, updated_at },
    ]);
    expect(await eventsOf(catalog.db, "N1")).toEqual([
      expect.objectContaining({
        type: "opportunity_added",
        severity: "informational",
        changed_fields: [],
        changes: [],
        detected_at: "2026-03-01T12:00:00.000Z",
      }),
    ]);
  });

  test("stores a change and its events at one instant, and keeps created_at", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N1")]);
    catalog.clock.now += SECOND;
    const summary = await catalog.take([record("N1", { title: "Another", dates: { closes_at: "2026-06-01T00:00:00Z" } })]);
    expect(summary).toEqual({ ...NOTHING, read: 1, changed: 1, events: 2 });
    expect(await documentOf(catalog.db, "N1")).toMatchObject({
      title: "Another",
      created_at: "2026-03-01T12:00:00.000Z",
      updated_at: "2026-03-01T12:00:01.000Z",
    });
    expect((await eventsOf(catalog.db, "N1")).map(({ type, detected_at }) => [type, detected_at])).toEqual([
      ["opportunity_added", "2026-03-01T12:00:00.000Z"],
      ["date_changed", "2026-03-01T12:00:01.000Z"],
      ["description_changed", "2026-03-01T12:00:01.000Z"],
    ]);
  });

  test("writes nothing for unchanged records (D-32)", async () => {
    const catalog = await aCatalog();
    const file = [
      record("N1", { dates: { closes_at: "2026-03-10T00:00:00-05:00" }, lineage: "L1", earlier_ids: ["N0"] }),
      record("N2", { status: "open", funding: { amount_max: "5" }, contacts: [{ name: "Ann" }], attachments: [{ name: "a", url: null }] }),
    ];
    await catalog.take(file);
    const before = await contentsOf(catalog.db);
    catalog.clock.now += SECOND;
    expect(await catalog.take(file)).toEqual({ ...NOTHING, read: 2, unchanged: 2 });
    expect(await catalog.take(file, { snapshot: true })).toEqual({ ...NOTHING, read: 2, unchanged: 2 });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("writes nothing if only the offset of a date changes, and keeps the date as first published", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N1", { dates: { closes_at: "2026-06-01T00:00:00-04:00" } })]);
    const before = await contentsOf(catalog.db);
    expect(await catalog.take([record("N1", { dates: { closes_at: "2026-06-01T04:00:00Z" } })])).toMatchObject({
      unchanged: 1,
      changed: 0,
    });
    expect(await contentsOf(catalog.db)).toBe(before);
    await catalog.take([record("N1", { title: "New", dates: { closes_at: "2026-06-01T04:00:00Z" } })]);
    expect(await documentOf(catalog.db, "N1")).toMatchObject({ title: "New", dates: { closes_at: "2026-06-01T00:00:00-04:00" } });
    expect(await faults(catalog)).toEqual([]);
  });

  test("records changes of attachments and questions, which are not served", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N1")]);
    catalog.clock.now += SECOND;
    await catalog.take([record("N1", { attachments: [{ name: "spec.pdf", url: null }], questions: [{ question: "Why?", answer: null }] })]);
    expect((await documentOf(catalog.db, "N1")).updated_at).toBe("2026-03-01T12:00:01.000Z");
    expect((await eventsOf(catalog.db, "N1")).slice(1)).toEqual([
      expect.objectContaining({
        type: "qanda_updated",
        changes: [{ field: "questions", previous: [], current: [{ question: "Why?", answer: null }] }],
      }),
      expect.objectContaining({
        type: "attachments_changed",
        changes: [{ field: "attachments", previous: [], current: [{ name: "spec.pdf", url: null }] }],
      }),
    ]);
  });

  test("stores a change of the rest of the sidecar silently, and an import of the same again changes nothing", async () => {
    const catalog = await aCatalog();
    const due = "2026-06-01T17:00:00-04:00"; // The next due date is served (E-64).
    const plain = () => record("N1", { dates: { response_at: due } });
    const file = (agency_codes: string[]) => [
      {
        ...plain(),
        agency_codes,
        due_dates: [{ at: due, words: "June 1" }],
        expires_at: "2027-01-01T00:00:00Z",
        applicant_types: ["06"],
        place: { state: "TX" },
        award: { number: "A1", amount: "5.00" },
      },
    ];
    await catalog.take([plain()]);
    const before = await documentOf(catalog.db, "N1");
    for (const codes of [["HHS-NIH11"], ["NSF"]]) {
      catalog.clock.now += SECOND;
      expect(await catalog.take(file(codes))).toEqual({ ...NOTHING, read: 1, unchanged: 1 });
      expect(await documentOf(catalog.db, "N1")).toEqual(before);
      expect((await eventsOf(catalog.db, "N1")).map(({ type }) => type)).toEqual(["opportunity_added"]);
      expect((await opportunitiesOf(catalog.db))[0]?.sidecar).toEqual({
        attachments: [],
        questions: [],
        questions_read: null,
        agency_codes: codes,
        due_dates: [{ at: due, words: "June 1" }],
        expires_at: "2027-01-01T00:00:00Z",
        deadline_note: null,
        applicant_types: ["06"],
        place: { city: null, state: "TX", country: null },
        award: { number: "A1", date: null, amount: "5.00", awardee: null },
      });
      expect(await faults(catalog)).toEqual([]);
    }
    const stored = await contentsOf(catalog.db);
    catalog.clock.now += SECOND;
    await catalog.take(file(["NSF"]));
    expect(await contentsOf(catalog.db)).toBe(stored);
    await catalog.take([plain()]); // Without them again: they are gone, and not kept as empty values.
    expect((await opportunitiesOf(catalog.db))[0]?.sidecar).toEqual(noSidecar);
    expect(await exportOf(catalog.db)).toEqual([expect.not.stringContaining("agency_codes")]);
  });

  test("stores the last of two records with one key in a file", async () => {
    const catalog = await aCatalog();
    const summary = await catalog.take([record("N1", { title: "First" }), record("N2"), record("N1", { title: "Last" })]);
    expect(summary).toEqual({ ...NOTHING, read: 3, added: 2, merged: 1, events: 2 });
    expect((await documentOf(catalog.db, "N1")).title).toBe("Last");
    const before = await contentsOf(catalog.db);
    expect(await catalog.take([record("N1", { title: "First" }), record("N1", { title: "Last" })])).toMatchObject({
      unchanged: 1,
      changed: 0,
    });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("imports several files as one unit", async () => {
    const catalog = await aCatalog();
    const files = [aFile([record("N1", { title: "First" })]), aFile([record("N2"), record("N1", { title: "Last" })])];
    expect(await catalog.takeFiles(files)).toEqual({ ...NOTHING, read: 3, added: 2, merged: 1, events: 2 });
    expect((await documentOf(catalog.db, "N1")).title).toBe("Last");
  });

  test("accepts blank lines, a byte-order mark, CRLF and gzip", async () => {
    const catalog = await aCatalog();
    const path = inScratch("packed.ndjson.gz");
    writeFileSync(path, gzipSync(`\ufeff\r\n${JSON.stringify(record("N1"))}\r\n\r\n  \n${JSON.stringify(record("N2"))}`));
    expect(await catalog.takeFiles([path])).toEqual({ ...NOTHING, read: 2, added: 2, events: 2 });
  });

  test("names a source as the catalog does at the time of the import", async () => {
    const catalog = await aCatalog();
    await addSource(catalog.db, { code: "a", name: "Alpha", description: "" });
    await catalog.take([record("N1")]);
    expect((await documentOf(catalog.db, "N1")).source).toMatchObject({ code: "A", name: "Alpha" });
  });

  test("an empty file and one of blank lines have no records", async () => {
    const catalog = await aCatalog();
    expect(await catalog.take("")).toEqual(NOTHING);
    expect(await catalog.take("\n \n\r\n")).toEqual(NOTHING);
    expect(await catalog.take("", { snapshot: true })).toEqual(NOTHING);
  });
});

describe("identity (D-30)", () => {
  test("a record that gets a new upstream id under its lineage is changed, and is found by all of them", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N1", { lineage: "L" })]);
    catalog.clock.now += SECOND;
    expect(await catalog.take([record("N2", { lineage: "L", title: "Title N1" })])).toMatchObject({ changed: 1, added: 0, events: 1 });
    expect((await documentOf(catalog.db, "N2")).id).toBe(opportunityId("A", "L"));
    expect(await upstreamIds(catalog)).toEqual(["N1", "N2"]);
    expect((await eventsOf(catalog.db, "N2"))[1]).toMatchObject({ type: "field_updated", changed_fields: ["source.opportunity_id"] });
  });

  test("earlier ids are stored without a visible change, and no id is ever dropped", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N2")]);
    catalog.clock.now += SECOND;
    expect(await catalog.take([record("N2", { earlier_ids: ["N1", "N2"] })])).toEqual({ ...NOTHING, read: 1, unchanged: 1 });
    expect(await upstreamIds(catalog)).toEqual(["N1", "N2"]);
    expect((await documentOf(catalog.db, "N2")).updated_at).toBe(formatInstant(NOON));
    await catalog.take([record("N2", { title: "New" })]);
    expect(await upstreamIds(catalog)).toEqual(["N1", "N2"]);
  });

  test("the same upstream id in two sources is two records; the letter case of the code does not matter", async () => {
    const catalog = await aCatalog();
    const ofSource = (code: string) => ({ source: { code, opportunity_id: "N1" }, title: "T" });
    expect(await catalog.take([ofSource("a"), ofSource("b"), ofSource("A")])).toMatchObject({ read: 3, added: 2 });
  });
});

describe("instants (D-31)", () => {
  test("each chunk has an instant of its own, later than the one before", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(2 * FEW + 1), { chunk: FEW });
    expect(await instants(catalog)).toEqual([NOON, NOON + 1, NOON + 2].map(formatInstant));
    const counts = await catalog.db.all(rawSql("select count(*) as count from opportunities group by updated_at order by updated_at"));
    expect(counts).toEqual([FEW, FEW, 1].map((count) => ({ count })));
  });

  test("updated_at increases even if the clock stands or goes back", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N1")]);
    await catalog.take([record("N2")]);
    catalog.clock.now -= DAY;
    await catalog.take([record("N1", { title: "New" })]);
    await turnStatuses(catalog.db, catalog.clock.now);
    expect((await documentsOf(catalog.db)).map(({ source, updated_at }) => [source.opportunity_id, updated_at])).toEqual([
      ["N2", formatInstant(NOON + 1)],
      ["N1", formatInstant(NOON + 3)], // N2 was judged again and stored silently before it (E-14, E-56).
    ]);
    expect((await documentOf(catalog.db, "N1")).created_at).toBe(formatInstant(NOON));
  });

  test("--as-of is the instant of what is found, plus 1 ms for each further chunk", async () => {
    const catalog = await aCatalog();
    const asOf = Date.UTC(2021, 0, 6);
    await catalog.take(many(FEW + 1), { asOf, chunk: FEW });
    expect(await instants(catalog)).toEqual(["2021-01-06T00:00:00.000Z", "2021-01-06T00:00:00.001Z"]);
    expect((await eventsOf(catalog.db, "N0"))[0]?.detected_at).toBe("2021-01-06T00:00:00.000Z");
  });

  test("--as-of must be later than the newest change", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("N1")], { asOf: NOON });
    const before = await contentsOf(catalog.db);
    for (const asOf of [NOON, NOON - 1]) {
      await expect(catalog.take([record("N2")], { asOf })).rejects.toThrow("--as-of must be later");
      await expect(catalog.take([record("N2")], { asOf, dryRun: true })).rejects.toThrow("--as-of must be later");
    }
    expect(await contentsOf(catalog.db)).toBe(before);
    expect(await catalog.take([record("N2")], { asOf: NOON + 1 })).toMatchObject({ added: 1 });
  });

  test("--as-of first turns due statuses, each at its own instant", async () => {
    const catalog = await aCatalog();
    const [closes, opens] = [NOON + 30 * DAY, NOON + 2 * DAY];
    const file = [record("N1", { dates: { opens_at: formatInstant(opens), closes_at: formatInstant(closes) } })];
    await catalog.take(file, { asOf: NOON });
    await catalog.take(file, { asOf: closes + DAY });
    expect(
      (await eventsOf(catalog.db, "N1")).map(({ type, severity, changes, detected_at }) => [type, severity, changes, detected_at]),
    ).toEqual([
      ["opportunity_added", "informational", [], formatInstant(NOON)],
      ["status_changed", "informational", [{ field: "status", previous: "pre_release", current: "open" }], formatInstant(opens)],
      [
        "status_changed",
        "informational",
        [{ field: "status", previous: "open", current: "closing_soon" }],
        formatInstant(closes - 14 * DAY),
      ],
      ["status_changed", "informational", [{ field: "status", previous: "closing_soon", current: "closed" }], formatInstant(closes)],
    ]);
    expect(await documentOf(catalog.db, "N1")).toMatchObject({ status: "closed", updated_at: formatInstant(closes) });
    expect(await faults(catalog)).toEqual([]);
  });
});

describe("--snapshot (D-34)", () => {
  const removal = (from: string) => ({
    type: "opportunity_removed",
    severity: "critical",
    changed_fields: ["status"],
    changes: [{ field: "status", previous: from, current: "archived" }],
  });

  test("archives what is missing, as one event", async () => {
    const catalog = await aCatalog();
    await catalog.take([...many(9), record("gone", { dates: { closes_at: formatInstant(NOON + 5 * DAY) } })]);
    catalog.clock.now += SECOND;
    expect(await catalog.take(many(9), { snapshot: true })).toEqual({ ...NOTHING, read: 9, unchanged: 9, removed: 1, events: 1 });
    expect(await documentOf(catalog.db, "gone")).toMatchObject({ status: "archived", updated_at: formatInstant(NOON + SECOND) });
    expect((await eventsOf(catalog.db, "gone")).slice(1)).toEqual([expect.objectContaining(removal("closing_soon"))]);
    expect(await catalog.take(many(9), { snapshot: true })).toMatchObject({ removed: 0, events: 0 });
    await turnStatuses(catalog.db, NOON + 400 * DAY);
    expect(await eventsOf(catalog.db, "gone")).toHaveLength(2); // The clock does not move what is archived.
    expect(await faults(catalog)).toEqual([]);
  });

  test("does not touch other sources or archived records", async () => {
    const catalog = await aCatalog();
    await catalog.take([...many(9), record("old", { status: "archived" }), { source: { code: "B", opportunity_id: "N1" }, title: "T" }]);
    const before = await contentsOf(catalog.db);
    expect(await catalog.take(many(9), { snapshot: true })).toMatchObject({ removed: 0 });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("refuses to remove more than 20 % of a source's live records without --allow-removals", async () => {
    const catalog = await aCatalog();
    await catalog.take([...many(10), record("old", { status: "archived" }), record("older", { status: "archived" })]);
    expect(await catalog.take(many(8), { snapshot: true })).toMatchObject({ removed: 2 }); // 20 % is not more than 20 %.
    const before = await contentsOf(catalog.db);
    await expect(catalog.take([...many(6), record("new")], { snapshot: true })).rejects.toThrow(
      "it would remove 2 of the 8 live A records, more than 20 %; --allow-removals says that this is right",
    );
    expect(await contentsOf(catalog.db)).toBe(before);
    expect(await catalog.take(many(6), { snapshot: true, allowRemovals: true })).toMatchObject({ removed: 2 });
  });

  test("applies the limit of removals to each source alone", async () => {
    const catalog = await aCatalog();
    const few = [record("B1"), record("B2")].map((each) => ({ ...each, source: { ...each.source, code: "B" } }));
    await catalog.take([...many(20), ...few]);
    await expect(catalog.take([...many(20), ...few.slice(1)], { snapshot: true })).rejects.toThrow("1 of the 2 live B records");
  });

  test("counts a rejected record as present, by its lineage, its id or an earlier id", async () => {
    const catalog = await aCatalog();
    await catalog.take([
      ...many(20),
      record("now", { lineage: "L1", earlier_ids: ["then"] }),
      record("M2", { lineage: "L2" }),
      record("M3"),
    ]);
    const bad = { title: 5 };
    const sent = [
      ...many(20),
      { ...record("then"), ...bad },
      { ...record("M4"), lineage: "L2", ...bad },
      { ...record("M3"), source: { code: "a", opportunity_id: "M3" }, ...bad },
    ];
    expect(await catalog.take(sent, { snapshot: true })).toMatchObject({ read: 23, rejected: 3, removed: 0, unchanged: 20 });
  });

  test("a source of which every record is rejected is not emptied", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(3));
    const summary = await catalog.take(
      many(3).map((each) => ({ ...each, title: null })),
      { snapshot: true },
    );
    expect(summary).toMatchObject({ rejected: 3, removed: 0 });
  });

  test.each([
    ["nothing", ""],
    ["blank lines", "\n\n"],
  ])("a snapshot of %s removes nothing", async (_, content) => {
    const catalog = await aCatalog();
    await catalog.take(many(3));
    const before = await contentsOf(catalog.db);
    expect(await catalog.take(content, { snapshot: true })).toEqual(NOTHING);
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test.each([
    ["a page about maintenance", "<!doctype html>\n<h1>Down for maintenance</h1>\n", "none of its lines is a JSON object"],
    [
      "a file that ends in the middle",
      many(10)
        .map((each) => JSON.stringify(each))
        .join("\n")
        .slice(0, -9),
      "so the file may be truncated",
    ],
  ])("refuses %s, and changes nothing", async (_, content, reason) => {
    const catalog = await aCatalog();
    await catalog.take(many(11));
    const before = await contentsOf(catalog.db);
    await expect(catalog.take(content, { snapshot: true })).rejects.toThrow(reason);
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("a maintenance page removes nothing", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(3));
    expect(await catalog.take('{"message":"Down for maintenance"}', { snapshot: true })).toMatchObject({ rejected: 1, removed: 0 });
  });

  test("a line in the middle that cannot be read is rejected alone", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(10));
    const file = [...many(9), "{", record("N10")];
    expect(await catalog.take(file, { snapshot: true })).toMatchObject({ rejected: 1, added: 1, removed: 1, unchanged: 9 });
  });

  test("refuses a gzip file that ends in the middle", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(200));
    const before = await contentsOf(catalog.db);
    const path = inScratch("cut.ndjson.gz");
    writeFileSync(
      path,
      gzipSync(
        many(200)
          .map((each) => JSON.stringify(each))
          .join("\n"),
      ).subarray(0, -40),
    );
    await expect(catalog.takeFiles([path], { snapshot: true })).rejects.toThrow("Cannot read");
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test.each<[string, Partial<Draft>, string, string]>([
    ["open", {}, "open", "critical"],
    ["closing soon", { dates: { closes_at: formatInstant(NOON + 5 * DAY) } }, "closing_soon", "critical"],
    ["closed", { dates: { closes_at: formatInstant(NOON - DAY) } }, "closed", "material"],
    ["pre-release", { dates: { opens_at: formatInstant(NOON + DAY) } }, "pre_release", "material"],
    ["what it states", { status: "awarded" }, "awarded", "material"],
  ])("a removed record that comes back is %s again, with a status_changed", async (_, fields, status, severity) => {
    const catalog = await aCatalog();
    const file = [record("back", fields), ...many(9)];
    await catalog.take(file);
    await catalog.take(many(9), { snapshot: true });
    expect((await documentOf(catalog.db, "back")).status).toBe("archived");
    expect(await catalog.take(file, { snapshot: true })).toMatchObject({ changed: 1, unchanged: 9, removed: 0 });
    expect((await documentOf(catalog.db, "back")).status).toBe(status);
    expect((await eventsOf(catalog.db, "back")).map(({ type, severity: each }) => [type, each])).toEqual([
      ["opportunity_added", "informational"],
      ["opportunity_removed", "critical"],
      ["status_changed", severity],
    ]);
    expect(await faults(catalog)).toEqual([]);
  });
});

describe("status (D-37)", () => {
  test("a stated status is kept; without one, it follows from the dates", async () => {
    const catalog = await aCatalog();
    const dates = { closes_at: formatInstant(NOON + 20 * DAY) };
    await catalog.take([record("N1", { status: "open", dates })]);
    await turnStatuses(catalog.db, NOON + 30 * DAY);
    expect((await documentOf(catalog.db, "N1")).status).toBe("open");
    expect(await catalog.take([record("N1", { dates })])).toMatchObject({ unchanged: 1, changed: 0, events: 0 });
    catalog.clock.now += 10 * DAY;
    await turnStatuses(catalog.db, catalog.clock.now);
    expect((await documentOf(catalog.db, "N1")).status).toBe("closing_soon");
    expect(await catalog.take([record("N1", { status: "closing_soon", dates })])).toMatchObject({ unchanged: 1, events: 0 });
    await turnStatuses(catalog.db, NOON + 30 * DAY);
    expect((await documentOf(catalog.db, "N1")).status).toBe("closing_soon");
    expect(await faults(catalog)).toEqual([]);
  });

  test("what stated too early that it is closed follows its dates when it is closed indeed", async () => {
    const catalog = await aCatalog();
    const dates = { closes_at: formatInstant(NOON + 20 * DAY) };
    await catalog.take([record("N1", { status: "closed", dates })]);
    catalog.clock.now += 30 * DAY;
    expect(await catalog.take([record("N1", { dates })])).toMatchObject({ unchanged: 1 });
    expect(await documentOf(catalog.db, "N1")).toMatchObject({ status: "closed", updated_at: formatInstant(NOON) });
    expect(await faults(catalog)).toEqual([]);
  });

  test("a record without status and dates is open, also with its own created_at and updated_at", async () => {
    const catalog = await aCatalog();
    const stamps = { created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-02T00:00:00Z" };
    await catalog.take([{ ...record("N1"), ...stamps }, record("N2")]);
    expect(await documentOf(catalog.db, "N1")).toMatchObject({ status: "open", updated_at: "2026-01-02T00:00:00.000Z" });
    expect(await documentOf(catalog.db, "N2")).toMatchObject({ status: "open", updated_at: formatInstant(NOON) });
    expect(await faults(catalog)).toEqual([]);
  });
});

describe("rejects (D-35)", () => {
  test("a bad record is rejected alone, and kept with its line and the reason", async () => {
    const catalog = await aCatalog();
    const bad = { source: { code: "A", opportunity_id: "N2" }, title: "T", color: "red" };
    const path = aFile([record("N1"), "", bad, "{not json", record("N3"), "[]"], "mixed.ndjson");
    expect(await catalog.takeFiles([path])).toEqual({
      ...NOTHING,
      read: 5,
      added: 2,
      events: 2,
      rejected: 3,
      reasons: [
        { reason: "the line must be a JSON object", records: 2, file: path, line: 4 },
        { reason: 'unknown field "color"', records: 1, file: path, line: 3 },
      ],
      rejects: [`${path}.rejects.ndjson`],
    });
    expect(rejectsOf(`${path}.rejects.ndjson`)).toEqual([
      { line: 3, reason: 'unknown field "color"', record: bad },
      { line: 4, reason: "the line must be a JSON object", record: "{not json" },
      { line: 6, reason: "the line must be a JSON object", record: "[]" },
    ]);
  });

  test("a line that is not UTF-8 is rejected alone", async () => {
    const catalog = await aCatalog();
    const path = inScratch("latin.ndjson");
    writeFileSync(
      path,
      Buffer.concat([Buffer.from(`${JSON.stringify(record("N1"))}\n{"title":"caf`), Buffer.from([0xe9]), Buffer.from('"}\n')]),
    );
    expect(await catalog.takeFiles([path])).toMatchObject({ added: 1, rejected: 1 });
  });

  test("of all files go to the file of --rejects", async () => {
    const catalog = await aCatalog();
    const rejects = inScratch("rejects.ndjson");
    const paths = [aFile([record("N1"), "{}"]), aFile([record("N2"), "x"])];
    expect(await catalog.takeFiles(paths, { rejects })).toMatchObject({ added: 2, rejected: 2, rejects: [rejects] });
    expect(rejectsOf(rejects).map(({ line, reason }) => [line, reason])).toEqual([
      [2, "source.code is required"],
      [2, "the line must be a JSON object"],
    ]);
  });

  test("keep every digit of a number, and repeated fields", async () => {
    const path = aFile('{"source":{"code":"A","opportunity_id":"N1"},"title":1,"title":12345678901234567890.10}\r\n\ufeff {}\n');
    await (await aCatalog()).takeFiles([path]);
    expect(readFileSync(`${path}.rejects.ndjson`, "utf8")).toBe(
      '{"line":1,"reason":"title must be a string","record":{"source":{"code":"A","opportunity_id":"N1"},"title":1,"title":12345678901234567890.10}}\n' +
        '{"line":2,"reason":"source.code is required","record":{}}\n',
    );
  });

  test("never overwrite an input or anything but a regular file", async () => {
    const catalog = await aCatalog();
    const content = [record("N1"), "x"];
    const [input, mended] = [aFile(content, "input.ndjson"), aFile(content, "input.ndjson.rejects.ndjson")];
    const link = inScratch("link-to-input");
    symlinkSync(input, link);
    for (const rejects of [input, link, undefined]) {
      await expect(catalog.takeFiles([input, mended], { rejects })).rejects.toThrow(/^Cannot write rejects to .*: it is one of the files/);
    }
    await expect(catalog.takeFiles([input], { rejects: aDirectory() })).rejects.toThrow("it exists and is not a regular file");
    await expect(catalog.takeFiles([input], { rejects: inScratch("none/here") })).rejects.toThrow(
      /^Cannot write rejects to .*none.here: the directory .*; choose another file with --rejects FILE$/,
    );
    expect(await documentsOf(catalog.db)).toEqual([]);
    expect(readFileSync(input, "utf8")).toBe(readFileSync(mended, "utf8"));
  });

  test("a dry run and a failed import leave no file behind", async () => {
    const catalog = await aCatalog();
    const [dry, failed] = [aFile([record("N1"), "x"], "dry.ndjson"), aFile(["x", "y"], "failed.ndjson")];
    expect(await catalog.takeFiles([dry], { dryRun: true })).toMatchObject({ rejected: 1, rejects: [] });
    await expect(catalog.takeFiles([failed])).rejects.toThrow(`Cannot import ${failed}: none of its lines is a JSON object`);
    expect(
      readdirSync(inScratch())
        .filter((name) => name.startsWith("dry") || name.startsWith("failed"))
        .sort(),
    ).toEqual([basename(dry), basename(failed)]);
  });

  test("are not written if nothing is rejected", async () => {
    const catalog = await aCatalog();
    const path = aFile([record("N1")], "good.ndjson");
    await catalog.takeFiles([path]);
    expect(existsSync(`${path}.rejects.ndjson`)).toBe(false);
  });

  test("a file of which one of two cannot be parsed changes nothing at all (D-33)", async () => {
    const catalog = await aCatalog();
    await expect(catalog.takeFiles([aFile([record("N1")]), aFile("garbage\n")])).rejects.toThrow("none of its lines is a JSON object");
    expect(await documentsOf(catalog.db)).toEqual([]);
  });

  const rejectsOf = (path: string) =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { line: number; reason: string; record: unknown });
});

describe("--dry-run", () => {
  const soon = { dates: { closes_at: formatInstant(NOON + 20 * DAY) } };
  const first = [...many(20), record("soon", soon), record("gone"), record("bad")];
  const second = [
    ...many(18),
    record("N18", { title: "New", funding: { amount_max: "5" } }),
    record("N18", { title: "Newer", status: "cancelled" }),
    record("N19", { earlier_ids: ["N19a"] }),
    record("soon", { ...soon, title: "Still there" }),
    { ...record("bad"), title: null },
    record("new"),
  ];

  test.each([
    ["an import", {}],
    ["a snapshot", { snapshot: true }],
    ["a backfill", { asOf: NOON + 10 * DAY }],
    ["a snapshot of later, when the clock has moved a status", { snapshot: true, asOf: NOON + 21 * DAY }],
  ])("counts %s as the import does, and stores nothing", async (_, given) => {
    const catalog = await aCatalog();
    await catalog.take(first);
    const before = [await contentsOf(catalog.db), await catalog.db.all(rawSql("select * from imports"))];
    const { rejects: _dry, reasons: [dry] = [], ...rehearsed } = await catalog.take(second, { ...given, dryRun: true });
    expect([await contentsOf(catalog.db), await catalog.db.all(rawSql("select * from imports"))]).toEqual(before);
    const { rejects: _real, reasons: [reason] = [], ...real } = await catalog.take(second, given);
    expect(rehearsed).toEqual(real);
    expect([dry?.reason, dry?.records]).toEqual([reason?.reason, 1]);
    expect(real).toMatchObject({ added: 1, rejected: 1, removed: "snapshot" in given ? 1 : 0 });
  });
});

describe("export and import again", () => {
  test("is exact, byte by byte, including fields that are not served", async () => {
    const catalog = await aCatalog();
    await catalog.take([
      record("N1", {
        summary: 'Quote " backslash \\ line\nbreak é 🚀 \u2028 </script>',
        dates: { opens_at: "2026-03-05T00:00:00-05:00", closes_at: "2026-03-31T23:59:59-04:00" },
        funding: { amount_min: "0.10", amount_max: "12345678901234567890.10" },
        attachments: [{ name: "a", url: null }],
        questions: [{ question: "Why?", answer: null }],
        agency_codes: ["HHS-NIH11"],
        due_dates: [{ at: "2026-06-01T17:00:00-04:00", words: "June 1" }],
        expires_at: "2027-01-01T00:00:00Z",
        applicant_types: ["06"],
        place: { state: "TX", country: "USA" },
        award: { number: "A1", amount: "5.00" },
        lineage: "L1",
        earlier_ids: ["N0", "A0"],
      }),
      record("N2", { status: "Paused" }),
      record("N3"),
      ...many(20).slice(4),
    ]);
    catalog.clock.now += DAY;
    await catalog.take([record("N2", { status: "Paused", title: "New" }), record("N9x", { lineage: "N9" })]);
    await catalog.take([record("N1", { lineage: "L1", title: "" }), record("N3", { title: "Gone soon" })]);
    await catalog.take(
      [...many(20).slice(4, 9), record("N9x", { lineage: "N9" }), ...many(20).slice(10), record("N2"), record("N1", { lineage: "L1" })],
      { snapshot: true },
    );
    await turnStatuses(catalog.db, NOON + 10 * DAY);
    const exported = await exportOf(catalog.db);

    const copy = await aCatalog();
    copy.clock.now = NOON + 500 * DAY;
    expect(await copy.take(exported)).toMatchObject({ read: exported.length, added: exported.length, rejected: 0 });
    expect(await exportOf(copy.db)).toEqual(exported);
    expect(await documentsOf(copy.db)).toEqual(await documentsOf(catalog.db));
    expect(await faults(copy)).toEqual([]);

    expect(await copy.take(exported)).toMatchObject({ unchanged: exported.length, added: 0, changed: 0 });
    await turnStatuses(copy.db, NOON + 500 * DAY);
    expect((await documentOf(copy.db, "N1")).status).toBe((await documentOf(catalog.db, "N1")).status);
    expect(await faults(copy)).toEqual([]);
  });

  test("restores one source; later changes get later instants", async () => {
    const catalog = await aCatalog();
    await catalog.take([...many(3), { source: { code: "B", opportunity_id: "1" }, title: "T" }]);
    expect(await exportOf(catalog.db, ["B"])).toHaveLength(1);
    const copy = await aCatalog();
    copy.clock.now = NOON - 30 * SECOND;
    await copy.take([...(await exportOf(catalog.db, ["A"])), JSON.stringify(record("own"))]);
    expect((await documentsOf(copy.db)).map(({ source, updated_at }) => [source.opportunity_id, updated_at])).toEqual([
      ...(await documentsOf(catalog.db))
        .filter(({ source }) => source.opportunity_id.startsWith("N"))
        .map(({ source }) => [source.opportunity_id, formatInstant(NOON)]),
      ["own", formatInstant(NOON + 1)],
    ] as [string, string][]);
    await copy.take([record("N1", { title: "New" })]);
    expect((await documentOf(copy.db, "N1")).updated_at).toBe(formatInstant(NOON + 2));
  });

  test("into a catalog with records does not restore created_at and updated_at", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(2));
    const copy = await aCatalog();
    copy.clock.now = NOON + DAY;
    await copy.take([record("own")]);
    await copy.take(await exportOf(catalog.db));
    expect(await documentOf(copy.db, "N1")).toMatchObject({
      created_at: formatInstant(NOON + DAY + 1),
      updated_at: formatInstant(NOON + DAY + 1),
    });
  });

  test("a restore is refused if the empty catalog was written to meanwhile", async () => {
    const catalog = await aCatalog();
    await catalog.take(many(2));
    const copy = await aCatalog();
    const { transaction } = copy.db;
    copy.db.transaction = async (write) => {
      copy.db.transaction = transaction;
      await storeRecords(copy.db, [anOpportunity()], NOON);
      return transaction(write);
    };
    await expect(copy.take(await exportOf(catalog.db))).rejects.toThrow("the catalog was empty when the import began");
    expect(await exportOf(copy.db)).toHaveLength(1);
  });

  test("a restore is one transaction, however long", async () => {
    const catalog = await aCatalog(openCatalog(":memory:", NOON));
    await catalog.take(many(FEW + 5));
    const exported = await exportOf(catalog.db);
    const file = openCatalog(":memory:", NOON);
    const copy = await aCatalog(file);
    file.sqlite.run("create table chunks (instant)");
    file.sqlite.run("create trigger note after update of last_instant on imports begin insert into chunks values (new.last_instant); end");
    await copy.take(exported, { chunk: FEW });
    expect(file.sqlite.query("select count(*) from chunks").values()).toEqual([[1]]);
    expect(await exportOf(copy.db)).toEqual(exported);
  });
});

describe("an import that was killed", () => {
  const soon = record("soon", { dates: { closes_at: formatInstant(NOON + 15 * DAY) } });
  const before = [...many(FEW + 30), soon];
  const after = [soon, ...many(FEW + 10, { title: "New" }), ...Array.from({ length: 70 }, (_, n) => record(`M${n}`))];
  const given = { asOf: NOON + 20 * DAY, snapshot: true, chunk: FEW };

  test("after any number of chunks is completed by running it again, as if nothing had happened", async () => {
    const whole = await aCatalog();
    await whole.take(before, { asOf: NOON });
    expect(await whole.take(after, given)).toMatchObject({ changed: FEW + 10, added: 70, removed: 20 });

    for (const chunks of onPostgres ? [1] : [0, 1, 2]) {
      const killed = await aCatalog();
      await killed.take(before, { asOf: NOON });
      await cutShort(killed, chunks, () => killed.take(after, given));
      expect(await faults(killed)).toEqual([]);
      await killed.take(after, given);
      expect(await contentsOf(killed.db)).toBe(await contentsOf(whole.db));
      await expect(killed.take(after, given)).rejects.toThrow("--as-of must be later"); // It is finished now.
    }
  });

  test("because the disk was full keeps what it committed, and is completed by running it again", async () => {
    const [wholeFile, fullFile] = [openCatalog(":memory:", NOON), openCatalog(":memory:", NOON)];
    const [whole, full] = [await aCatalog(wholeFile), await aCatalog(fullFile)];
    await whole.take(after, { asOf: NOON, chunk: FEW });
    const [empty, filled] = [pageCount(fullFile), pageCount(wholeFile)];
    fullFile.sqlite.run(`pragma max_page_count = ${Math.round(empty + 0.9 * (filled - empty))}`); // The first chunk is five sixths.
    await expect(full.take(after, { asOf: NOON, chunk: FEW })).rejects.toThrow("full");
    expect(await instants(full)).toEqual([formatInstant(NOON)]);
    expect(await faults(full)).toEqual([]);
    fullFile.sqlite.run("pragma max_page_count = 1000000");
    await full.take(after, { asOf: NOON, chunk: FEW });
    expect(await contentsOf(full.db)).toBe(await contentsOf(whole.db));
  });

  test("is refused as of its instant once something else was written", async () => {
    const catalog = await aCatalog();
    await catalog.take(before, { asOf: NOON });
    await cutShort(catalog, 1, () => catalog.take(after, { asOf: NOON + DAY, chunk: FEW }));
    await catalog.take([record("Z")], { chunk: FEW });
    await expect(catalog.take(after, { asOf: NOON + DAY, chunk: FEW })).rejects.toThrow("--as-of must be later");
  });
});

function pageCount({ sqlite }: DatabaseFile<"catalog">): number {
  return sqlite.query<{ page_count: number }, []>("pragma page_count").get()?.page_count ?? 0;
}

async function upstreamIds({ db }: TestCatalog): Promise<string[]> {
  const rows = await db.all(rawSql<{ upstream_id: string }>("select upstream_id from upstream_ids order by 1"));
  return rows.map(({ upstream_id }) => upstream_id);
}

async function faults({ db }: TestCatalog): Promise<unknown[]> {
  return checkCatalog(db);
}

describe("other rules of an import", () => {
  test("--as-of is for history: an instant that is still to come is refused", async () => {
    const catalog = await aCatalog();
    const context = { db: catalog.db, directory: ":memory:", now: () => NOON, notify: () => undefined, progress: () => undefined };
    const options = { files: [aFile([])], snapshot: false, allowRemovals: false, asOf: NOON + 1, dryRun: false, rejects: undefined };
    await expect(importFiles(context, records, options)).rejects.toThrow(
      "Cannot import as of 2026-03-01T12:00:00.001Z: --as-of is for history",
    );
  });

  test("of two amendments of one lineage in a file, the last is stored, and both ids find it", async () => {
    const catalog = await aCatalog();
    const amendment = (id: string) => ({ source: { code: "A", opportunity_id: id }, title: `Amendment ${id}`, lineage: "L" });
    expect(await catalog.take([amendment("a1"), amendment("a2")])).toMatchObject({ read: 2, added: 1 });
    expect(await upstreamIds(catalog)).toEqual(["a1", "a2"]);
    expect(await catalog.take([amendment("a0"), amendment("a2")])).toMatchObject({ added: 0, changed: 0, events: 0 });
    expect(await upstreamIds(catalog)).toEqual(["a0", "a1", "a2"]);
  });

  const ofOneLineage = [record("L"), record("N1", { lineage: "L" }), record("N2", { lineage: "L", earlier_ids: ["N0"] })];

  test.each([[[]], ...ofOneLineage.map((one) => [[one]])])(
    "records of one lineage in a file are one, which the ids of all find, in any order, after %j",
    async (before) => {
      for (const file of ordersOf(ofOneLineage)) {
        const catalog = await aCatalog();
        await catalog.take(before);
        expect(await catalog.take(file)).toMatchObject({ read: 3, rejected: 0, merged: 2 });
        expect(await upstreamIds(catalog)).toEqual(["L", "N0", "N1", "N2"]);
        expect(await catalog.take(file)).toEqual({ ...NOTHING, read: 3, unchanged: 1, merged: 2 });
      }
    },
  );
});
