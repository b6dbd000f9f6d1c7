/** Numbers in names are rows of requests.tsv. */
import { beforeAll, describe, expect, test } from "bun:test";
import { createAccount, setAccount } from "../../src/accounts/account.ts";
import { createKey, newKey, revokeKey } from "../../src/accounts/key.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { expectProblem } from "../support/problem.ts";
import { sixtyApi, U } from "../support/sixty.ts";

const L = "/v1/opportunities";
let api: TestApi;
let inactive: string;

beforeAll(async () => {
  api = await sixtyApi();
  await createAccount(api.state, { name: "Lapsed" }, api.clock.now);
  await setAccount(api.state, "Lapsed", { subscription: "inactive" });
  inactive = (await createKey(api.state, { account: "Lapsed" }, api.randomBytes, api.clock.now)).key;
});

describe("a request without a valid key", () => {
  test.each([
    [22, L],
    [23, "/v1/sources"],
    [24, `${L}/${U}`],
    [25, `${L}/${U}/events`],
    [43, `${L}?access_token=KEY`],
    [44, `${L}?api_key=KEY`],
    [48, `${L}?limit=0`],
    [49, `${L}/not-a-uuid`],
  ])("%i: GET %s without a key is 401, before anything else is checked", async (_, path) => {
    const response = await api.send(path.replace("KEY", api.key), { key: null });
    const body = await expectProblem(response, { code: "authentication_required" });
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="fundfeed"');
    expect(JSON.stringify(body)).not.toContain(api.key);
    expect(response.headers.get("ratelimit-limit")).toBeNull();
  });

  test.each([
    [26, "Bearer wrong", true],
    [27, "Bearer", false],
    [28, "Bearer ", false],
    [29, "Basic Zm86YmFy", false],
    [30, "KEY", false],
    [31, "BearerKEY", true],
    [32, "Bearer KEY x", true],
    [33, "Bearer KEY,x", true],
    [34, 'Bearer "KEY"', true],
    [36, "Bearer KEY\xe9", true],
    [37, "Bearer\tKEY", true],
    [38, "Bearer LONG", true],
    [42, "Bearer KEY, Bearer KEY", true],
  ])("%i: Authorization: %s is 401", async (_, authorization, wasSent) => {
    const response = await api.send(L, {
      key: null,
      headers: { Authorization: authorization.replaceAll("KEY", api.key).replace("LONG", "x".repeat(4000)) },
    });
    await expectProblem(response, { code: "authentication_required" });
    expect(response.headers.get("www-authenticate")).toBe(`Bearer realm="fundfeed"${wasSent ? ', error="invalid_token"' : ""}`);
  });

  test("35: keys are case-sensitive", async () => {
    await expectProblem(await api.send(L, { key: api.key.toUpperCase() }), { code: "authentication_required" });
  });

  test.each([
    [45, { "X-API-Key": "KEY" }],
    [46, { Cookie: "access_token=KEY" }],
  ])("%i: the header in %p is not read", async (_, headers) => {
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace("KEY", api.key)]));
    await expectProblem(await api.send(L, { key: null, headers: named }), { code: "authentication_required" });
  });

  test("a key is 401 from its expiry on", async () => {
    const { now } = api.clock;
    const { key } = await createKey(api.state, { account: "Brief", expires_at: now + 1000 }, api.randomBytes, now);
    expect((await api.send(L, { key })).status).toBe(200);
    api.clock.now += 1000;
    const { detail } = await expectProblem(await api.send(L, { key }), { code: "authentication_required" });
    expect(detail).toBe("The key expired on 2026-03-01.");
  });

  test("a refused key learns why, and the log names it", async () => {
    const { now } = api.clock;
    const revoked = await createKey(api.state, { account: "Former", expires_at: now + 1000 }, api.randomBytes, now);
    const expired = await createKey(api.state, { account: "Former", expires_at: now + 1000 }, api.randomBytes, now);
    await revokeKey(api.state, revoked.id, now);
    api.clock.now += 1000;
    const refused = async (key: string) => {
      const response = await api.send(L, { key });
      const { detail } = await expectProblem(response, { code: "authentication_required" });
      const { account, key_id } = api.entries.at(-1) ?? {};
      return [detail, response.headers.get("www-authenticate"), response.headers.get("ratelimit-limit"), account, key_id];
    };
    const challenge = 'Bearer realm="fundfeed", error="invalid_token"';
    expect(await refused(revoked.key)).toEqual(["The key was revoked on 2026-03-01.", challenge, null, "Former", revoked.id]);
    expect(await refused(expired.key)).toEqual(["The key expired on 2026-03-01.", challenge, null, "Former", expired.id]);
    expect(await refused(newKey(api.randomBytes))).toEqual(["The key is not valid.", challenge, null, null, null]);
  });
});

describe("a request with a valid key", () => {
  test.each([
    [39, "bearer KEY"],
    [40, "BEARER KEY"],
    [41, "Bearer   KEY"],
  ])("%i: Authorization: %s is 200", async (_, authorization) => {
    const response = await api.send(L, { key: null, headers: { Authorization: authorization.replace("KEY", api.key) } });
    expect(response.status).toBe(200);
  });

  test.each([
    [47, L],
    [50, `${L}?limit=0`],
  ])("%i: GET %s without an active subscription is 403", async (_, path) => {
    const response = await api.send(path, { key: inactive });
    await expectProblem(response, { code: "insufficient_entitlement" });
    expect(response.headers.get("ratelimit-limit")).toBeNull();
  });
});

describe("a public path", () => {
  test.each([
    [51, "/v1/meta", "application/json"],
    [52, "/v1/openapi.json", "application/json"],
    [53, "/v1/docs", "text/html; charset=utf-8"],
  ])("%i: GET %s ignores a bad key", async (_, path, type) => {
    const response = await api.send(path, { key: "wrong" });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
    expect(response.headers.get("ratelimit-limit")).toBeNull();
  });
});

/** The first response over the limits of a new key, at noon UTC. */
async function refusedBy(quota: { daily: number; per_minute: number }) {
  const api = await testApi();
  const { key } = await api.newKey(quota);
  for (let sent = 0; sent < Math.min(quota.daily, quota.per_minute); sent++) await api.get("/sources", { key });
  const response = await api.get("/sources", { key });
  const { detail } = await expectProblem(response, { code: "rate_limit_exceeded" });
  return { headers: response.headers, detail };
}

describe("a request over the limits of its key (D-23)", () => {
  test("is 429 with the seconds to wait, and with what is left of the day", async () => {
    const { headers, detail } = await refusedBy({ daily: 1000, per_minute: 60 });
    expect(detail).toBe("The key has used up its requests for this minute. Wait 1 second.");
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("ratelimit-remaining")).toBe("940");
  });

  test("waits for as long as one token takes", async () => {
    const { detail } = await refusedBy({ daily: 1000, per_minute: 2 });
    expect(detail).toBe("The key has used up its requests for this minute. Wait 30 seconds.");
  });

  test("waits until midnight UTC if the day is used up", async () => {
    const { headers, detail } = await refusedBy({ daily: 3, per_minute: 60 });
    expect(detail).toBe("The key has used up its 3 requests for today. Wait 43200 seconds.");
    expect(headers.get("ratelimit-remaining")).toBe("0");
  });
});
