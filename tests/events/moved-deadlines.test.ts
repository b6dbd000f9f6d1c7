/** Former deadlines are read from the history. */
import { expect, test } from "bun:test";
import { movedDeadlines } from "../../src/events/moved-deadlines.ts";

const dates = (closes_at: string | null, response_at: string | null = closes_at) => ({
  posted_at: null,
  opens_at: null,
  closes_at,
  response_at,
});
const day = (text: string) => `2026-${text}T23:59:59-05:00`;
const event = (detected: string, ...changes: [field: string, previous: unknown, current: unknown][]) => ({
  id: "",
  opportunity_id: "",
  type: "date_changed",
  severity: "material",
  summary: null,
  changed_fields: changes.map(([field]) => field),
  changes: changes.map(([field, previous, current]) => ({ field, previous, current })),
  detected_at: `2026-${detected}T12:00:00.000Z`,
});
const moved = (...given: Parameters<typeof movedDeadlines>) =>
  movedDeadlines(...given).map(({ at, until, to }) => [at, until.slice(5, 10), to]);

test("movedDeadlines() has each former deadline once, with what replaced it, and not one that stands again", () => {
  const history = [
    event("01-01", ["dates.response_at", day("03-01"), day("03-05")], ["dates.closes_at", day("03-01"), day("03-10")]),
    event("01-02", ["title", "a", "b"], ["dates.closes_at", day("03-10"), day("02-20")]),
    event("01-03", ["dates.closes_at", day("02-20"), null]),
    event("01-04", ["dates.closes_at", null, day("03-10")]),
    event("01-05", ["dates.opens_at", day("01-20"), day("01-25")], ["dates.closes_at", "soon", 7]),
  ];
  expect(moved({ dates: dates(day("03-10"), day("03-05")), sidecar: { due_dates: [], expires_at: null } }, history)).toEqual([
    [day("03-01"), "01-01", day("03-10")],
    [day("02-20"), "01-03", null],
  ]);
});

test("movedDeadlines() compares instants: the same one in another zone has not moved", () => {
  const history = [event("01-01", ["dates.closes_at", "2026-03-11T04:59:59Z", day("03-10")])];
  expect(moved({ dates: dates(day("03-10")), sidecar: { due_dates: [], expires_at: null } }, history)).toEqual([]);
});

test("movedDeadlines() leaves out the due dates of a list that passed, and has those that moved before", () => {
  const due_dates = [{ at: day("06-01"), words: null }];
  const history = [
    event("01-15", ["dates.response_at", day("02-01"), day("02-10")]),
    event("02-11", ["dates.response_at", day("02-10"), day("06-01")]),
  ];
  expect(moved({ dates: dates(day("06-01")), sidecar: { due_dates, expires_at: null } }, history)).toEqual([
    [day("02-01"), "01-15", day("02-10")],
  ]);
  const [first, second] = history.map(({ changes }) => changes[0]?.previous);
  expect(moved({ dates: dates(day("06-01")), sidecar: { due_dates: [], expires_at: null } }, history).map(([at]) => at)).toEqual([
    `${first}`,
    `${second}`,
  ]);
});
