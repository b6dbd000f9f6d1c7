import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CLOSING_SOON_MS, statusAt, statusTurnsAt } from "../../src/opportunities/status.ts";
import { formatInstant } from "../../src/text/instant.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 2, 1, 12);
/** The upstream states nothing, so the dates determine the status. */
const BY_DATES = { status: null, until: null, archives_at: null };
const at = (ms: number | null) => (ms === null ? null : formatInstant(NOW + ms));

describe("statusAt() and statusTurnsAt() (D-37)", () => {
  // Relative to now: when it opens and closes; the status now; when it turns next.
  test.each<[opens: number | null, closes: number | null, status: string, due: number | null]>([
    [null, null, "open", null],
    [null, 30 * DAY, "open", 16 * DAY],
    [null, 14 * DAY + 1, "open", 1],
    [null, 14 * DAY, "closing_soon", 14 * DAY],
    [null, 1, "closing_soon", 1],
    [null, 0, "closed", null],
    [null, -1, "closed", null],
    [0, null, "open", null],
    [-1, null, "open", null],
    [1, null, "pre_release", 1],
    [1, 30 * DAY, "pre_release", 1],
    [1, 7 * DAY, "pre_release", 1],
    [20 * DAY, 30 * DAY, "pre_release", 20 * DAY],
    [0, 7 * DAY, "closing_soon", 7 * DAY],
    [-1, 30 * DAY, "open", 16 * DAY],
    [-2, -1, "closed", null],
    [2 * DAY, DAY, "pre_release", DAY], // Closes before it opens.
    [DAY, -DAY, "closed", null],
  ])("opens %p, closes %p: %s, turns at %p", (opens, closes, status, due) => {
    const dates = { opens_at: at(opens), closes_at: at(closes) };
    expect(statusAt(dates, NOW, BY_DATES)).toBe(status as ReturnType<typeof statusAt>);
    expect(statusTurnsAt(status, dates, NOW, BY_DATES)).toBe(due === null ? null : NOW + due);
  });

  test("statusTurnsAt() is now if the dates determine another status", () => {
    expect(statusTurnsAt("open", { opens_at: null, closes_at: at(-1) }, NOW, BY_DATES)).toBe(NOW);
  });

  test("a status stays until it is due, and changes then", () => {
    const moment = fc.option(fc.integer({ min: -60 * DAY, max: 60 * DAY }));
    fc.assert(
      fc.property(moment, moment, fc.array(fc.integer({ min: 0, max: 90 * DAY }), { maxLength: 10 }), (opens, closes, later) => {
        const dates = { opens_at: at(opens), closes_at: at(closes) };
        const status = statusAt(dates, NOW, BY_DATES);
        const due = statusTurnsAt(status, dates, NOW, BY_DATES);
        if (due !== null) expect(statusAt(dates, due, BY_DATES)).not.toBe(status);
        for (const ms of later) if (due === null || NOW + ms < due) expect(statusAt(dates, NOW + ms, BY_DATES)).toBe(status);
      }),
      { seed: 1, numRuns: 500 },
    );
    expect(CLOSING_SOON_MS).toBe(14 * DAY);
  });
});
