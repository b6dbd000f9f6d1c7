import { describe, expect, test } from "bun:test";
import { easternAt, easternDate, easternDateBefore, easternInstant } from "../../src/text/eastern.ts";

describe("easternInstant()", () => {
  test.each([
    ["2026-01-15", "00:00:00", "2026-01-15T00:00:00-05:00"],
    ["2026-07-31", "23:59:59", "2026-07-31T23:59:59-04:00"],
    ["2026-03-08", "00:00:00", "2026-03-08T00:00:00-05:00"],
    ["2026-03-08", "23:59:59", "2026-03-08T23:59:59-04:00"],
    ["2026-11-01", "00:00:00", "2026-11-01T00:00:00-04:00"],
    ["2026-11-01", "23:59:59", "2026-11-01T23:59:59-05:00"],
    ["1983-06-01", "00:00:00", "1983-06-01T00:00:00-04:00"],
    ["2026-02-30", "00:00:00", undefined],
    ["13-45-2026", "00:00:00", undefined],
    ["undefined", "00:00:00", undefined],
  ])("%s %s is %p", (date, time, instant) => {
    expect(easternInstant(date, time)).toBe(instant);
  });
});

test.each([
  ["2026-07-01T03:59:59Z", "2026-06-30"],
  ["2026-07-01T04:00:00Z", "2026-07-01"],
  ["2026-01-01T04:59:59Z", "2025-12-31"],
])("easternDate() of %s is %s", (instant, date) => {
  expect(easternDate(Date.parse(instant))).toBe(date);
});

test.each([
  ["2026-07-01T20:10:23.206Z", "2026-07-01T16:10:23.206-04:00"],
  ["2026-12-01T04:30:00Z", "2026-11-30T23:30:00-05:00"],
  ["2026-03-08T06:59:59Z", "2026-03-08T01:59:59-05:00"],
  ["2026-03-08T07:00:00Z", "2026-03-08T03:00:00-04:00"],
  ["2026-11-01T05:30:00Z", "2026-11-01T01:30:00-04:00"],
  ["2026-11-01T06:30:00Z", "2026-11-01T01:30:00-05:00"],
])("easternAt() of %s is %s", (instant, eastern) => {
  expect(easternAt(Date.parse(instant))).toBe(eastern);
});

test.each([
  ["2026-03-09T04:30:00Z", 1, "2026-03-08"],
  ["2026-03-09T04:30:00Z", 2, "2026-03-07"],
  ["2026-11-03T04:30:00Z", 3, "2026-10-30"],
  ["2026-01-01T12:00:00Z", 1, "2025-12-31"],
])("easternDateBefore() %s by %d days is %s", (instant, days, date) => {
  expect(easternDateBefore(Date.parse(instant), days)).toBe(date);
});
