/** One bad record never costs another, on either engine (D-35): texts that cannot be stored, deep values, texts beyond the limits. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Unstorable } from "../../db/value.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { findSourceDigests, findStored } from "../../src/changes/stored.ts";
import { addFacets, allowedFacets, createFacets, readFacets } from "../../src/opportunities/facets.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, documentOf, documentsOf, dropScratch, eventsOf, inScratch, type TestCatalog } from "../support/imports.ts";

afterAll(dropScratch);

const record = (id: string, fields: object = {}) => ({ source: { code: "OWN", opportunity_id: id }, title: `Title ${id}`, ...fields });
const ofSource = (code: string) => ({ ...record("1"), source: { code, opportunity_id: "1" } });
const withId = (json: string) => `{"source":{"code":"OWN","opportunity_id":"1"},"title":"T","id":${json}}`;
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** Characters of four bytes each, which no compression shortens. */
function longText(length: number): string {
  const points = Array.from({ length }, (_, n) => 0x10000 + Number(Bun.hash(`${n}`) % 0xf0000n));
  return String.fromCodePoint(...points);
}

const surrogate = "must be well-formed Unicode: it has a lone surrogate";

/** A line that cannot be a record, as text or as what it says, and why. */
const bad: [name: string, line: string | object, reason: string][] = [
  ["NUL in the id", record("a\0b"), "source.opportunity_id must not contain NUL"],
  ["half a surrogate pair in the id", record("a\ud800b"), `source.opportunity_id ${surrogate}`],
  ["a control character in the id", record("a\tb"), "source.opportunity_id must not contain control characters"],
  ["half a surrogate pair in the source", ofSource("\udc00"), `source.code ${surrogate}`],
  ["NUL in the source", ofSource("A\0"), "source.code must not contain NUL"],
  ["NUL in the lineage", record("1", { lineage: "a\0" }), "lineage must not contain NUL"],
  ["half a surrogate pair in the lineage", record("1", { lineage: "\ud800" }), `lineage ${surrogate}`],
  ["a control character in the lineage", record("1", { lineage: "a\u0007" }), "lineage must not contain control characters"],
  ["half a surrogate pair in an earlier id", record("1", { earlier_ids: ["\udfff"] }), `earlier_ids[0] ${surrogate}`],
  ["NUL in a name", '{"a\\u0000":1}', 'unknown field "a\\u0000"'],
  ["a value that is nested 100,000 deep", withId(nested(100_000)), "the line must not be nested more than 120 deep"],
  ["a value that is nested 101 deep", withId(nested(101)), "id must not be nested more than 100 deep"],
  ["a deep value for a text", `{"source":{"code":"OWN","opportunity_id":"1"},"title":${nested(100)}}`, "title must be a string"],
  ["a deep unknown field", `{"sauce":${nested(100)}}`, 'unknown field "sauce" (did you mean "source"?)'],
  [
    "an agency of 501 characters",
    record("1", { organization: { agency: longText(501) } }),
    "organization.agency must have at most 500 characters",
  ],
  ["a status of 65 characters", record("1", { status: longText(65) }), "status must have at most 64 characters"],
  ["a status with a line break", record("1", { status: "a\nb" }), "status must not contain control characters"],
  ["a program type of 65 characters", record("1", { program: { type: longText(65) } }), "program.type must have at most 64 characters"],
  [
    "a solicitation id of 257 characters",
    record("1", { program: { solicitation_id: longText(257) } }),
    "program.solicitation_id must have at most 256 characters",
  ],
  ["a lineage of 513 characters", record("1", { lineage: longText(513) }), "lineage must have at most 512 characters"],
  ["an id of 257 characters", record(longText(257)), "source.opportunity_id must have at most 256 characters"],
  ["a source code of 65 characters", ofSource(longText(65)), "source.code must have at most 64 characters"],
  ["a text of 2,000,001 characters", record("1", { summary: "x".repeat(2_000_001) }), "summary must have at most 2000000 characters"],
];

/** As long as each may be, in four bytes a character. */
const longest = {
  source: { code: "C".repeat(64), opportunity_id: longText(256) }, // A source code is ASCII.
  title: "Longest",
  lineage: longText(512),
  earlier_ids: [longText(255)],
  status: longText(64),
  organization: { agency: longText(500) },
  program: { type: longText(64), solicitation_id: longText(256) },
};

describe.each(engines)("on %s", (_, isThere, emptyCatalog) => {
  let shared: TestCatalog;
  beforeAll(async () => {
    if (isThere) shared = await aCatalog(await emptyCatalog());
  });
  afterAll(() => shared?.db.close());

  test.if(isThere).each(bad)("a record with %s is rejected alone, with its line and the reason", async (name, content, reason) => {
    const line = typeof content === "string" ? content : JSON.stringify(content);
    const rejects = inScratch("one-bad.ndjson");
    const lines = [record(`first, ${name}`), line, record(`last, ${name}`)];
    const before = (await documentsOf(shared.db)).map(({ title }) => title);
    for (const [added, unchanged] of [
      [2, 0],
      [0, 2], // The second time, records are looked up.
    ]) {
      expect(await shared.take(lines, { rejects })).toMatchObject({ read: 3, added, unchanged, rejected: 1, rejects: [rejects] });
      const [kept] = readFileSync(rejects, "utf8").trimEnd().split("\n");
      expect(kept).toStartWith(`{"line":2,"reason":${JSON.stringify(reason)},"record":`);
      expect(kept).toEndWith(`${reason.startsWith("the line") ? JSON.stringify(line) : line}}`);
    }
    const stored = (await documentsOf(shared.db)).map(({ title }) => title);
    expect(stored.sort()).toEqual([...before, `Title first, ${name}`, `Title last, ${name}`].sort());
    expect(await checkCatalog(shared.db)).toEqual([]);
  });

  test.if(isThere)("a rejected record whose source and id can be read counts as present, whatever its lineage (D-34)", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    await catalog.take([record("1"), record("2", { lineage: "L" }), record("3"), record("4")]);
    const snapshot = [record("1"), record("2", { lineage: "L\0" }), record("3", { title: null }), "{}"];
    expect(await catalog.take(snapshot, { snapshot: true, allowRemovals: true })).toMatchObject({ rejected: 3, removed: 1, unchanged: 1 });
    expect(await documentOf(catalog.db, "4")).toMatchObject({ status: "archived" });
  });

  test.if(isThere)("a record with the longest texts is stored, found and checked", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    expect(await catalog.take([longest])).toMatchObject({ added: 1, rejected: 0 });
    expect(await catalog.take([longest])).toMatchObject({ unchanged: 1 });
    expect(await catalog.take([{ ...longest, status: longText(63) }])).toMatchObject({ changed: 1 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
    const facets = createFacets();
    addFacets(facets, await readFacets(catalog.db, facets, 10));
    const end = [...longest.organization.agency].slice(-200).join("");
    expect(allowedFacets(facets, { agency: end }, undefined)?.flags[1]).toBe(1);
  });

  test.if(isThere).each(["a\0", "\ud800"])("a list of ids with %j is refused as one id is", async (id) => {
    const db = await emptyCatalog();
    await expect(findSourceDigests(db, "OWN", ["a", id])).rejects.toThrow(Unstorable);
    await expect(findStored(db, "OWN", id)).rejects.toThrow(Unstorable);
  });

  test.if(isThere)("an event that cannot be stored is rejected alone", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    await catalog.take([record("1")]);
    const event = { source: { code: "OWN", opportunity_id: "1" }, type: "x", severity: "y", detected_at: "2026-01-01T00:00:00Z" };
    const changes = (value: string) => JSON.stringify({ ...event, changes: [{ field: "f", previous: "VALUE" }] }).replace('"VALUE"', value);
    const lines = [
      { ...event, summary: "First" },
      changes(nested(100_000)),
      changes(nested(101)),
      { ...event, type: longText(65) },
      { ...event, severity: "a\u0007" },
      { ...event, source: { code: "OWN", opportunity_id: "\ud800" } },
      changes(nested(100)),
      { ...event, type: longText(64), severity: longText(64) },
    ];
    const rejects = inScratch("events.ndjson");
    expect(await catalog.takeEvents(lines, { rejects })).toMatchObject({ read: 8, events: 3, rejected: 5 });
    const kept = readFileSync(rejects, "utf8").trimEnd().split("\n");
    expect(kept.map((line) => /^\{"line":(\d),"reason":"([^"]*)"/.exec(line)?.slice(1))).toEqual([
      ["2", "the line must not be nested more than 120 deep"],
      ["3", "changes[0].previous must not be nested more than 100 deep"],
      ["4", "type must have at most 64 characters"],
      ["5", "severity must not contain control characters"],
      ["6", `source.opportunity_id ${surrogate}`],
    ]);
    expect(await eventsOf(catalog.db, "1")).toHaveLength(4);
  });
});
