import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isNotModified, parseHttpDate } from "../../src/http/etag.ts";

describe("isNotModified()", () => {
  const ifNoneMatch = (list: string) => isNotModified(new Headers({ "If-None-Match": list }), { etag: 'W/"x"' });

  test("finds a tag in any list of well-formed tags, weak or not", () => {
    const tag = fc.string({ unit: fc.constantFrom(..."abc,!#~ÿ/\\*") }).map((text) => `"${text}"`);
    const weak = fc.tuple(fc.boolean(), tag).map(([isWeak, text]) => (isWeak ? `W/${text}` : text));
    const separator = fc.constantFrom(",", ", ", " ,", ",,", ", \t,");
    fc.assert(
      fc.property(fc.array(weak), fc.array(weak), separator, fc.boolean(), (before, after, between, isWeak) => {
        const list = [...before, isWeak ? 'W/"x"' : '"x"', ...after];
        expect(ifNoneMatch(list.join(between))).toBe(true);
        expect(ifNoneMatch([...before, ...after].join(between))).toBe(false);
        expect(ifNoneMatch(`${list.join(between)}, x`)).toBe(false);
      }),
    );
  });

  test("reads a long list of commas quickly", () => {
    expect(ifNoneMatch(`${",".repeat(15_000)}x`)).toBe(false);
  });
});

describe("parseHttpDate()", () => {
  const whole = fc.integer({ min: 0, max: 253_402_300_799 });

  test("reads every IMF-fixdate", () => {
    fc.assert(fc.property(whole, (seconds) => expect(parseHttpDate(new Date(seconds * 1000).toUTCString())).toBe(seconds * 1000)));
  });

  test.each([
    ["Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777_000],
    ["Monday, 06-Nov-51 08:49:37 GMT", 2_582_873_377_000],
    ["Sunday, 06-Nov-70 08:49:37 GMT", 26_729_377_000],
    ["Sun Nov  6 08:49:37 1994", 784_111_777_000],
    ["Sun Nov 16 08:49:37 1994", 784_975_777_000],
    ["sun, 06 Nov 1994 08:49:37 GMT", undefined],
    ["Sun, 06 Nov 1994 08:49:37 UTC", undefined],
    ["Sun, 6 Nov 1994 08:49:37 GMT", undefined],
    ["Sun, 06 Nov 1994 24:00:00 GMT", undefined],
    ["Sun, 31 Nov 1994 08:49:37 GMT", undefined],
    ["Sun, 06 Nov 1994 ::::::49 GMT", undefined],
    ["1994-11-06", undefined],
    ["", undefined],
  ])("reads %j as %p", (text, expected) => {
    expect(parseHttpDate(text)).toBe(expected);
  });
});
