import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cursorScope, decodeCursor, encodeCursor } from "../../src/http/cursor.ts";
import { Problem } from "../../src/http/problem.ts";
import type { TestApi } from "../support/api.ts";
import { expectProblem } from "../support/problem.ts";
import { sixtyApi, U, WITHOUT_EVENTS } from "../support/sixty.ts";

let api: TestApi;
beforeAll(async () => {
  api = await sixtyApi();
});

type PageBody = { data: { id: string; updated_at: string }[]; meta: { has_more: boolean; next_cursor: string | null } };
const page = async (path: string, key = api.key): Promise<PageBody> => {
  const response = await api.get(path, { key });
  expect(response.status).toBe(200);
  return response.json() as Promise<PageBody>;
};
const cursorOf = async (path: string) => (await page(path)).meta.next_cursor ?? "";

describe("a cursor", () => {
  test("continues where the previous page ended", async () => {
    const first = await page("/opportunities?limit=10");
    const second = await page(`/opportunities?limit=10&cursor=${first.meta.next_cursor}`);
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(new Set(ids).size).toBe(20);
    expect(ids).toEqual((await page("/opportunities?limit=20")).data.map(({ id }) => id));
  });

  test("continues with another limit, and with another key", async () => {
    const { key } = await api.newKey();
    const cursor = await cursorOf("/opportunities?limit=10");
    expect((await page(`/opportunities?limit=5&cursor=${cursor}`, key)).data).toHaveLength(5);
  });

  test.each([
    ["status=open,closed&limit=5", "status=closed&status=open,%20open"],
    ["source=sam&limit=5", "source=SAM"],
    ["updated_since=2025-12-31T00:00:00Z&limit=5", "updated_since=2025-12-30T19:00:00.000-05:00"],
    ["agency=nasa&limit=5", "agency=NaSa"],
  ])("of ?%s continues the equivalent ?%s", async (query, same) => {
    const cursor = await cursorOf(`/opportunities?${query}`);
    expect((await page(`/opportunities?${same}&cursor=${cursor}`)).data.length).toBeGreaterThan(0);
  });

  test("continues a history when a default is sent explicitly", async () => {
    const cursor = await cursorOf(`/opportunities/${U}/events?limit=2`);
    expect(
      (await page(`/opportunities/${U.toUpperCase()}/events?include_insignificant=false&cursor=${cursor}`)).data.length,
    ).toBeGreaterThan(0);
  });

  test.each([
    ["status=open&limit=5", "status=closed"],
    ["status=open&limit=5", "limit=5"],
    ["limit=5", "agency=nasa"],
    ["agency=nasa&limit=5", "agency=nas"],
    ["updated_since=2025-12-31T00:00:00Z&limit=5", "updated_since=2025-12-31T00:00:00.0001Z"],
  ])("of ?%s is refused with ?%s", async (query, other) => {
    const cursor = await cursorOf(`/opportunities?${query}`);
    await expectProblem(await api.get(`/opportunities?${other}&cursor=${cursor}`), { code: "invalid_cursor" });
  });

  test("is checked after unsupported parameters", async () => {
    const cursor = await cursorOf("/opportunities?limit=5");
    await expectProblem(await api.get(`/opportunities?x=1&cursor=${cursor}`), { code: "unsupported_parameter" });
  });

  test("belongs to one operation and one opportunity", async () => {
    const ofList = await cursorOf("/opportunities?limit=5");
    const ofEvents = await cursorOf(`/opportunities/${U}/events?limit=2`);
    await expectProblem(await api.get(`/opportunities/${U}/events?cursor=${ofList}`), { code: "invalid_cursor" });
    await expectProblem(await api.get(`/opportunities?cursor=${ofEvents}`), { code: "invalid_cursor" });
    await expectProblem(await api.get(`/opportunities/${WITHOUT_EVENTS}/events?cursor=${ofEvents}`), { code: "invalid_cursor" });
  });

  test.each([["A".repeat(55)], ["A".repeat(5000)], ["CURSOR="], ["%20CURSOR"], ["CURSOR&cursor=CURSOR"], ["%zz"]])(
    "cursor=%p is refused",
    async (text) => {
      const cursor = await cursorOf("/opportunities?limit=5");
      await expectProblem(await api.get(`/opportunities?cursor=${text.replaceAll("CURSOR", cursor)}`), { code: "invalid_cursor" });
    },
  );

  test("a walk returns each record once, by updated_at and then id, both descending", async () => {
    const seen: { id: string; updated_at: string }[] = [];
    for (let path = "/opportunities?limit=7"; ; ) {
      const { data, meta } = await page(path);
      seen.push(...data);
      expect(meta.has_more).toBe(meta.next_cursor !== null);
      if (meta.next_cursor === null) break;
      path = `/opportunities?limit=7&cursor=${meta.next_cursor}`;
    }
    const order = seen.map(({ id, updated_at }) => `${updated_at} ${id}`);
    expect(order).toHaveLength(60);
    expect(order).toEqual([...new Set(order)].sort().reverse());
  });
});

describe("encodeCursor() and decodeCursor()", () => {
  const secret = new Uint8Array(32).fill(7);
  const position = fc.record({ time: fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), id: fc.uuid() });
  const refuses = (scope: string, text: string) => {
    expect(() => decodeCursor(secret, scope, text)).toThrow(Problem);
  };

  test("round-trip every position, in at most 512 URL-safe characters", () => {
    fc.assert(
      fc.property(position, fc.string(), (original, scope) => {
        const text = encodeCursor(secret, scope, original);
        expect(text).toMatch(/^[\w-]{1,512}$/);
        expect(decodeCursor(secret, scope, text)).toEqual(original);
      }),
      { numRuns: 500 },
    );
  });

  test("any one character changed, added or removed is refused, and so is any other scope or secret", () => {
    const letter = fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .~é\n");
    fc.assert(
      fc.property(position, fc.nat(54), letter, (original, at, other) => {
        const text = encodeCursor(secret, "scope", original);
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        if (changed !== text) refuses("scope", changed);
        refuses("scope", text.slice(0, at) + other + text.slice(at));
        refuses("scope", text.slice(0, at) + text.slice(at + 1));
        refuses("other scope", text);
        expect(() => decodeCursor(new Uint8Array(32), "scope", text)).toThrow(Problem);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("cursorScope()", () => {
  test("is the same for the same filters in another order, and different for anything else", () => {
    const scope = cursorScope("/a", { status: ["open", "closed"] });
    expect(cursorScope("/a", { status: ["closed", "open"] })).toBe(scope);
    expect(cursorScope("/b", { status: ["closed", "open"] })).not.toBe(scope);
    expect(cursorScope("/a", { source: ["closed", "open"] })).not.toBe(scope);
    expect(cursorScope("/a", { status: ["closed,open"] })).not.toBe(scope);
    expect(cursorScope("/a", {})).not.toBe(scope);
  });
});
