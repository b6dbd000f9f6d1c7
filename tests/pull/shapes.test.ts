/** The known shapes of the upstreams' records, and how they are compared. */
import { describe, expect, test } from "bun:test";
import { knownShapes } from "../../release/probe.ts";
import { compareShape, type KnownShape, knownShape } from "../../release/shape.ts";
import { upstreams } from "../../src/pull/upstreams.ts";
import { rowsOfRealFiles, shapesOfRealFiles } from "../support/known-shapes.ts";
import { describeReal } from "../support/real-data.ts";

test("release/shapes.json has the shapes of the excerpts of every upstream; bun tests/support/known-shapes.ts makes it", async () => {
  const shapes: unknown = await shapesOfRealFiles();
  expect(knownShapes as unknown).toEqual(shapes);
  for (const { name } of upstreams) expect([name, Object.keys(knownShapes[name] ?? {}).length > 0]).toEqual([name, true]);
});

describeReal("the full files have the known shapes", (directory) => {
  test.each(upstreams.map((upstream) => [upstream.name, upstream] as const))("%s", async (name, upstream) => {
    for (const [kind, records] of await rowsOfRealFiles(upstream, directory)) {
      const findings = compareShape(knownShapes[name]?.[kind] ?? {}, records).filter(({ problem }) => problem !== "new");
      expect([kind, findings]).toEqual([kind, []]);
    }
  });
});

describe("compareShape()", () => {
  const records = Array.from({ length: 30 }, (_, index) => ({
    id: `${index}`,
    title: "A title",
    day: "2026-01-31",
    note: index % 3 === 0 ? null : "note",
    ...(index % 4 === 0 ? {} : { optional: 1 }),
    topics: [{ code: "A", when: null }],
    "odd.name": { inner: true },
    nothing: null,
  }));
  const known = knownShape(records);
  const same = (change: object) => records.map((record) => ({ ...record, ...change }));
  const compared = (change: object, shape: KnownShape = known) => compareShape(shape, same(change) as never);

  test("finds nothing in the same records, nor in one of them", () => {
    expect(compareShape(known, records)).toEqual([]);
    expect(compareShape(known, records.slice(0, 1))).toEqual([]);
    expect(compareShape(known, [])).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    ["a missing field", { title: undefined }, ["title empty, always, null"]],
    ["a blank one", { title: "  " }, ["title empty, always, null"]],
    ["another form of date", { day: "01/31/2026" }, ["day type, date 9999-99-99, date 99/99/9999"]],
    ["text in place of digits", { id: "N7" }, ["id type, digits, text"]],
    ["a number in place of text", { title: 7 }, ["title type, text, number"]],
    ["digits where text is known", { title: "2026" }, []],
    ["a new field", { extra: [1] }, ["extra new, null, number"]],
    ["a new object, once", { extra: { a: { b: 1 } } }, ["extra new, null, object"]],
    ["a value where there never was one", { nothing: { any: 1 } }, []],
    ["a new field of a part", { topics: [{ code: "A", when: null, more: true }] }, ["topics[].more new, null, boolean"]],
    ["a missing field of a part", { topics: [{ when: null }] }, ["topics[].code missing, always, null"]],
    ["a field in an object with a dot in its name", { "odd.name": {} }, ['"odd.name" empty, always, null']],
    ["an empty value of an optional field", { note: null }, []],
  ])("finds %s", (_, change, findings) => {
    const found = compared(change).map(({ field, problem, expected, found }) => `${field} ${problem}, ${expected}, ${found}`);
    expect(found).toEqual(findings);
  });

  test("finds a field that most records have to be missing only in many records", () => {
    const without = records.map(({ optional: _, ...rest }: { optional?: number }) => rest);
    expect(compareShape(known, without)).toEqual([{ field: "optional", problem: "missing", expected: "often", found: null }]);
    expect(compareShape(known, without.slice(0, 20))).toEqual([]);
  });

  test("takes no field for certain of which few records are known", () => {
    expect(compareShape(knownShape(records.slice(0, 4)), [{ id: "1" }])).toEqual([]);
  });

  test("takes time in proportion to deep and wide records", () => {
    const deep = JSON.parse(`${'{"a":['.repeat(2000)}${"]}".repeat(2000)}`);
    expect(knownShape([deep])).toBeDefined();
  });
});
