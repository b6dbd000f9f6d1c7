/** Late responses over a real socket: large ones are sent as a stream, with the same content. */
import { expect, test } from "bun:test";
import { ownQuotas } from "../../src/quota/allowance.ts";
import { onPostgres } from "../support/database-locations.ts";
import { sixtyApi } from "../support/sixty.ts";

test.skipIf(onPostgres).each([
  // Skipped on PostgreSQL, where no response is immediate.
  ["large", "/v1/opportunities?limit=100", true],
  ["small", "/v1/opportunities?limit=1", false],
])("a %s response is the same, immediate or late", async (_, path, isStreamed) => {
  const api = await sixtyApi();
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: api.fetch });
  const headers = { Authorization: `Bearer ${api.key}`, "Accept-Encoding": "identity" };
  const ask = async () => {
    const response = await fetch(new URL(path, server.url), { headers });
    const { data } = (await response.json()) as { data: unknown };
    return { status: response.status, data, length: response.headers.get("content-length"), vary: response.headers.get("vary") };
  };

  const immediate = await ask();
  api.access.quotas = {
    take: async (key, now) => {
      for (let turns = 0; turns < 2; turns++) await new Promise(setImmediate); // A timer may end in the turn of the request.
      return () => ownQuotas.take(key, now);
    },
  };
  const late = await ask();

  expect(immediate.length).not.toBeNull();
  expect(late).toEqual({ ...immediate, length: isStreamed ? null : immediate.length });
});
