/** D-37: what the clock changes in a record, and when. */
import { describe, expect, test } from "bun:test";
import { clockedAt, clockTurnsAt, lastDueDate, type StatusBasis, type Timed } from "../../src/opportunities/clock.ts";
import { DAY_MS, formatInstant } from "../../src/text/instant.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const at = (days: number) => formatInstant(NOW + days * DAY_MS);

const aRecord = (dueDays: readonly number[], fields: Partial<Timed> = {}): Timed => ({
  status: "open",
  status_display: null,
  dates: { posted_at: null, opens_at: null, closes_at: dueDays.length === 0 ? null : at(Math.max(...dueDays)), response_at: null },
  due_dates: dueDays.map((days) => ({ at: at(days), words: null })),
  ...fields,
});

/** The record as the clock leaves it at an instant, and when that happens. */
const steps = (record: Timed, basis: StatusBasis, from = NOW) => {
  const found: [days: number, status: string, response: number | null][] = [];
  let state = record;
  for (let due: number | null = from; due !== null; due = clockTurnsAt(state, basis, due)) {
    state = { ...state, ...clockedAt(state, basis, due) };
    const { response_at } = state.dates;
    found.push([(due - NOW) / DAY_MS, state.status, response_at === null ? null : (Date.parse(response_at) - NOW) / DAY_MS]);
  }
  return found;
};

describe("the clock", () => {
  test("moves response_at from one due date to the next and leaves it at the last one, with the status", () => {
    expect(steps(aRecord([40, 10, 90]), "dates")).toEqual([
      [0, "open", 10],
      [10, "open", 40],
      [40, "open", 90],
      [76, "closing_soon", 90],
      [90, "closed", 90],
    ]);
  });

  test("goes straight to what holds now, whatever came before", () => {
    expect(steps(aRecord([10, 40, 90]), "dates", NOW + 50 * DAY_MS)).toEqual([
      [50, "open", 90],
      [76, "closing_soon", 90],
      [90, "closed", 90],
    ]);
    expect(steps(aRecord([10, 40]), "dates", NOW + 50 * DAY_MS)).toEqual([[50, "closed", 40]]);
  });

  test("moves the due date of a record whose status is stated, too, and nothing of one without due dates", () => {
    expect(steps(aRecord([10, 40], { status: "forecast" }), "stated")).toEqual([
      [0, "forecast", 10],
      [10, "forecast", 40],
    ]);
    expect(steps(aRecord([]), "dates")).toEqual([[0, "open", null]]);
    const response_at = at(5);
    const dates = { posted_at: null, opens_at: null, closes_at: at(20), response_at };
    expect(clockedAt(aRecord([], { dates }), "dates", NOW + 10 * DAY_MS).dates.response_at).toBe(response_at);
  });

  test("archives at the archive date", () => {
    const terms = { stated: { status: null, status_display: "Posted" }, archives_at: at(50) };
    expect(steps(aRecord([10, 40], terms), "dates")).toEqual([
      [0, "open", 10],
      [10, "open", 40],
      [26, "closing_soon", 40],
      [40, "closed", 40],
      [50, "archived", 40],
    ]);
  });
});

describe("the last of several due dates", () => {
  test("is the last one, whatever its offset and place in the list", () => {
    expect(lastDueDate([{ at: "2026-03-02T01:00:00+14:00" }, { at: "2026-03-01T23:00:00-05:00" }, { at: "2026-03-01T00:00:00Z" }])).toBe(
      "2026-03-01T23:00:00-05:00",
    );
    expect(lastDueDate([])).toBeNull();
  });
});
