/** `import events`: histories kept elsewhere join a record's own. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { emptySummary } from "../../src/import/import-log.ts";
import { aCatalog, contentsOf, documentOf, dropScratch, eventsOf, type TestCatalog } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const event = (fields: object = {}) => ({
  source: { code: "A", opportunity_id: "N1" },
  type: "date_changed",
  severity: "material",
  summary: "Deadline moved",
  changed_fields: ["dates.closes_at"],
  changes: [{ field: "dates.closes_at", previous: null, current: "2025-06-01T00:00:00Z" }],
  detected_at: "2025-05-01T02:00:00.5+02:00",
  ...fields,
});

const NOTHING = { ...emptySummary, rejects: [], messages: [] };

async function withRecord(): Promise<TestCatalog> {
  const catalog = await aCatalog();
  await catalog.take([{ source: { code: "A", opportunity_id: "N1" }, title: "T", earlier_ids: ["N0"] }]);
  return catalog;
}

const imported = async ({ db }: TestCatalog) => (await eventsOf(db, "N1")).slice(1);

describe("import events", () => {
  test("stores an event as given; updated_at does not move", async () => {
    const catalog = await withRecord();
    const before = await documentOf(catalog.db, "N1");
    catalog.clock.now += 1000;
    expect(await catalog.takeEvents([event()])).toEqual({ ...NOTHING, read: 1, events: 1 });
    const { source: _, ...given } = event();
    expect(await imported(catalog)).toEqual([
      { id: expect.any(String), opportunity_id: before.id, ...given, detected_at: "2025-05-01T00:00:00.500Z" },
    ]);
    expect(await documentOf(catalog.db, "N1")).toEqual(before);
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("stores the same event once, within a file and between files", async () => {
    const catalog = await withRecord();
    const [first, second] = [event(), event({ summary: null })];
    expect(await catalog.takeEvents([first, first, second])).toEqual({ ...NOTHING, read: 3, events: 2, unchanged: 1 });
    const before = await contentsOf(catalog.db);
    expect(await catalog.takeEvents([first, second, first])).toEqual({ ...NOTHING, read: 3, unchanged: 3 });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("treats events that differ in any member as different", async () => {
    const catalog = await withRecord();
    const variants = [
      event(),
      event({ type: "field_updated" }),
      event({ severity: "critical" }),
      event({ summary: "Else" }),
      event({ changed_fields: [] }),
      event({ changes: [] }),
      event({ detected_at: "2025-05-01T00:00:00.501Z" }),
    ];
    expect(await catalog.takeEvents(variants)).toMatchObject({ events: variants.length, unchanged: 0 });
  });

  test("finds its record by an earlier upstream id and by the code in either case", async () => {
    const catalog = await withRecord();
    expect(await catalog.takeEvents([event({ source: { code: "a", opportunity_id: "N0" } })])).toMatchObject({ events: 1, rejected: 0 });
    expect(await imported(catalog)).toHaveLength(1);
    expect(await catalog.takeEvents([event()])).toMatchObject({ events: 0, unchanged: 1 });
  });

  test("stores unknown types and severities as given, and serves them as unknown", async () => {
    const catalog = await withRecord();
    await catalog.takeEvents([event({ type: "merged", severity: "urgent" })]);
    expect(await imported(catalog)).toEqual([expect.objectContaining({ type: "unknown", severity: "unknown" })]);
    expect(await catalog.db.all(rawSql("select type, severity from events where origin = 'imported'"))).toEqual([
      { type: "merged", severity: "urgent" },
    ]);
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("takes values of any JSON type, as they are", async () => {
    const catalog = await withRecord();
    const changes = [
      { field: "x", previous: { b: 1, a: [true, null] }, current: 0.5 },
      { field: "y", previous: "\\u0000", current: false },
    ];
    await catalog.takeEvents([event({ changes })]);
    expect((await imported(catalog))[0]?.changes).toEqual(changes);
  });

  test("takes an absent summary and absent lists", async () => {
    const catalog = await withRecord();
    const { summary: _, changed_fields: __, changes: ___, ...least } = event();
    await catalog.takeEvents([least]);
    expect((await imported(catalog))[0]).toMatchObject({ summary: null, changed_fields: [], changes: [] });
  });

  test("rejects an instant that no RFC 3339 text names in UTC (D-28)", async () => {
    const catalog = await withRecord();
    catalog.clock.now = Date.parse("9999-12-31T23:59:59.999Z"); // Later events are rejected for another reason.
    const instants = ["9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-05:00", "0000-01-01T00:00:00+05:00"];
    expect(await catalog.takeEvents(instants.map((detected_at) => event({ detected_at })))).toMatchObject({ events: 2, rejected: 2 });
    expect((await imported(catalog)).map(({ detected_at }) => detected_at)).toEqual([
      "9999-12-31T23:59:59.999Z",
      "0000-01-01T00:00:00.000Z",
    ]);
  });

  test("a dry run counts what would be stored, and stores nothing", async () => {
    const catalog = await withRecord();
    await catalog.takeEvents([event()]);
    const before = await contentsOf(catalog.db);
    expect(await catalog.takeEvents([event(), event({ summary: "x" }), "bad"], { dryRun: true })).toMatchObject({
      read: 3,
      events: 1,
      unchanged: 1,
      rejected: 1,
    });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("a bad event is rejected alone", async () => {
    const catalog = await withRecord();
    expect(await catalog.takeEvents([event(), "{", event({ source: { code: "A", opportunity_id: "N9" } })])).toMatchObject({
      read: 3,
      events: 1,
      rejected: 2,
    });
  });

  test.each([
    ["--snapshot", { snapshot: true }],
    ["--as-of", { asOf: 0 }],
  ])("refuses %s", async (_, given) => {
    const catalog = await withRecord();
    await expect(catalog.takeEvents([event()], given)).rejects.toThrow("each event states its own instant");
  });

  test.each<[string, object, string]>([
    ["a record that is not there", { source: { code: "A", opportunity_id: "N9" } }, 'no A record has the upstream id "N9"'],
    ["a source that is not there", { source: { code: "B", opportunity_id: "N1" } }, 'no B record has the upstream id "N1"'],
    ["no source", { source: undefined }, "source.code is required"],
    [
      "a source code that would become another one",
      { source: { code: "ß", opportunity_id: "N1" } },
      "source.code must have only ASCII characters",
    ],
    ["a field of the source too many", { source: { code: "A", opportunity_id: "N1", name: "A" } }, 'unknown field "source.name"'],
    ["no type", { type: undefined }, "type is required"],
    ["a blank type", { type: " " }, "type must not be blank"],
    ["a blank severity", { severity: "" }, "severity must not be blank"],
    ["no instant", { detected_at: undefined }, "detected_at is required"],
    [
      "a bare date",
      { detected_at: "2025-05-01" },
      'detected_at must be an RFC 3339 timestamp with an offset such as 2026-01-31T17:00:00-05:00, not "2025-05-01"',
    ],
    ["an id of its own", { id: "1" }, 'unknown field "id"'],
    ["changes that are text", { changes: "x" }, "changes must be an array"],
    ["a change without a field", { changes: [{ previous: 1, current: 2 }] }, "changes[0].field is required"],
    ["a change that is null", { changes: [null] }, "changes[0] must not be null"],
    ["NUL within a value", { changes: [{ field: "x", previous: { a: "\0" } }] }, "changes[0].previous must not contain NUL"],
    [
      "a lone surrogate within a value",
      { changes: [{ field: "x", current: ["\udead"] }] },
      "changes[0].current must be well-formed Unicode: it has a lone surrogate",
    ],
    [
      "a lone surrogate as a name",
      { changes: [{ field: "x", current: { "\ud800": 1 } }] },
      "changes[0].current must be well-formed Unicode: it has a lone surrogate",
    ],
  ])("rejects %s", async (_, fields, reason) => {
    const catalog = await withRecord();
    const { rejects } = await catalog.takeEvents([event(fields)]);
    const [line] = (await Bun.file(rejects[0] ?? "").text()).split("\n");
    expect(JSON.parse(line ?? "")).toMatchObject({ line: 1, reason });
  });
});
