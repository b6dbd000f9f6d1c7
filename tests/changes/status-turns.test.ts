/** D-37: a status that follows dates turns when it is due. */
import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { type DatabaseFile, openCatalog } from "../../db/sqlite/open.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses, turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { newestInstant } from "../../src/changes/stored.ts";
import type { OpportunityEvent } from "../../src/events/event.ts";
import { changesInWords } from "../../src/events/in-words.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { aCatalog, contentsOf, DAY, documentOf, documentsOf, dropScratch, eventsOf, NOON, SECOND } from "../support/imports.ts";

afterAll(dropScratch);

const closing = (id: string, days: number, fields: object = {}) => ({
  source: { code: "A", opportunity_id: id },
  title: id,
  dates: { closes_at: formatInstant(NOON + days * DAY) },
  ...fields,
});

describe("turnStatuses()", () => {
  test("turns due statuses with an event at the new updated_at, and changes nothing else", async () => {
    const { db, take } = await aCatalog();
    await take([closing("due", 15), closing("later", 30), closing("stated", 15, { status: "open" }), closing("over", -1)]);
    const before = await documentsOf(db);
    expect(await turnStatuses(db, NOON + DAY - 1)).toEqual({ changed: 0, events: 0 });
    expect(await documentsOf(db)).toEqual(before);
    expect(await turnStatuses(db, NOON + DAY)).toEqual({ changed: 1, events: 1 });
    expect(await documentOf(db, "due")).toMatchObject({
      status: "closing_soon",
      updated_at: formatInstant(NOON + DAY),
      created_at: formatInstant(NOON),
    });
    expect((await eventsOf(db, "due"))[1]).toMatchObject({
      type: "status_changed",
      severity: "informational",
      changes: [{ field: "status", previous: "open", current: "closing_soon" }],
      detected_at: formatInstant(NOON + DAY),
    });
    expect((await documentsOf(db)).filter(({ title }) => title !== "due")).toEqual(before.filter(({ title }) => title !== "due"));
    const again = await contentsOf(db);
    expect(await turnStatuses(db, NOON + DAY)).toEqual({ changed: 0, events: 0 });
    expect(await contentsOf(db)).toBe(again);
    expect(await checkCatalog(db)).toEqual([]);
  });

  test("is no news: what an upstream states, and a deadline that moves, are", async () => {
    const { db, clock, take } = await aCatalog();
    await take([closing("over", 20), closing("stated", 20), closing("moved", 20)]);
    await turnStatuses(db, NOON + 20 * DAY);
    expect((await eventsOf(db, "over")).map(({ severity }) => severity)).toEqual(["informational", "informational"]);
    clock.now = NOON + 21 * DAY;
    await take([closing("stated", 20, { status: "cancelled" }), closing("moved", 40)]);
    const last = async (id: string) => (await eventsOf(db, id)).slice(2).map(({ type, severity }) => [type, severity]);
    expect(await last("stated")).toEqual([["status_changed", "critical"]]);
    expect(await last("moved")).toEqual([
      ["status_changed", "critical"],
      ["date_changed", "material"],
    ]);
  });

  test("is no news either when the date passes while an import is on its way", async () => {
    const { db, clock, take } = await aCatalog();
    await take([closing("N1", 20), closing("N2", 20)]);
    await turnStatuses(db, NOON + 20 * DAY - 2);
    clock.now = NOON + 20 * DAY - 1;
    await take([closing("another", 90)]); // The next transaction gets the instant at which both close.
    expect(await take([closing("N1", 20, { title: "Other" }), closing("N2", 19.999)])).toMatchObject({ changed: 2 });
    const last = async (id: string) => (await eventsOf(db, id)).slice(2).map(({ type, severity }) => [type, severity]);
    expect(await last("N1")).toEqual([
      ["status_changed", "informational"],
      ["description_changed", "informational"],
    ]);
    expect(await last("N2")).toEqual([
      ["status_changed", "informational"],
      ["date_changed", "critical"],
    ]);
  });

  test("goes straight to the present status after a long pause", async () => {
    const { db, take } = await aCatalog();
    await take([closing("N1", 30, { dates: { opens_at: formatInstant(NOON + DAY), closes_at: formatInstant(NOON + 30 * DAY) } })]);
    expect((await documentOf(db, "N1")).status).toBe("pre_release");
    expect(await turnStatuses(db, NOON + 100 * DAY)).toEqual({ changed: 1, events: 1 });
    expect((await eventsOf(db, "N1"))[1]?.changes).toEqual([{ field: "status", previous: "pre_release", current: "closed" }]);
    expect(await turnStatuses(db, NOON + 1000 * DAY)).toEqual({ changed: 0, events: 0 });
  });

  test("takes as many transactions as it needs, each at its own instant", async () => {
    const { db, take } = await aCatalog();
    await take(Array.from({ length: 250 }, (_, n) => closing(`N${n}`, 15)));
    expect(await turnStatuses(db, NOON + DAY)).toEqual({ changed: 250, events: 250 });
    const instants = (await documentsOf(db)).map(({ updated_at }) => updated_at);
    expect([...new Set(instants)]).toEqual([0, 1, 2].map((ms) => formatInstant(NOON + DAY + ms)));
    expect(await checkCatalog(db)).toEqual([]);
  });

  test("turns no status back when the clock was set back by less than a minute, as between two machines", async () => {
    const { db, take } = await aCatalog();
    await take([closing("N1", 15)]);
    await turnStatuses(db, NOON + DAY);
    const before = await contentsOf(db);
    expect(await turnStatuses(db, NOON + DAY - 59 * SECOND)).toEqual({ changed: 0, events: 0 });
    expect(await contentsOf(db)).toBe(before);
  });
});

test("the next due date is foreseen: one event, told in words, and none when the same list is imported again", async () => {
  const { db, clock, take } = await aCatalog();
  const at = (days: number) => formatInstant(NOON + days * DAY);
  const list = [{ ...closing("N1", 40), due_dates: [20, 40].map((days) => ({ at: at(days), words: null })) }];
  await take(list);
  expect(await documentOf(db, "N1")).toMatchObject({ dates: { response_at: at(20) } });
  clock.now = NOON + 20 * DAY;
  expect(await turnStatuses(db, clock.now)).toEqual({ changed: 1, events: 1 });
  expect(await documentOf(db, "N1")).toMatchObject({ status: "open", dates: { response_at: at(40) } });
  const [, event] = await eventsOf(db, "N1");
  expect(event).toMatchObject({ type: "date_changed", severity: "informational", changed_fields: ["dates.response_at"] });
  expect(changesInWords(event as unknown as OpportunityEvent)).toMatchInlineSnapshot(`
    [
      "response date moved from Mar 21 to Apr 10, 2026 (20 days later)",
    ]
  `);
  expect(await take(list)).toMatchObject({ unchanged: 1, events: 0 });
  expect(await checkCatalog(db)).toEqual([]);
});

describe("after the clock was years ahead", () => {
  const ahead = NOON + 700 * DAY;
  const opening = (id: string) =>
    closing(id, 60, { dates: { opens_at: formatInstant(NOON + 30 * DAY), closes_at: formatInstant(NOON + 60 * DAY) } });
  const statusOf = async (db: CatalogDb, id: string) => (await documentOf(db, id)).status;

  test("a due date that was added silently is the next one", async () => {
    const { db, clock, take } = await aCatalog();
    const at = (days: number) => formatInstant(NOON + days * DAY);
    const due = (...days: number[]) => [{ ...closing("N1", 1000), due_dates: days.map((day) => ({ at: at(day), words: null })) }];
    await take(due(1000));
    clock.now = ahead;
    expect(await take(due(10, 1000))).toMatchObject({ unchanged: 1 });
    clock.now = NOON + DAY;
    await turnStatuses(db, clock.now);
    expect(await documentOf(db, "N1")).toMatchObject({ dates: { response_at: at(10) } });
  });

  test("a due date that an import brings turns at its instant, and check compares the stored one", async () => {
    const catalog = await aCatalog(openCatalog(":memory:", NOON));
    const { db, take } = catalog;
    const at = (days: number) => formatInstant(NOON + days * DAY);
    const due = (...days: number[]) => [{ ...closing("N1", 1000), due_dates: days.map((day) => ({ at: at(day), words: null })) }];
    await take(due(20));
    await take(due(20, 50));
    await turnStatuses(db, NOON + 20 * DAY);
    expect(await documentOf(db, "N1")).toMatchObject({ dates: { response_at: at(50) } });
    expect(await checkCatalog(db)).toEqual([]);
    (db as DatabaseFile<"catalog">).sqlite.run("update opportunities set turns_at = ?", [NOON + 1000 * DAY]);
    expect((await checkCatalog(db)).map(({ what }) => what)).toEqual([
      "its turn is due after the instant at which the clock changes it (D-37)",
    ]);
  });

  test("statuses that turned ahead of time turn back, once, with later instants", async () => {
    const { db, take } = await aCatalog();
    await take([closing("N1", 20), opening("N2"), closing("N3", -1), closing("N4", 20, { status: "open" })]);
    expect(await turnStatuses(db, ahead)).toEqual({ changed: 2, events: 2 });
    expect(await turnStatuses(db, NOON + DAY)).toEqual({ changed: 2, events: 2 });
    expect([await statusOf(db, "N1"), await statusOf(db, "N2"), await statusOf(db, "N3")]).toEqual(["open", "pre_release", "closed"]);
    expect((await eventsOf(db, "N1")).map(({ detected_at }) => detected_at)).toEqual([NOON, ahead, ahead + 1].map(formatInstant));
    const after = await contentsOf(db);
    expect(await turnStatuses(db, NOON + DAY)).toEqual({ changed: 0, events: 0 });
    expect(await contentsOf(db)).toBe(after);
    expect(await turnStatuses(db, NOON + 6 * DAY)).toEqual({ changed: 1, events: 1 });
    expect(await statusOf(db, "N1")).toBe("closing_soon");
    expect(await checkCatalog(db)).toEqual([]);
  });

  test("an import judges by the clock, turns back what was turned, and warns", async () => {
    const { db, take, clock } = await aCatalog();
    await take([closing("N1", 20)]);
    await turnStatuses(db, ahead);
    clock.now = NOON + DAY;
    const dry = await take([closing("N1", 20), closing("N2", 40)], { dryRun: true });
    const { messages, ...summary } = await take([closing("N1", 20), closing("N2", 40)]);
    expect(summary).toMatchObject({ added: 1, changed: 0, unchanged: 1, events: 1 });
    expect(dry).toMatchObject({ ...summary, rejects: expect.anything() });
    expect([await statusOf(db, "N1"), await statusOf(db, "N2")]).toEqual(["open", "open"]);
    expect(messages).toEqual([expect.stringContaining(`is dated ${formatInstant(ahead)}, but this machine's clock says`)]);
    expect(Date.parse((await documentOf(db, "N2")).updated_at)).toBeGreaterThan(ahead);
    expect(await turnStatuses(db, NOON + 30 * DAY)).toEqual({ changed: 2, events: 2 });
  });

  test("a redaction leaves statuses to the clock", async () => {
    const { db, take } = await aCatalog();
    await take([closing("N1", 20, { contacts: [{ name: "Ada" }] })]);
    await turnStatuses(db, ahead);
    await redactStored(db, undefined, NOON + DAY);
    expect(await turnStatuses(db, NOON + DAY)).toEqual({ changed: 1, events: 1 });
    expect(await statusOf(db, "N1")).toBe("open");
    expect(await checkCatalog(db)).toEqual([]);
  });
});

describe("turnStatusesWhenDue()", () => {
  test("stores each turn at the instant when it was due, in order", async () => {
    const { db, take } = await aCatalog();
    await take([closing("late", 16), closing("early", 15)]);
    expect(await turnStatusesWhenDue(db, NOON + 20 * DAY, await newestInstant(db))).toBe(NOON + 16 * DAY);
    const turnsOf = async (id: string) => (await eventsOf(db, id)).slice(1).map(({ detected_at }) => detected_at);
    expect([await turnsOf("early"), await turnsOf("late")]).toEqual([
      [formatInstant(NOON + DAY), formatInstant(NOON + 15 * DAY)],
      [formatInstant(NOON + 2 * DAY), formatInstant(NOON + 16 * DAY)],
    ]);
    expect((await documentsOf(db)).map(({ title }) => title)).toEqual(["early", "late"]);
    expect(await checkCatalog(db)).toEqual([]);
  });
});
