import { expect, test } from "bun:test";
import { dateInWords, timeInWords, weekdayInWords } from "../../src/text/date-in-words.ts";
import { durationInWords } from "../../src/text/in-words.ts";

test("dateInWords() keeps the date as published, unless a zone is given", () => {
  expect(dateInWords("2026-03-03T23:59:59-05:00")).toBe("Mar 3, 2026");
  expect(dateInWords("2026-03-03T23:59:59-05:00", "UTC")).toBe("Mar 4, 2026");
  expect(dateInWords("2026-03-03")).toBe("Mar 3, 2026");
  expect(dateInWords("2026-13-03")).toBe("2026-13-03");
  expect(dateInWords("tomorrow")).toBe("tomorrow");
});

test.each([
  ["2026-12-04T17:00:00-05:00", undefined, "Dec 4, 2026, 5:00 PM ET"],
  ["2026-07-04T00:05:59.999-04:00", undefined, "Jul 4, 2026, 12:05 AM ET"],
  ["2026-07-04T12:00:00-05:00", undefined, "Jul 4, 2026, 12:00 PM UTC-5"],
  ["2026-07-04t12:00:00z", undefined, "Jul 4, 2026, 12:00 PM UTC"],
  ["2026-07-04T12:00:00+05:30", undefined, "Jul 4, 2026, 12:00 PM UTC+5:30"],
  ["0001-02-03T12:00:00-00:00", undefined, "Feb 3, 1, 12:00 PM UTC"],
  ["2026-12-04T17:00:00Z", "America/New_York", "Dec 4, 2026, 12:00 PM ET"],
  ["2026-12-04T23:30:00Z", "Europe/Berlin", "Dec 5, 2026, 12:30 AM UTC+1"],
  ["2026-07-04T17:00:00Z", "America/Los_Angeles", "Jul 4, 2026, 10:00 AM PT"],
  ["2026-12-04T17:00:00Z", "Europe/London", "Dec 4, 2026, 5:00 PM UTC"],
  ["no time", undefined, "no time"],
])("timeInWords(%j, %j) is %j", (text, zone, words) => {
  expect(timeInWords(text, zone)).toBe(words);
});

test.each([
  [60_000, "1 minute"],
  [5_400_000, "1 hour 30 minutes"],
  [86_400_000, "1 day"],
  [2 * 86_400_000 + 3_600_000, "2 days 1 hour"],
  [86_460_000, "1 day 1 minute"],
])("durationInWords(%d) is %j", (ms, words) => {
  expect(durationInWords(ms)).toBe(words);
});

test("weekdayInWords() is the day of the week of a date", () => {
  expect(weekdayInWords("2026-12-04")).toBe("Fri");
});
