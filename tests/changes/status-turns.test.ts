/** D-37: a status that follows dates turns when it is due. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { turnStatuses, turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { aCatalog, contentsOf, DAY, documentOf, documentsOf, dropScratch, eventsOf, NOON } from "../support/imports.ts";

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

  test("turns no status back when the clock was set back", async () => {
    const { db, take } = await aCatalog();
    await take([closing("N1", 15)]);
    await turnStatuses(db, NOON + 2 * DAY);
    const before = await contentsOf(db);
    expect(await turnStatuses(db, NOON)).toEqual({ changed: 0, events: 0 });
    expect(await contentsOf(db)).toBe(before);
  });
});

describe("turnStatusesWhenDue()", () => {
  test("stores each turn at the instant when it was due, in order", async () => {
    const { db, take } = await aCatalog();
    await take([closing("late", 16), closing("early", 15)]);
    expect(await turnStatusesWhenDue(db, NOON + 20 * DAY)).toEqual({ changed: 4, events: 4 });
    const turnsOf = async (id: string) => (await eventsOf(db, id)).slice(1).map(({ detected_at }) => detected_at);
    expect([await turnsOf("early"), await turnsOf("late")]).toEqual([
      [formatInstant(NOON + DAY), formatInstant(NOON + 15 * DAY)],
      [formatInstant(NOON + 2 * DAY), formatInstant(NOON + 16 * DAY)],
    ]);
    expect((await documentsOf(db)).map(({ title }) => title)).toEqual(["early", "late"]);
    expect(await checkCatalog(db)).toEqual([]);
  });
});
