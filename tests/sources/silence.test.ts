/** Which source has gone silent, and what imports note of it. */
import { afterAll, describe, expect, test } from "bun:test";
import { readNews } from "../../src/sources/news.ts";
import { DAYS_SEEN, type News, silenceOf } from "../../src/sources/silence.ts";
import { newestPostedDates } from "../../src/sources/source.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, DAY, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

const TODAY = "2026-03-01";
const before = (days: number) => new Date(Date.parse(TODAY) - days * DAY).toISOString().slice(0, 10);
/** Days from `from` days ago, each `every` days before the last. */
const every = (pause: number, from = 0, count = DAYS_SEEN) => Array.from({ length: count }, (_, index) => before(from + index * pause));
/** The weekdays before a day, 31 of them. */
const weekdays = (from: number) =>
  every(1, from, 60)
    .filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))
    .slice(0, DAYS_SEEN);

/** As imports on these days note it. */
function imported(days: { news_days: string[]; import_days: string[] }): News {
  return { ...days, known_on: days.import_days[0] ?? null };
}

describe("silenceOf()", () => {
  test.each<[string, { news_days: string[]; import_days: string[] }, object]>([
    ["news and imports each day", { news_days: every(1), import_days: every(1) }, { state: "ok", silent_because: null }],
    ["news on weekdays, seen on a Monday", { news_days: weekdays(3), import_days: every(1) }, { state: "ok", usual_news_pause_days: 3 }],
    ["nothing new for a long weekend", { news_days: every(1, 4), import_days: every(1) }, { state: "ok" }],
    ["nothing new for longer than that", { news_days: every(1, 5), import_days: every(1) }, { state: "silent", silent_because: "no_news" }],
    [
      "nothing new for twice the usual pause",
      { news_days: every(14, 28), import_days: every(1) },
      { state: "ok", usual_news_pause_days: 14 },
    ],
    ["nothing new for a day more", { news_days: every(14, 29), import_days: every(1) }, { state: "silent", silent_because: "no_news" }],
    ["imports that stopped", { news_days: every(1, 3), import_days: every(1, 3) }, { state: "silent", silent_because: "no_imports" }],
    ["imports that stopped two days ago", { news_days: every(1, 2), import_days: every(1, 2) }, { state: "ok" }],
    ["weekly imports", { news_days: every(7, 6), import_days: every(7, 6) }, { state: "ok", usual_import_pause_days: 7 }],
    ["one import, not long ago, of news until then", { news_days: every(1, 4), import_days: [before(4)] }, { state: "ok" }],
    [
      "one import, long ago, of news until then",
      { news_days: every(1, 90), import_days: [before(90)] },
      { state: "silent", silent_because: "no_imports", usual_import_pause_days: null },
    ],
    ["one import of old news", { news_days: every(1, 90), import_days: [before(0)] }, { state: "silent", silent_because: "no_news" }],
    ["nothing new until a last import two days ago", { news_days: every(1, 5), import_days: every(1, 2) }, { state: "ok" }],
    ["too little news to tell", { news_days: every(1, 60, 9), import_days: [before(0)] }, { state: null, usual_news_pause_days: null }],
    ["nothing at all", { news_days: [], import_days: [] }, { state: null, silent_because: null }],
  ])("judges %s", (_, news, expected) => {
    expect(silenceOf(imported(news), TODAY)).toMatchObject(expected);
  });

  test("judges a backfill by the day of its files", () => {
    const backfill = { news_days: every(1, 90), import_days: [] };
    expect(silenceOf({ ...backfill, known_on: before(90) }, TODAY)).toMatchObject({ state: "silent", silent_because: "no_imports" });
    expect(silenceOf({ ...backfill, news_days: every(1, 4), known_on: before(4) }, TODAY)).toMatchObject({ state: "ok" });
  });

  test("is not misled by one long pause in the past", () => {
    const news_days = [...every(1, 8, 20), ...every(1, 200, 11)];
    expect(silenceOf(imported({ news_days, import_days: every(1) }), TODAY)).toMatchObject({ state: "silent", usual_news_pause_days: 1 });
  });
});

describe.each(engines)("the news of a source on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("are noted by imports that find something", async () => {
    const { db: filled, clock, take, takeEvents } = await aCatalog();
    const record = (code: string, fields: object = {}) => ({ source: { code, opportunity_id: "1" }, title: "T", ...fields });
    await take([record("A"), record("B", { dates: { posted_at: "2026-02-20T00:00:00Z" } })]);
    clock.now += DAY;
    await take([record("A", { title: "New" }), record("B", { dates: { posted_at: "2026-02-20T00:00:00Z" } })]);
    clock.now += DAY;
    await take([record("A", { title: "New", status: "archived", status_display: "Archived" })]); // As if its date had passed.
    clock.now += DAY;
    await takeEvents([{ source: { code: "A", opportunity_id: "1" }, type: "x", severity: "x", detected_at: "2026-01-01T00:00:00Z" }]);
    const db = await emptyCatalog();
    await copyCatalog(filled, db);

    expect(await readNews(db, "A", "2026-03-09")).toEqual({
      changed_at: NOON + DAY,
      news_days: ["2026-03-02", "2026-03-01"],
      import_days: ["2026-03-03", "2026-03-02", "2026-03-01"],
      known_on: "2026-03-03",
    });
    expect(await readNews(db, "B", "2026-03-09")).toEqual({
      changed_at: NOON,
      news_days: ["2026-03-01", "2026-02-20"],
      import_days: ["2026-03-02", "2026-03-01"],
      known_on: "2026-03-02",
    });
    const nothing = { changed_at: null, news_days: [], import_days: [], known_on: null };
    expect(await readNews(db, "C", "2026-03-09")).toEqual(nothing);
    await db.close();
  });

  test.if(isThere)("are removals too, but a backfill says nothing about what is usual", async () => {
    const { db: filled, take } = await aCatalog();
    const records = Array.from({ length: 6 }, (_, n) => ({ source: { code: "A", opportunity_id: `${n}` }, title: "T" }));
    await take(records, { asOf: Date.UTC(2025, 0, 1) });
    await take(records.slice(1), { asOf: Date.UTC(2025, 0, 5), snapshot: true });
    expect(await readNews(filled, "A", TODAY)).toEqual({
      changed_at: Date.UTC(2025, 0, 5),
      news_days: [],
      import_days: [],
      known_on: "2025-01-05",
    });
    await take(records.slice(2), { snapshot: true });
    const db = await emptyCatalog();
    await copyCatalog(filled, db);
    expect(await readNews(db, "A", TODAY)).toEqual({
      changed_at: NOON,
      news_days: [TODAY],
      import_days: [TODAY],
      known_on: TODAY,
    });
    await db.close();
  });

  test.if(isThere)("end with the last import of the past, if the clock was ahead at a later one", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    await take([{ source: { code: "A", opportunity_id: "1" }, title: "T" }]);
    clock.now += 500 * DAY;
    await take([{ source: { code: "A", opportunity_id: "1" }, title: "T" }]);
    expect((await readNews(db, "A", TODAY)).known_on).toBe(TODAY);
    await db.close();
  });

  test.if(isThere)("are no days that were planned at the last import", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    const records = ["2026-02-20", "2026-03-05", "2026-03-08"].map((day) => ({
      source: { code: "A", opportunity_id: day },
      title: day,
      dates: { posted_at: `${day}T00:00:00Z` },
    }));
    await take(records);
    expect((await readNews(db, "A", "2026-03-09")).news_days).toEqual(["2026-03-01", "2026-02-20"]);
    expect([...(await newestPostedDates(db, "2026-03-09"))]).toEqual([["A", "2026-02-20"]]);
    clock.now += 5 * DAY;
    await take(records); // Their source still says so.
    expect([...(await newestPostedDates(db, "2026-03-09"))]).toEqual([["A", "2026-03-05"]]);
    await db.close();
  });

  test.if(isThere)("are few, however long the past", async () => {
    const { db: filled, clock, take } = await aCatalog();
    for (let n = 0; n < DAYS_SEEN + 5; n++) {
      await take([{ source: { code: "A", opportunity_id: "1" }, title: `T${n}` }]);
      clock.now += DAY;
    }
    const { news_days, import_days } = await readNews(filled, "A", "2027-01-01");
    expect([news_days.length, import_days.length]).toEqual([DAYS_SEEN, DAYS_SEEN]);
    await filled.close();
    const unused = await emptyCatalog();
    await unused.close();
  });
});
