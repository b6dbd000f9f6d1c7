/** Redaction reaches contacts in events. Events of other systems hold them in more fields than ours, and every client must notice that they were erased. */
import { describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, DAY, documentOf, eventsOf, type TestCatalog } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

/** Occurs in every name, address and number of a contact, and nowhere else. */
const SECRET = "zqx";
const ann = { name: "Ann Zqx", email: "zqx@example.gov", phone: "+1 202 555 zqx", role: "Zqx" };

const record = (id: string, fields: object = {}) => ({ source: { code: "OWN", opportunity_id: id }, title: "Title", ...fields });
const event = (fields: object) => ({
  source: { code: "OWN", opportunity_id: "1" },
  type: "field_updated",
  severity: "informational",
  summary: null,
  changed_fields: [],
  changes: [],
  detected_at: "2020-01-01T00:00:00Z",
  ...fields,
});
const change = (field: string, previous: unknown, current: unknown) => ({
  changed_fields: [field],
  changes: [{ field, previous, current }],
});

/** Ways in which other systems' events may name contacts, and what is kept of each event. */
const erasure = { field: "contacts", previous: [], current: [] };
const ERASED = { changed_fields: ["contacts"], changes: [erasure] };
const naming: [string, object, object][] = [
  ["the field", change("contacts", [ann], null), ERASED],
  ["a field in a contact", change("contacts.0.name", "Zqx Old", "Zqx New"), ERASED],
  ["an item of the field", change("contacts[1]", null, ann), ERASED],
  ["a path with an address", change("people.zqx@example.gov", 1, 2), ERASED],
  ["a field with another name", change("pointOfContact[0].email", "zqx@old", "zqx@new"), ERASED],
  [
    "several fields",
    {
      changed_fields: ["contacts.0.name", "title", "contacts.0.email"],
      changes: [
        { field: "contacts.0.name", previous: "zqx", current: null },
        { field: "title", previous: "Old", current: "Title" },
        { field: "contacts.0.email", previous: "zqx", current: null },
      ],
      summary: "zqx left, and the title changed",
    },
    { changed_fields: ["contacts", "title"], changes: [erasure, { field: "title", previous: "Old", current: "Title" }], summary: null },
  ],
  [
    "a record as a value",
    change("record", { title: "Old", contacts: [ann], program: { contact: "zqx" } }, [{ title: "New", people: [ann] }]),
    {
      changed_fields: ["record"],
      changes: [
        {
          field: "record",
          previous: { title: "Old", contacts: [], program: { contact: [] } },
          current: [{ title: "New", people: [null] }],
        },
      ],
    },
  ],
  ["changed fields alone", { changed_fields: ["contacts[0].zqx"] }, { changed_fields: ["contacts"], changes: [] }],
  ["a summary alone", { summary: "Contacts: zqx" }, { summary: null }],
  ["an address in a summary", { summary: "Write to zqx@example.gov" }, { summary: null }],
  [
    "a summary in our own words",
    { ...change("contacts.0.name", "Zqx Old", "Zqx New"), summary: "contacts.0.name changed from Zqx Old to Zqx New" },
    { ...ERASED, summary: "Changed: contacts" },
  ],
];
const silent = event({ ...change("title", "Contactless", "Title"), summary: "title changed from Contactless to Title" });

/** Everything that is stored, as text. */
async function everything(db: CatalogDb): Promise<string> {
  const texts: string[] = [];
  for (const table of ["opportunities", "events", "upstream_ids", "imports", "settings", "facets", "sources"]) {
    for (const row of await db.all(rawSql<object>(`select * from ${table}`)))
      for (const value of Object.values(row))
        texts.push(value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value));
  }
  return texts.join("\n").toLowerCase();
}

async function withHistory(db: CatalogDb): Promise<TestCatalog> {
  const catalog = await aCatalog(db);
  await catalog.take([record("1"), record("2")]);
  const events = [...naming.map(([, fields], index) => event({ ...fields, detected_at: `2020-01-01T00:00:${10 + index}Z` })), silent];
  expect(await catalog.takeEvents(events)).toMatchObject({ events: naming.length + 1, rejected: 0 });
  expect(await everything(db)).toContain(SECRET);
  catalog.clock.now += DAY;
  return catalog;
}

const importedEvents = async (db: CatalogDb) => (await eventsOf(db, "1")).filter(({ detected_at }) => detected_at < "2021");

describe.each(engines)("contacts in events on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("redactStored() erases them from imported events, and nothing else", async () => {
    const db = await emptyCatalog();
    const { clock } = await withHistory(db);
    expect(await redactStored(db, undefined, clock.now)).toEqual({ records: 0, events: naming.length });
    expect(await everything(db)).not.toContain(SECRET);
    const kept = await importedEvents(db);
    for (const [index, [what, , expected]] of naming.entries()) expect([what, kept[index]]).toMatchObject([what, expected]);
    expect(kept.at(-1)).toMatchObject({ summary: silent.summary, changes: silent.changes });
    expect(await redactStored(db, undefined, clock.now)).toEqual({ records: 0, events: 0 });
    await db.close();
  });

  test.if(isThere)("redactStored() changes updated_at once for a record that had contacts in its events only", async () => {
    const db = await emptyCatalog();
    const { clock } = await withHistory(db);
    const untouched = await documentOf(db, "2");
    for (let round = 0; round < 2; round++) {
      await redactStored(db, undefined, clock.now + round);
      const { updated_at } = await documentOf(db, "1");
      expect(updated_at).toBe(new Date(clock.now).toISOString());
      expect((await eventsOf(db, "1")).filter(({ detected_at }) => detected_at === updated_at)).toMatchObject([
        { type: "field_updated", severity: "informational", summary: "Changed: contacts", changes: [erasure] },
      ]);
    }
    expect(await documentOf(db, "2")).toEqual(untouched);
    expect(await checkCatalog(db)).toEqual([]);
    await db.close();
  });

  test.if(isThere)(
    "an import with redactContacts erases them from stored events, and adds an event although nothing else changed",
    async () => {
      const db = await emptyCatalog();
      const catalog = await withHistory(db);
      // States the status that the record had by its dates, a difference that no response shows.
      const again = [record("1", { status: "open", contacts: [ann] })];
      const given = { redactContacts: true };
      const rehearsed = await catalog.take(again, { ...given, dryRun: true });
      const done = await catalog.take(again, given);
      expect(done).toMatchObject({ changed: 1, events: 1 });
      expect(rehearsed).toEqual(done);
      expect(await everything(db)).not.toContain(SECRET);
      expect(await checkCatalog(db)).toEqual([]);
      await db.close();
    },
  );

  test.if(isThere)("an import of events with redactContacts stores each event once, without contacts", async () => {
    const db = await emptyCatalog();
    const catalog = await aCatalog(db);
    await catalog.take([record("1")]);
    const events = naming.map(([, fields]) => event(fields));
    expect(await catalog.takeEvents(events, { redactContacts: true })).toMatchObject({ events: naming.length });
    expect(await everything(db)).not.toContain(SECRET);
    expect(await catalog.takeEvents(events)).toMatchObject({ events: 0, unchanged: naming.length });
    expect(await everything(db)).not.toContain(SECRET);
    await db.close();
  });
});
