/** A version is not read again while its text and its record are as they were, and nothing is missed by that. */
import { afterAll, describe, expect, test } from "bun:test";
import { redactStored } from "../../src/changes/redact.ts";
import type { Format } from "../../src/import/format.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, contentsOf, DAY, documentsOf, dropScratch } from "../support/imports.ts";
import { dailyRows, type Row, samGovFiles } from "../support/sam-gov-layouts.ts";

afterAll(dropScratch);

const [real = {}] = dailyRows();

/** A notice: of one solicitation if the number is the same, and newer if the day is later. */
function aNotice(NoticeId: string, number: string, day: string, fields: Row = {}): Row {
  const PostedDate = `2026-04-${day} 10:00:00.1-04`;
  return {
    ...{ ...real, NoticeId, PostedDate, Title: `Roof ${number}`, "Sol#": number, ArchiveDate: "" },
    ...{ BaseType: "Solicitation", Type: "Solicitation", ...fields },
  };
}

const first = aNotice("a1", "A", "01", { Description: "Old" });
const second = aNotice("a2", "A", "02", { Description: "New", PrimaryContactEmail: "ann@va.gov" });
const other = aNotice("b1", "B", "01", { Description: "Other" });
const all = [second, other, first];

/** SAM.gov's format, and the ids that it had to read: each version for its facts, and for its record. */
function watched(): { format: Format; taken: () => string[] } {
  let read: string[] = [];
  const watch = <Item extends object | undefined>(item: Item): Item => {
    if (item === undefined || !("id" in item) || !("read" in item)) return item;
    const { id, read: readIt } = item as Item & { id: string; read: () => unknown };
    const readAndNote = () => {
      read.push(id);
      return readIt();
    };
    return { ...item, read: readAndNote };
  };
  async function* watchAll<Item extends object | undefined>(items: AsyncIterable<Item>): AsyncIterable<Item> {
    for await (const item of items) yield watch(item);
  }
  const { versions } = samGov;
  if (versions === undefined) throw new Error("SAM.gov has no versions");
  const taken = () => {
    const ids = [...new Set(read)].sort();
    read = [];
    return ids;
  };
  return {
    format: {
      ...samGov,
      versions: { ...versions, in: (inputs) => watchAll(versions.in(inputs)) },
      read: (inputs, context) => watchAll(samGov.read(inputs, context)),
    },
    taken,
  };
}

/** A catalog that holds all three notices, read by a format that is watched. */
async function filled() {
  const catalog = await aCatalog();
  catalog.clock.now = Date.parse("2026-04-25T12:00:00Z");
  const { format, taken } = watched();
  const { takeFiles } = catalog;
  const takeFile = async (file: string, given: Parameters<typeof catalog.take>[1] = {}) => {
    catalog.clock.now += DAY;
    const { read, added, changed, unchanged, merged, events } = await catalog.takeFiles([file], { format, ...given });
    return { read, added, changed, unchanged, merged, events, taken: taken() };
  };
  const take = (rows: readonly Row[], given?: Parameters<typeof catalog.take>[1]) => takeFile(samGovFiles.csv(rows), given);
  expect(await take(all)).toEqual({ read: 3, added: 2, changed: 0, unchanged: 0, merged: 1, events: 2, taken: ["a1", "a2", "b1"] });
  const texts = async () => (await documentsOf(catalog.db)).map(({ description }) => description).sort();
  return { ...catalog, take, takeFile, texts, takeFiles };
}

const nothing = { read: 3, added: 0, changed: 0, unchanged: 2, merged: 1, events: 0, taken: [] };

describe("a version", () => {
  test("with the same text is not read, in any order of the rows, and nothing is written", async () => {
    const { db, take } = await filled();
    const before = await contentsOf(db);
    expect(await take(all)).toEqual(nothing);
    expect(await take(all.toReversed())).toEqual(nothing);
    expect(await contentsOf(db)).toBe(before);
    expect(await take([first])).toMatchObject({ unchanged: 1, merged: 0, events: 0, taken: [] });
    expect(await contentsOf(db)).toBe(before);
  });

  test("whose id cannot be used is rejected, and the others are not read", async () => {
    const { take, db } = await filled();
    const before = await contentsOf(db);
    const bad = [aNotice("c\0", "C", "01"), aNotice("d".repeat(1_000), "D", "01")];
    expect(await take([...bad, ...all])).toMatchObject({
      read: 5,
      changed: 0,
      unchanged: 2,
      merged: 1,
      events: 0,
      taken: ["c\0", "d".repeat(1_000)],
    });
    expect(await contentsOf(db)).toBe(before);
  });

  test("with another text is read, and the others are not", async () => {
    const { take, texts } = await filled();
    expect(await take([second, { ...other, Description: "Another" }, first])).toMatchObject({ changed: 1, unchanged: 1, taken: ["b1"] });
    expect(await texts()).toEqual(["Another", "New"]);
  });

  test("that is new is read, and changes the record of those that are not", async () => {
    const { take, texts } = await filled();
    const third = aNotice("a3", "A", "03", { Description: "Newest" });
    expect(await take([third, ...all])).toMatchObject({ read: 4, added: 0, changed: 1, unchanged: 1, merged: 2, taken: ["a3"] });
    expect(await texts()).toEqual(["Newest", "Other"]);
    // Their record has another content now, so these two are read again, once.
    expect(await take([...all, third])).toMatchObject({ read: 4, changed: 0, unchanged: 2, merged: 2, events: 0, taken: ["a1", "a2"] });
    expect(await take([...all, third])).toMatchObject({ read: 4, changed: 0, unchanged: 2, merged: 2, events: 0, taken: [] });
  });

  test("that its record does not show is read if its text changes, and gives no event", async () => {
    const { take, texts } = await filled();
    const changed = [second, other, { ...first, Description: "Older" }];
    expect(await take(changed)).toMatchObject({ changed: 0, unchanged: 2, merged: 1, events: 0, taken: ["a1"] });
    expect(await take(changed)).toEqual(nothing);
    expect(await texts()).toEqual(["New", "Other"]);
  });

  test("that occurs twice in one file counts as its last text says", async () => {
    const { take, texts } = await filled();
    const changed = { ...other, Description: "Another" };
    expect(await take([changed, other])).toMatchObject({ changed: 0, unchanged: 1, merged: 1, events: 0 });
    expect(await texts()).toEqual(["New", "Other"]);
    expect(await take([other, changed])).toMatchObject({ changed: 1, unchanged: 0, merged: 1 });
    expect(await texts()).toEqual(["Another", "New"]);
    expect(await take([other, changed])).toMatchObject({ changed: 0, events: 0 });
    expect(await take([changed, other])).toMatchObject({ changed: 1 });
    expect(await texts()).toEqual(["New", "Other"]);
  });

  test("is read if an earlier file of the import has another text of it, and the last one counts", async () => {
    const { takeFiles, texts, clock } = await filled();
    clock.now += DAY;
    const [changed, unchanged] = [[{ ...other, Description: "Another" }], [other]].map(samGovFiles.csv);
    if (changed === undefined || unchanged === undefined) throw new Error("There are two files");
    expect(await takeFiles([changed, unchanged], { format: samGov })).toMatchObject({ changed: 0, events: 0 });
    expect(await texts()).toEqual(["New", "Other"]);
  });

  test("is present in a snapshot, whether it was read or not", async () => {
    const { take, db } = await filled();
    const before = await contentsOf(db);
    expect(await take(all, { snapshot: true })).toEqual(nothing);
    expect(await take([{ ...second, Extra: "x" }, other], { snapshot: true })).toMatchObject({ changed: 0, unchanged: 2, events: 0 });
    expect(await contentsOf(db)).toBe(before);
  });

  test("whose record was archived by a snapshot is read when it is back", async () => {
    const { take } = await filled();
    expect(await take([second, first], { snapshot: true, allowRemovals: true })).toMatchObject({ unchanged: 1, events: 1 });
    expect(await take(all)).toMatchObject({ changed: 1, unchanged: 1, taken: ["b1"] });
    expect(await take(all)).toEqual(nothing);
  });

  test("is read after another layout has changed its record, and after contacts were erased from it", async () => {
    const { take, takeFile, db, clock } = await filled();
    expect(await takeFile(samGovFiles.rows([{ ...second, Description: "From rows" }]))).toMatchObject({ changed: 1, taken: [] });
    expect(await take(all)).toMatchObject({ changed: 1, events: 1, taken: ["a1", "a2"] });
    expect(await take(all)).toEqual(nothing);
    await redactStored(db, undefined, clock.now);
    expect((await take(all)).taken).toContain("a2");
  });

  test("is read again if contacts are now redacted", async () => {
    const { take } = await filled();
    expect(await take(all, { redactContacts: true })).toMatchObject({ taken: ["a1", "a2", "b1"] });
    expect(await take(all, { redactContacts: true })).toEqual(nothing);
  });

  test("is rejected again at each import", async () => {
    const { take } = await filled();
    const bad = aNotice("c1", "C", "01", { ResponseDeadLine: "2026-05-01", Description: "A\0" });
    for (let time = 0; time < 2; time++) expect(await take([...all, bad])).toMatchObject({ unchanged: 2, merged: 1, taken: ["c1"] });
  });
});

test("a dry run notes nothing", async () => {
  const { take } = await filled();
  const changed = [{ ...other, Extra: "x" }];
  for (let time = 0; time < 2; time++) expect(await take(changed, { dryRun: true })).toMatchObject({ unchanged: 1, taken: ["b1"] });
});
