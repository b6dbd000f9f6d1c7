import { expect, test } from "bun:test";
import { csvHeader, csvLineOf } from "../../src/export/csv.ts";
import { noSidecar } from "../../src/opportunities/opportunity.ts";
import { aContent } from "../support/contents.ts";

test("due_at and due_kind are what other lists call due: the next date, and after it the closing date", () => {
  const dates = { response_at: "2026-03-02T17:00:00-05:00", closes_at: "2026-04-01T17:00:00-04:00" };
  const stored = { id: "x", created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", sidecar: noSidecar };
  const opportunity = { ...aContent({ dates }), ...stored };
  const dueAt = (now: string) => csvLineOf(opportunity, Date.parse(now), []).trim().split(",").slice(-3);
  expect(csvHeader.trim().split(",").slice(-3)).toEqual(["due_at", "due_kind", "deadline_note"]);
  expect(dueAt("2026-03-01T00:00:00Z")).toEqual([dates.response_at, "due", ""]);
  expect(dueAt("2026-03-03T00:00:00Z")).toEqual([dates.closes_at, "due", ""]);
  expect(dueAt("2026-04-03T00:00:00Z")).toEqual([dates.closes_at, "over", ""]);
});
