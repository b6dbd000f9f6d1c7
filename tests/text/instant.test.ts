import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compareInstants, formatInstant, parseInstant, parseInstantMs } from "../../src/text/instant.ts";

describe("parseInstant()", () => {
  test.each<[string, string, string]>([
    ["2026-01-31T17:00:00-05:00", "2026-01-31T22:00:00.000Z", ""],
    ["2026-01-31T17:00:00Z", "2026-01-31T17:00:00.000Z", ""],
    ["2026-01-31t17:00:00z", "2026-01-31T17:00:00.000Z", ""],
    ["2026-01-31T17:00:00.5Z", "2026-01-31T17:00:00.500Z", ""],
    ["2026-01-31T17:00:00.123456789Z", "2026-01-31T17:00:00.123Z", "456789"],
    ["2026-01-31T17:00:00.1230000Z", "2026-01-31T17:00:00.123Z", ""],
    ["2026-01-31T17:00:00.12300010Z", "2026-01-31T17:00:00.123Z", "0001"],
    ["2026-01-31T17:00:00.0000001Z", "2026-01-31T17:00:00.000Z", "0001"],
    ["2026-01-31T00:30:00+14:00", "2026-01-30T10:30:00.000Z", ""],
    ["2026-01-31T17:00:00-00:00", "2026-01-31T17:00:00.000Z", ""],
    ["2026-01-31T17:00:00+23:59", "2026-01-30T17:01:00.000Z", ""],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z", ""],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z", ""],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z", ""],
    ["0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000Z", ""],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", ""],
    ["1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.250Z", ""],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z", ""],
    ["2016-12-31T23:59:60.9Z", "2017-01-01T00:00:00.000Z", ""],
    ["2016-12-31T18:59:60-05:00", "2017-01-01T00:00:00.000Z", ""],
    ["2017-01-01T13:59:60+14:00", "2017-01-01T00:00:00.000Z", ""],
  ])("reads %s", (text, utc, beyond) => {
    expect(parseInstant(text)).toEqual({ ms: Date.parse(utc), beyond });
    expect(parseInstantMs(text)).toBe(Date.parse(utc));
  });

  test.each([
    "",
    "2026-01-31",
    "2026-01-31T17:00:00",
    "2026-01-31 17:00:00Z",
    "2026-01-31T17:00Z",
    "2026-01-31T17:00:00+0500",
    "2026-01-31T17:00:00+05",
    "2026-01-31T17:00:00.Z",
    "2026-01-31T17:00:00,5Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-13-10T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T17:60:00Z",
    "2026-01-31T17:00:61Z",
    "2026-01-31T17:00:60Z",
    "2016-12-31T23:59:60-05:00",
    "2026-01-31T17:00:00+24:00",
    "2026-01-31T17:00:00+05:60",
    "26-01-31T17:00:00Z",
    "+2026-01-31T17:00:00Z",
    "2026-01-31T17:00:00Z ",
    " 2026-01-31T17:00:00Z",
    "2026-01-31T17:00:00Z\n",
    "２０２６-01-31T17:00:00Z",
  ])("refuses %p", (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test("reads what formatInstant() writes, and what Date writes with any offset", () => {
    const ms = fc.integer({ min: Date.UTC(1, 0, 2), max: Date.UTC(9999, 11, 30) });
    fc.assert(
      fc.property(ms, fc.integer({ min: -1439, max: 1439 }), (instant, offset) => {
        expect(parseInstantMs(formatInstant(instant))).toBe(instant);
        const [sign, minutes] = [offset < 0 ? "-" : "+", Math.abs(offset)];
        const [hh, mm] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
        expect(parseInstantMs(formatInstant(instant + offset * 60_000).replace("Z", `${sign}${hh}:${mm}`))).toBe(instant);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe("compareInstants()", () => {
  test("is exact to any number of digits", () => {
    const ascending = ["0Z", "0.0000001Z", "0.00000010001Z", "0.0000002Z", "0.001Z", "0.0010001Z", "0.01Z", "1Z"].map(
      (seconds) => parseInstant(`2026-01-31T17:00:0${seconds}`) ?? { ms: 0, beyond: "" },
    );
    for (const [left, earlier] of ascending.entries())
      for (const [right, later] of ascending.entries()) expect(Math.sign(compareInstants(earlier, later))).toBe(Math.sign(left - right));
  });
});
