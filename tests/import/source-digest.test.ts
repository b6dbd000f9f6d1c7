/** What was read from the same text before is not read again, and nothing is missed by that. */
import { afterAll, describe, expect, test } from "bun:test";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import type { Draft, Format, Item, LazyItem } from "../../src/import/format.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { digestUnder } from "../../src/import/source-digest.ts";
import { lines } from "../../src/text/lines.ts";
import { aCatalog, aFile, contentsOf, DAY, documentsOf, dropScratch, NOON } from "../support/imports.ts";
import { bytesOf, realInput } from "../support/read-format.ts";
import { extractText, type SimplerRecord, simplerRecords } from "../support/simpler-layouts.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

/** A format whose lines are `id title`, and the ids that it had to read. */
function watched(): { format: Format; taken: () => string[] } {
  let read: string[] = [];
  async function* items(inputs: Parameters<Format["read"]>[0]): AsyncIterable<Item> {
    for (const input of inputs) {
      for await (const { line, text } of lines(input.bytes())) {
        const [id = "", ...title] = text.split(" ");
        const draft = (): Draft => {
          read.push(id);
          return { source: { code: "A", opportunity_id: id }, title: title.join(" ").replace(/,.*/, ""), contacts: [{ name: "Ann" }] };
        };
        yield { kind: "lazy", input, line, raw: { text }, source: "A", id, digested: text, read: draft };
      }
    }
  }
  const taken = () => {
    const ids = read;
    read = [];
    return ids;
  };
  return { format: { name: "watched", about: "", read: items }, taken };
}

/** A catalog that holds `1 One` and `2 Two`, read by a format that is watched. */
async function filled() {
  const catalog = await aCatalog();
  const { format, taken } = watched();
  const take = async (content: string[], given: Parameters<typeof catalog.take>[1] = {}) => {
    const { read, added, changed, unchanged } = await catalog.take(content, { format, ...given });
    return { read, added, changed, unchanged, taken: taken() };
  };
  expect(await take(["1 One", "2 Two"])).toEqual({ read: 2, added: 2, changed: 0, unchanged: 0, taken: ["1", "2"] });
  catalog.clock.now += DAY;
  const titles = async () => (await documentsOf(catalog.db)).map(({ title }) => title).sort();
  return { ...catalog, takeRecords: catalog.take, take, titles };
}

describe("a record", () => {
  test("with the same text is not read, and nothing is written", async () => {
    const { db, take } = await filled();
    const before = await contentsOf(db);
    expect(await take(["1 One", "2 Two"])).toEqual({ read: 2, added: 0, changed: 0, unchanged: 2, taken: [] });
    expect(await contentsOf(db)).toBe(before);
  });

  test("with another text is read", async () => {
    const { take, titles } = await filled();
    expect(await take(["1 One", "2 Zwei"])).toEqual({ read: 2, added: 0, changed: 1, unchanged: 1, taken: ["2"] });
    expect(await take(["1 One", "2 Two"])).toMatchObject({ changed: 1, taken: ["2"] });
    expect(await titles()).toEqual(["One", "Two"]);
  });

  test("with another text and the same content is read once", async () => {
    const { db, take } = await filled();
    const before = await contentsOf(db);
    expect(await take(["1 One, as of Monday", "2 Two"])).toMatchObject({ unchanged: 2, taken: ["1"] });
    expect(await take(["1 One, as of Monday", "2 Two"])).toMatchObject({ unchanged: 2, taken: [] });
    expect(await contentsOf(db)).toBe(before);
  });

  test("that occurs twice in one file is the last of them, in any order", async () => {
    const { take, titles } = await filled();
    expect(await take(["1 Eins", "1 One"])).toMatchObject({ changed: 0, unchanged: 1 });
    expect(await titles()).toEqual(["One", "Two"]);
    expect(await take(["1 One", "1 Eins"])).toMatchObject({ changed: 1, unchanged: 0 });
    expect(await titles()).toEqual(["Eins", "Two"]);
  });

  test("is present in a snapshot, whether it was read or not", async () => {
    const { take, db } = await filled();
    expect(await take(["1 One", "2 Two"], { snapshot: true })).toMatchObject({ unchanged: 2, taken: [] });
    expect((await documentsOf(db)).map(({ status }) => status)).toEqual(["open", "open"]);
  });

  test("that was archived by a snapshot is read when it is back", async () => {
    const { take, db } = await filled();
    await take(["1 One"], { snapshot: true, allowRemovals: true });
    expect((await documentsOf(db)).map(({ status }) => status)).toEqual(["open", "archived"]);
    expect(await take(["1 One", "2 Two"])).toMatchObject({ changed: 1, unchanged: 1, taken: ["2"] });
    expect((await documentsOf(db)).map(({ status }) => status)).toEqual(["open", "open"]);
  });

  test("that another file has changed is read again", async () => {
    const { take, takeRecords, titles } = await filled();
    await takeRecords([{ source: { code: "A", opportunity_id: "2" }, title: "Deux" }]);
    expect(await take(["1 One", "2 Two"])).toMatchObject({ changed: 1, taken: ["2"] });
    expect(await titles()).toEqual(["One", "Two"]);
  });

  test("is read again if contacts are now redacted, or the source has another name", async () => {
    const { take, db } = await filled();
    expect(await take(["1 One", "2 Two"], { redactContacts: true })).toMatchObject({ changed: 2, taken: ["1", "2"] });
    expect(await take(["1 One", "2 Two"], { redactContacts: true })).toMatchObject({ unchanged: 2, taken: [] });
    await db.run(rawSql("insert into sources (code, name, description) values ('A', 'Agency A', '')"));
    expect(await take(["1 One", "2 Two"], { redactContacts: true })).toMatchObject({ changed: 2, taken: ["1", "2"] });
  });

  test("is not read again if only its status has turned", async () => {
    const catalog = await aCatalog();
    const dated = [{ source: { code: "A", opportunity_id: "1" }, title: "One", dates: { closes_at: "2026-03-02T12:00:00Z" } }];
    await catalog.take(dated);
    const readings = () => catalog.db.all(rawSql("select * from readings"));
    const before = await readings();
    catalog.clock.now += 2 * DAY;
    expect(await turnStatuses(catalog.db, catalog.clock.now)).toMatchObject({ changed: 1 });
    expect(before).toHaveLength(1);
    expect(await readings()).toEqual(before);
  });

  test("is rejected again at each import", async () => {
    const { take } = await filled();
    for (let time = 0; time < 2; time++) expect(await take(["1 One", "3 "])).toMatchObject({ unchanged: 1, taken: ["3"] });
  });
});

test("a dry run notes nothing", async () => {
  const { take } = await filled();
  for (let time = 0; time < 2; time++) expect(await take(["1 One, too"], { dryRun: true })).toMatchObject({ unchanged: 1, taken: ["1"] });
});

test("a grant whose archive date passes is archived by the same extract", async () => {
  const catalog = await aCatalog();
  const grant = (id: number) =>
    `<OpportunitySynopsisDetail_1_0><OpportunityID>${id}</OpportunityID><OpportunityTitle>T</OpportunityTitle><ArchiveDate>03022026</ArchiveDate></OpportunitySynopsisDetail_1_0>`;
  const extract = aFile(`<Grants>${grant(1)}${grant(2)}</Grants>`, "archived.xml");
  const take = () => catalog.takeFiles([extract], { format: grantsGov });
  expect(await take()).toMatchObject({ added: 2 });
  expect(await take()).toMatchObject({ unchanged: 2 });
  catalog.clock.now = NOON + 2 * DAY;
  expect(await take()).toMatchObject({ unchanged: 2 });
  expect((await documentsOf(catalog.db)).map(({ status }) => status)).toEqual(["archived", "archived"]);
});

test("an opportunity in the extract of Simpler.Grants.gov is read only if its text is another one", async () => {
  let read = 0;
  const format: Format = {
    ...grantsGov,
    async *read(inputs, context) {
      for await (const item of grantsGov.read(inputs, context)) {
        const counted = () => {
          read++;
          return (item as LazyItem).read();
        };
        yield item.kind === "lazy" ? { ...item, read: counted } : item;
      }
    },
  };
  const catalog = await aCatalog();
  const [first, ...others] = (await simplerRecords()).slice(0, 5) as [SimplerRecord, ...SimplerRecord[]];
  const take = async (...records: SimplerRecord[]) => {
    read = 0;
    const { added, changed, unchanged } = await catalog.take(extractText(records), { format });
    return { added, changed, unchanged, read };
  };
  expect(await take(first, ...others)).toEqual({ added: 5, changed: 0, unchanged: 0, read: 5 });
  expect(await take(first, ...others)).toEqual({ added: 0, changed: 0, unchanged: 5, read: 0 });
  const amended = { ...first, opportunity_title: "Amended" };
  expect(await take(amended, ...others)).toEqual({ added: 0, changed: 1, unchanged: 4, read: 1 });
});

test("digestUnder() gives different digests for different texts or settings", () => {
  const digests = [digestUnder(["a"])("x"), digestUnder(["a"])("y"), digestUnder(["b"])("x"), digestUnder(["a"])("x")];
  expect(new Set(digests.map((digest) => digest.toHex())).size).toBe(3);
});

test.each(["20250821", "20260803"])(
  "of the real extract of %s, each grant is read from all of its element and nothing else",
  async (day) => {
    const input = await realInput(`grants-gov/derived/GrantsDBExtract${day}v2.reconstructed.xml.gz`);
    const elements = new Map<string, string>();
    for (const { 0: element, groups } of String(await bytesOf(input)).matchAll(
      /<(?<name>Opportunity\w+Detail_1_0)>.*?<OpportunityID>(?<id>\d+)<.*?<\/\k<name>>/gs,
    ))
      elements.set(groups?.id ?? "", element);
    let read = 0;
    for await (const item of grantsGov.read([input], { warn: () => undefined, incomplete: () => undefined, neverHas: () => undefined })) {
      if (item.kind !== "lazy") throw new Error(`the item is a ${item.kind} one`);
      read++;
      expect(item.digested.replace(/^(true|false) /, "")).toBe(elements.get(item.id) ?? "");
    }
    expect(read).toBe(elements.size);
  },
);
