/** What a client learns from a 429 (D-23). */
import { describe, expect, test } from "bun:test";
import { testApi } from "../support/api.ts";
import { expectProblem } from "../support/problem.ts";

/** The first response over the limits of a new key, at noon UTC. */
async function refusedWith(quota: { daily: number; per_minute: number }) {
  const api = await testApi();
  const { key } = await api.newKey(quota);
  for (let sent = 0; sent < Math.min(quota.daily, quota.per_minute); sent++) await api.get("/sources", { key });
  const response = await api.get("/sources", { key });
  const { detail } = await expectProblem(response, { code: "rate_limit_exceeded" });
  return { headers: response.headers, detail };
}

describe("a 429", () => {
  test("of the minute says how long to wait, and how much of the day is left", async () => {
    const { headers, detail } = await refusedWith({ daily: 1000, per_minute: 60 });
    expect(detail).toBe("The key has used up its requests for this minute. Wait 1 second.");
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("ratelimit-remaining")).toBe("940");
  });

  test("of a slower minute speaks of seconds", async () => {
    const { detail } = await refusedWith({ daily: 1000, per_minute: 2 });
    expect(detail).toBe("The key has used up its requests for this minute. Wait 30 seconds.");
  });

  test("of the day lasts until midnight UTC", async () => {
    const { headers, detail } = await refusedWith({ daily: 3, per_minute: 60 });
    expect(detail).toBe("The key has used up its 3 requests for today. Wait 43200 seconds.");
    expect(headers.get("ratelimit-remaining")).toBe("0");
  });
});
