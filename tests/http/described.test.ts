/** `expectDescribed()`, which checks every response in the tests, refuses what the description does not contain. */
import { describe, expect, test } from "bun:test";
import { expectDescribed } from "../support/described.ts";
import { sixtyApi, U } from "../support/sixty.ts";

const api = await sixtyApi();
const request = new Request(`http://localhost/v1/opportunities/${U}`);
const good = await api.get(`/opportunities/${U}`);
const body = JSON.parse(await good.text());

type Parts = { status?: number; headers?: Record<string, string | null>; body?: unknown };

function responseWith({ status = 200, headers = {}, body: other = body }: Parts): Response {
  const changed = new Headers(good.headers);
  for (const [name, value] of Object.entries(headers)) value === null ? changed.delete(name) : changed.set(name, value);
  return new Response(JSON.stringify(other), { status, headers: changed });
}

describe("expectDescribed()", () => {
  test("accepts a response of the service", async () => {
    await expectDescribed(request, responseWith({}));
  });

  test.each<[string, Parts]>([
    ["an undescribed status", { status: 202 }],
    ["a missing header", { headers: { "RateLimit-Reset": null } }],
    ["an invalid header", { headers: { "RateLimit-Remaining": "many" } }],
    ["a header of another response", { headers: { "Retry-After": "1" } }],
    ["another content type", { headers: { "Content-Type": "application/problem+json" } }],
    ["a missing field", { body: { ...body, data: { ...body.data, title: undefined } } }],
    ["an extra field", { body: { ...body, data: { ...body.data, lineage: "N0" } } }],
    [
      "a number for an amount",
      { body: { ...body, data: { ...body.data, funding: { currency: "USD", amount_min: 1, amount_max: null, display: null } } } },
    ],
    ["a date without offset", { body: { ...body, data: { ...body.data, updated_at: "2026-01-01T00:00:00" } } }],
    ["an empty body", { body: {} }],
  ])("refuses %s", async (_, wrong) => {
    await expect(expectDescribed(request, responseWith(wrong))).rejects.toThrow();
  });
});
