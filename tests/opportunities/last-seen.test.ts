/** What states no date is open only as long as its source still has it. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { exportLines } from "../../src/export/records.ts";
import type { Draft } from "../../src/import/format.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { dueInWords, dueOf } from "../../src/opportunities/due.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { countOpenings } from "../../src/search/openings.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { aCatalog, aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const NOTHING = { open: 12, uncounted: [] };
const UNSEEN = (opportunities: number) => [{ obstacle: "unseen", opportunities } as const];

async function catalogOf(...drafts: Draft[]) {
  const { db, clock, take, takeFiles } = await aCatalog();
  if (drafts.length > 0) await take(drafts);
  const index = openSearchFile(aDirectory());
  const openings = async (now: number) => {
    await catchUp(db, index, undefined, now);
    const { open, uncounted } = countOpenings(index);
    return { open, uncounted };
  };
  const dueOfFirst = async (now: number) => {
    const [row] = await db.all(rawSql<{ id: string }>("select id from opportunities order by seq limit 1"));
    const [first] = await readOpportunities(db, [row?.id ?? ""], now);
    return first === undefined ? undefined : dueInWords(dueOf(first, now, []), now);
  };
  const forgetLayouts = () => db.transaction(async (sql) => void (await sql.run(rawSql("delete from layout_sightings"))));
  return { take, takeFiles, clock, openings, dueOfFirst, forgetLayouts };
}

function undated(n: number): Draft {
  return {
    source: { code: "OWN", opportunity_id: `U${n}` },
    title: `Undated ${n}`,
    status: "open",
    dates: { posted_at: "2015-08-01T12:00:00Z" },
  };
}

const all = Array.from({ length: 12 }, (_, n) => undated(n));

describe("a record that is open and states no date", () => {
  test("counts until its source drops it, and again when it is back", async () => {
    const { take, clock, openings, dueOfFirst } = await catalogOf(...all);
    expect(await openings(clock.now)).toEqual(NOTHING);
    clock.now += DAY;
    expect((await take(all.slice(1))).events).toBe(0);
    expect(await openings(clock.now)).toEqual({ open: 11, uncounted: UNSEEN(1) });
    expect(await dueOfFirst(clock.now)).toBe("open when last seen, Mar 1, 2026; no date stated, posted 2015");
    clock.now += DAY;
    expect((await take(all)).events).toBe(0);
    expect(await openings(clock.now)).toEqual(NOTHING);
    expect(await dueOfFirst(clock.now)).toBe("no date stated, posted 2015");
  });

  test("is not judged by a file of a day", async () => {
    const { take, clock, openings } = await catalogOf(...all);
    clock.now += DAY;
    await take([undated(0), undated(99)]);
    expect(await openings(clock.now)).toEqual({ open: 13, uncounted: [] });
  });

  describe("of which two layouts of one source tell", () => {
    const ids = Array.from({ length: 12 }, (_, n) => `${300001 + n}`);
    const extract = (ids: readonly string[]) =>
      aFile(
        `<Grants>${ids.map((id) => `<OpportunitySynopsisDetail_1_0><OpportunityID>${id}</OpportunityID><OpportunityTitle>Grant ${id}</OpportunityTitle></OpportunitySynopsisDetail_1_0>`).join("")}</Grants>`,
        "extract.xml",
      );
    const search = (ids: readonly string[]) =>
      aFile(JSON.stringify({ oppHits: ids.map((id) => ({ id, number: `N-${id}`, title: `Grant ${id}`, oppStatus: "posted" })) }));
    /** What counts after each import of these files, a day apart. */
    const countedAfter = async (...files: (() => string)[]) => {
      const { takeFiles, clock, openings } = await catalogOf();
      const counted: number[] = [];
      for (const file of files) {
        clock.now += DAY;
        expect((await takeFiles([file()], { format: grantsGov })).rejected).toBe(0);
        counted.push((await openings(clock.now)).open);
      }
      return counted;
    };

    test("stays when a file of a layout lacks it that never had it", async () => {
      const narrow = () => search(ids.slice(0, 11));
      expect(await countedAfter(() => extract(ids), narrow, narrow)).toEqual([12, 12, 12]);
    });

    test("counts again when any layout has it, if an older version of the program noted no layout", async () => {
      const { takeFiles, clock, openings, forgetLayouts } = await catalogOf();
      const countedAfter = async (file: string) => {
        clock.now += DAY;
        await takeFiles([file], { format: grantsGov });
        return (await openings(clock.now)).open;
      };
      expect(await countedAfter(extract(ids))).toBe(12);
      await forgetLayouts();
      expect(await countedAfter(search(ids.slice(0, 11)))).toBe(11);
      expect(await countedAfter(extract(ids))).toBe(12);
    });

    test("is dropped also when an empty file comes with the one that lacks it", async () => {
      const { takeFiles, clock, openings } = await catalogOf();
      await takeFiles([extract(ids)], { format: grantsGov });
      clock.now += DAY;
      await takeFiles([extract(ids.slice(1)), aFile("")], { format: grantsGov });
      expect((await openings(clock.now)).open).toBe(11);
    });

    test("stays dropped when an older file of another layout has it, until the first one has it again", async () => {
      const [whole, dropped] = [() => extract(ids), () => extract(ids.slice(1))];
      expect(await countedAfter(whole, dropped, () => search(ids), whole)).toEqual([12, 11, 11, 12]);
      expect(
        await countedAfter(
          () => search(ids),
          whole,
          dropped,
          () => search(ids),
        ),
      ).toEqual([12, 12, 11, 11]);
    });
  });

  test("counts for a year after it was last seen", async () => {
    const { take, clock, openings, dueOfFirst } = await catalogOf(...all);
    const day = clock.now + 300 * DAY;
    expect(await openings(day)).toEqual(NOTHING);
    clock.now = day;
    await take(all.slice(0, 11), { asOf: day - DAY });
    expect(await openings(NOON + 364 * DAY)).toEqual({ open: 11, uncounted: UNSEEN(1) });
    expect(await openings(day + 363 * DAY)).toEqual({ open: 11, uncounted: UNSEEN(1) });
    expect(await openings(day + 365 * DAY)).toEqual({ open: 0, uncounted: UNSEEN(12) });
    expect(await dueOfFirst(day + 365 * DAY)).toStartWith("open when last seen, Dec 25, 2026; ");
  });

  test("is forgotten when it states a date or ends", async () => {
    const { take, clock, openings } = await catalogOf(...all);
    clock.now += DAY;
    const dated = { ...undated(0), dates: { closes_at: "2030-01-01T12:00:00Z" } };
    await take([dated, { ...undated(1), status: "closed" }, ...all.slice(2)]);
    expect(await openings(clock.now + 500 * DAY)).toEqual({ open: 1, uncounted: UNSEEN(10) });
  });

  test("was last seen as the export of its catalog says, once that is restored", async () => {
    const { db, clock, take } = await aCatalog();
    await take(all);
    clock.now += DAY;
    await take(all.slice(2));
    const seenIn = (catalog: typeof db) =>
      catalog.all(
        rawSql<Record<string, unknown>>(
          "select lineage, seen_at, missed_at from sightings join opportunities on seq = opportunity_seq order by lineage",
        ),
      );
    const lines: string[] = [];
    await exportLines(db, {}, (line) => void lines.push(line));
    const restored = await aCatalog();
    restored.clock.now = clock.now + 30 * DAY;
    await restored.take(lines);
    const seen = await seenIn(db);
    expect(seen.map(({ missed_at }) => missed_at !== null)).toEqual(all.map((_, n) => n < 2));
    expect(await seenIn(restored.db)).toEqual(seen);
    const again: string[] = [];
    await exportLines(restored.db, {}, (line) => void again.push(line));
    expect(again).toEqual(lines);
    await restored.take(all.slice(2));
    expect((await seenIn(restored.db)).filter(({ seen_at }) => seen_at === restored.clock.now)).toHaveLength(10);
  });

  test("cannot have been seen in the future", async () => {
    const { db, take } = await aCatalog();
    await take(all.slice(0, 1));
    const lines: string[] = [];
    await exportLines(db, {}, (line) => void lines.push(line.replace(/"last_seen":\{"at":"\d+/, '"last_seen":{"at":"2999')));
    const { rejected, reasons } = await (await aCatalog()).take(lines);
    expect([rejected, reasons?.map(({ reason }) => reason)]).toEqual([1, ["last_seen.at must not lie in the future"]]);
  });
});
