/** The check that every test's answers pass through does refuse what the description does not know. */
import { describe, expect, test } from "bun:test";
import { expectDescribed } from "../support/described.ts";
import { sixtyApi, U } from "../support/sixty.ts";

const api = await sixtyApi();
const request = new Request(`http://localhost/v1/opportunities/${U}`);
const good = await api.get(`/opportunities/${U}`);
const body = JSON.parse(await good.text());

type Answer = { status?: number; headers?: Record<string, string | null>; body?: unknown };

function answer({ status = 200, headers = {}, body: other = body }: Answer): Response {
  const changed = new Headers(good.headers);
  for (const [name, value] of Object.entries(headers)) value === null ? changed.delete(name) : changed.set(name, value);
  return new Response(JSON.stringify(other), { status, headers: changed });
}

describe("expectDescribed()", () => {
  test("lets an answer of the service pass", async () => {
    await expectDescribed(request, answer({}));
  });

  test.each<[string, Answer]>([
    ["a status that is not described", { status: 202 }],
    ["a header that is missing", { headers: { "RateLimit-Reset": null } }],
    ["a header that is not valid", { headers: { "RateLimit-Remaining": "many" } }],
    ["a header of another answer", { headers: { "Retry-After": "1" } }],
    ["another content type", { headers: { "Content-Type": "application/problem+json" } }],
    ["a field that is missing", { body: { ...body, data: { ...body.data, title: undefined } } }],
    ["a field too many", { body: { ...body, data: { ...body.data, lineage: "N0" } } }],
    [
      "a number for an amount",
      { body: { ...body, data: { ...body.data, funding: { currency: "USD", amount_min: 1, amount_max: null, display: null } } } },
    ],
    ["a date without offset", { body: { ...body, data: { ...body.data, updated_at: "2026-01-01T00:00:00" } } }],
    ["an empty body", { body: {} }],
  ])("refuses %s", async (_, wrong) => {
    await expect(expectDescribed(request, answer(wrong))).rejects.toThrow();
  });
});
