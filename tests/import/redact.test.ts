/** Contacts kept out at import, and erased from what is stored. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { formats } from "../../src/import/formats/all.ts";
import { play } from "../pull/upstream.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, aFile, documentOf, documentsOf, dropScratch, eventsOf, type TestCatalog } from "../support/imports.ts";
import { realJson } from "../support/real-data.ts";
import { sample } from "../support/sample.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

type Contact = { name: string | null; email: string | null; phone: string | null };

/** Takes the real publications of one source, in their order. */
async function takeSource(catalog: TestCatalog, source: string, redactContacts: boolean) {
  const format = formats.find(({ name }) => name === source);
  if (format === undefined) throw new Error(`There is no format ${source}`);
  for (const { file, asOf } of sample.filter((each) => each.format === source)) {
    await catalog.takeFiles([file], { format, asOf: Date.parse(asOf), redactContacts });
  }
  catalog.clock.now = Date.UTC(2027, 0, 1);
}

const everyEvent = async ({ db }: TestCatalog) =>
  (await db.all(rawSql<{ document: Uint8Array }>("select document from events order by seq"))).map(({ document }) =>
    Buffer.from(document).toString(),
  );

const namesAnn = (text: string) => /Ann|ann@/.test(text);
const ann = { name: "Ann", email: "ann@example.gov" };
const record = (more: object = {}) => ({ source: { code: "OWN", opportunity_id: "1" }, title: "Title", ...more });
const addition = "opportunity_added";

describe("import with contacts redacted", () => {
  test.each(["grants-gov", "sam-gov"])("stores all of %s but the contacts", async (source) => {
    const [whole, redacted] = [await aCatalog(), await aCatalog()];
    await takeSource(whole, source, false);
    await takeSource(redacted, source, true);
    const documents = await documentsOf(whole.db);
    const contacts = documents.flatMap((document) => document.contacts as Contact[]);
    expect(contacts.length).toBeGreaterThan(20);

    const byId = (left: { id: string }, right: { id: string }) => (left.id < right.id ? -1 : 1);
    const timeless = ({ updated_at: _, ...document }: (typeof documents)[number]) => ({ ...document, contacts: [] });
    expect((await documentsOf(redacted.db)).sort(byId).map(timeless)).toEqual(documents.sort(byId).map(timeless));
    expect((await documentsOf(redacted.db)).every((document) => JSON.stringify(document.contacts) === "[]")).toBe(true);
    expect((await everyEvent(redacted)).some((event) => event.includes('"field":"contacts"'))).toBe(false);

    // Texts are stored as published: what they say of people stays.
    const texts = JSON.stringify([await documentsOf(redacted.db), await everyEvent(redacted)]);
    const others = JSON.stringify(documents.map((document) => ({ ...document, contacts: [] })));
    const values = contacts.flatMap(({ name, email, phone }) => [name, email, phone]).filter((value) => value !== null);
    expect(values.filter((value) => texts.includes(value) && !others.includes(value))).toEqual([]);
    expect(await checkCatalog(redacted.db)).toEqual([]);
  });

  test("switched on later, removes the contacts of records and of their history", async () => {
    const catalog = await aCatalog();
    await catalog.take([record({ contacts: [ann] })]);
    await catalog.take([record({ contacts: [{ ...ann, phone: "1" }], title: "Another" })]);
    expect(await catalog.take([record({ contacts: [ann], title: "Another" })], { redactContacts: true })).toMatchObject({
      changed: 1,
      events: 1,
    });
    expect((await documentOf(catalog.db, "1")).contacts).toEqual([]);
    expect((await eventsOf(catalog.db, "1")).map(({ type, changes }) => [type, changes])).toEqual([
      [addition, []],
      ["description_changed", [{ field: "title", previous: "Title", current: "Another" }]],
      ["field_updated", [{ field: "contacts", previous: [], current: [] }]],
      ["field_updated", [{ field: "contacts", previous: [], current: [] }]],
    ]);
    expect(await catalog.take([record({ contacts: [], title: "Another" })])).toMatchObject({ unchanged: 1 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("leaves the records out of the rejects file, and keeps line and reason", async () => {
    const rejects = join(aDirectory(), "rejects");
    const bad = record({ contacts: [ann], title: " " });
    await (await aCatalog()).take([bad], { rejects });
    expect(namesAnn(readFileSync(rejects, "utf8"))).toBe(true);
    await (await aCatalog()).take([bad], { redactContacts: true, rejects });
    expect(readFileSync(rejects, "utf8")).toBe('{"line":1,"reason":"title must not be blank","record":null}\n');
  });

  test.each<[string[], Record<string, string>, boolean]>([
    [[], {}, true],
    [["--redact-contacts"], {}, false],
    [[], { FUNDFEED_REDACT_CONTACTS: "1" }, false],
    [[], { FUNDFEED_REDACT_CONTACTS: "0" }, true],
    [["--redact-contacts"], { FUNDFEED_REDACT_CONTACTS: "" }, false],
  ])("by %j and %j", async (args, env, named) => {
    const data = aDirectory();
    await fundfeed(["import", "records", aFile([record({ contacts: [ann] })]), "--data", data, ...args], env);
    expect(namesAnn((await fundfeed(["export", "--data", data])).out)).toBe(named);
  });
});

test.each([
  ["--redact-contacts", "", false],
  ["--force", "1", false],
  ["--force", "", true],
])("fundfeed pull %s with FUNDFEED_REDACT_CONTACTS=%s", async (option, redact, named) => {
  const answer = realJson<{ opportunitiesData: object[] }>("sam-gov/v2-search-20260202.json");
  const upstream = play(() => Response.json({ ...answer, totalRecords: answer.opportunitiesData.length }));
  const data = aDirectory();
  const args = ["pull", "sam-gov-api", option, "--from", upstream.base, "--allow-http", "--data", data];
  const env = { FUNDFEED_SAM_GOV_KEY: "key", FUNDFEED_REDACT_CONTACTS: redact };
  expect(await fundfeed(args, env)).toMatchObject({ code: 0 });
  const lines = (await fundfeed(["export", "--data", data])).out.trim().split("\n");
  expect(lines.some((line) => JSON.parse(line).contacts.length > 0)).toBe(named);
});

describe("fundfeed redact", () => {
  const contents = (directory: string) => readdirSync(directory).map((name) => readFileSync(join(directory, name), "latin1"));

  test("erases contacts from records, history and unused pages; clients see a change", async () => {
    const data = aDirectory();
    const db = openCatalog(data, Date.now());
    const catalog = await aCatalog(db);
    const others = Array.from({ length: 50 }, (_, n) =>
      record({ source: { code: "OTHERS", opportunity_id: `other ${n}` }, contacts: [ann] }),
    );
    await catalog.take([...others, record({ contacts: [ann] })]);
    await catalog.take([record({ contacts: [{ ...ann, role: "Officer" }] })]);
    const before = (await documentOf(db, "1")).updated_at;
    await db.close();
    expect(contents(data).some(namesAnn)).toBe(true);

    const run = async (...args: string[]) => JSON.parse((await fundfeed(["redact", "--json", "--data", data, ...args])).out);
    expect(await run("--source", "own")).toEqual({ records: 1, events: 1, complete: true });
    expect(await run()).toEqual({ records: 50, events: 0, complete: true });
    expect(await run()).toEqual({ records: 0, events: 0, complete: true });
    expect(contents(data).some(namesAnn)).toBe(false);
    expect((await fundfeed(["redact", "--data", data])).out).toBe("Contacts erased from 0 records and 0 events\n");

    const after = openCatalog(data, Date.now());
    expect((await documentOf(after, "1")).updated_at > before).toBe(true);
    expect((await eventsOf(after, "1")).map(({ changes }) => changes)).toEqual([
      [],
      [{ field: "contacts", previous: [], current: [] }],
      [{ field: "contacts", previous: [], current: [] }],
    ]);
    expect(await checkCatalog(after)).toEqual([]);
    const redacted = (await eventsOf(after, "1")).at(-1);
    await after.close();
    expect((await fundfeed(["explain", String(redacted?.id), "--data", data])).out).toContain("by        fundfeed redact\n");
  });

  test("erases while another connection reads, and says when the log cannot be emptied", async () => {
    const data = aDirectory();
    const [db, reader] = [openCatalog(data, Date.now(), { waitMs: 50 }), openCatalog(data, Date.now())];
    await (await aCatalog(db)).take([record({ contacts: [ann] })]);
    reader.sqlite.run("begin");
    reader.sqlite.query("select count(*) from opportunities").get();
    expect(await redactStored(db, undefined, Date.now())).toEqual({ records: 1, events: 0 });
    expect(await db.vacuum()).toBe(false);
    reader.sqlite.run("commit");
    expect(await db.vacuum()).toBe(true);
    expect(contents(data).some(namesAnn)).toBe(false);
    for (const each of [db, reader]) await each.close();
  });
});
