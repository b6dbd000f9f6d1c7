/**
 * docs/reference/schemas has the JSON Schema of everything that leaves, made from the declarations that make it. UPDATE_DOCS=1 writes additions there, and
 * UPDATE_DOCS=breaking also changes that break readers.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TSchema, Type } from "@sinclair/typebox";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { ShownOpportunity } from "../../src/cli/commands/show.ts";
import { OpportunityEvent } from "../../src/events/event.ts";
import { FoundPage } from "../../src/export/found.ts";
import { PrintedChange, PrintedChanges, PrintedDifferences } from "../../src/feed/printers.ts";
import { ExportedRecord, Opportunity } from "../../src/opportunities/opportunity.ts";
import { SourceFreshness } from "../../src/sources/freshness.ts";
import { object } from "../../src/text/schema.ts";
import { Message } from "../../src/watch/message.ts";
import { anIndexedDirectoryOfAll } from "../support/all-records.ts";
import { fundfeed } from "../support/command-line.ts";
import { dropScratch } from "../support/imports.ts";
import { schemaChanges } from "../support/schema-changes.ts";

setDefaultTimeout(300_000);

const directory = join(import.meta.dir, "../../docs/reference/schemas");
const page = readFileSync(join(directory, "../schemas.md"), "utf8");

/** What commands print besides what pages serve. */
const printed = object({ sources: Type.Array(SourceFreshness, { description: "How fresh the data are." }) });

const schemas: Readonly<Record<string, TSchema>> = {
  record: ExportedRecord,
  opportunity: Opportunity,
  event: OpportunityEvent,
  change: PrintedChange,
  changes: Type.Composite([PrintedChanges, printed], { additionalProperties: false }),
  diff: PrintedDifferences,
  found: Type.Composite([FoundPage, printed], { additionalProperties: false }),
  shown: ShownOpportunity,
  message: Message,
};

/** Without `additionalProperties: false`: a later version may add members. */
function published(name: string, schema: TSchema): object {
  const open = (key: string, value: unknown) => (key === "additionalProperties" && value === false ? undefined : value);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: name, ...JSON.parse(JSON.stringify(schema, open)) };
}

describe("docs/reference/schemas", () => {
  test.each(Object.entries(schemas))("has the present schema of %s", (name, schema) => {
    const path = join(directory, `${name}.json`);
    const present = published(name, schema);
    const stored = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : present;
    const { breaking, additions } = schemaChanges(stored, present);
    const update = process.env.UPDATE_DOCS;
    if (update === "breaking" || (update === "1" && breaking.length === 0)) writeFileSync(path, `${JSON.stringify(present, null, 2)}\n`);
    else {
      expect(breaking, "readers break; UPDATE_DOCS=breaking writes it to docs/reference/schemas all the same").toEqual([]);
      expect(additions, "UPDATE_DOCS=1 writes additions to docs/reference/schemas").toEqual([]);
      expect(stored, "UPDATE_DOCS=1 writes descriptions to docs/reference/schemas").toEqual(present);
    }
  });

  test("has no other file, and the page names each", () => {
    const names = Object.keys(schemas).map((name) => `${name}.json`);
    expect(readdirSync(directory).sort()).toEqual(names.toSorted());
    expect([...page.matchAll(/\(schemas\/(\w+\.json)\)/g)].map(([, name]) => name)).toEqual(names);
  });
});

/** tests/watch/watched.ts looks at each message of its tests in the same way. */
describe("what leaves is as its schema says, without further members:", () => {
  let data: string;
  let exported: Record<string, unknown>[];

  beforeAll(async () => {
    data = (await anIndexedDirectoryOfAll()).data;
    exported = linesOf(await output("export"));
  });
  afterAll(dropScratch);

  const NOW = Date.parse("2026-04-01T12:00:00Z");
  const output = async (...args: string[]) => (await fundfeed([...args, "--data", data], {}, () => NOW)).out;

  function expectValid(name: string, values: readonly unknown[]): void {
    const isValid: ValidateFunction = addFormats.default(new Ajv2020({ strict: false })).compile(schemas[name] ?? {});
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) if (!isValid(value)) expect([value, isValid.errors]).toEqual([]);
  }
  const linesOf = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("lines of export", () => {
    expectValid("record", exported);
    const members = new Set(exported.flatMap((line) => Object.keys(line)));
    expect(Object.keys(ExportedRecord.properties).filter((name) => !members.has(name))).toEqual([]);
  });

  test("changes, and a page of results", async () => {
    const since = ["--since", "2026-01-01T00:00:00Z"];
    expectValid("change", linesOf(await output("changes", ...since, "--limit", "100", "--format", "ndjson"))); // As those of --json.
    expectValid("changes", [JSON.parse(await output("changes", ...since, "--json"))]);
    expectValid("found", [JSON.parse(await output("find", "quantum", "--json"))]);
  });

  test("what changed between two moments, and each kind of opportunity", async () => {
    expectValid("diff", [JSON.parse(await output("diff", "2026-01-01T00:00:00Z", "--json"))]);
    const members = new Set(exported.flatMap((line) => Object.keys(line)));
    const one = (name: string) => String(exported.find((line) => name in line)?.id);
    const shown = await Promise.all([...members].map((name) => output("show", one(name), "--json")));
    expectValid(
      "shown",
      shown.map((text) => JSON.parse(text)),
    );
    const options = [["--similar"], ["--as-of", "2026-03-31T00:00:00Z"]];
    const more = await Promise.all(options.map((option) => output("show", one("stated"), "--json", ...option)));
    expectValid(
      "shown",
      more.map((text) => JSON.parse(text)),
    );
  });
});

describe("schemaChanges()", () => {
  const anObject = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
  const text = { type: "string" };
  const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
  const kinds = (...names: string[]) => ({
    anyOf: names.map((name) => anObject({ kind: { const: name, type: "string" } }, ["kind"])),
  });

  test.each<[change: string, before: object, after: object, breaking: string[], additions: string[]]>([
    ["nothing", anObject({ a: text }, ["a"]), anObject({ a: { ...text, description: "A" } }, ["a"]), [], []],
    ["a member gone", anObject({ a: text, b: text }), anObject({ a: text }), ["b is gone"], []],
    ["a new member", anObject({ a: text }), anObject({ a: text, b: text }, ["b"]), [], ["b is new"]],
    ["a member now required", anObject({ a: text }), anObject({ a: text }, ["a"]), ["a is now required"], []],
    ["a member no longer there", anObject({ a: text }, ["a"]), anObject({ a: text }), ["a is no longer always there"], []],
    ["a narrowed type", anObject({ a: orNull(text) }), anObject({ a: text }), ["a can no longer be null"], []],
    ["a type more", anObject({ a: text }), anObject({ a: orNull(text) }), ["a can now be null"], []],
    [
      "another type",
      anObject({ a: text }),
      anObject({ a: { type: "integer" } }),
      ["a can no longer be string", "a can now be integer"],
      [],
    ],
    ["a rule", anObject({ a: text }), anObject({ a: { ...text, format: "uuid" } }), ["a: format was absent and is uuid"], []],
    [
      "within lists and objects",
      anObject({ a: { type: "array", items: anObject({ b: anObject({ c: text }) }) } }),
      anObject({ a: { type: "array", items: anObject({ b: anObject({}) }) } }),
      ["a[].b.c is gone"],
      [],
    ],
    ["a kind more", kinds("new"), kinds("new", "due"), [], ['the whole can now be object with kind "due"']],
    ["a kind less", kinds("new", "due"), kinds("new"), ['the whole can no longer be object with kind "due"'], []],
  ])("names %s", (_, before, after, breaking, additions) => {
    expect(schemaChanges(before, after)).toEqual({ breaking, additions });
  });
});
