/** Answers that had to wait, over a real socket: large ones take another way out, and are the same. */
import { expect, test } from "bun:test";
import { ownQuotas } from "../../src/quota/allowance.ts";
import { onPostgres } from "../support/database-locations.ts";
import { sixtyApi } from "../support/sixty.ts";

test.skipIf(onPostgres).each([
  // Which gives no answer at once.
  ["large", "/v1/opportunities?limit=100", true],
  ["small", "/v1/opportunities?limit=1", false],
])("a %s answer is the same, given at once or later", async (_, path, streamed) => {
  const api = await sixtyApi();
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: api.fetch });
  const headers = { Authorization: `Bearer ${api.key}`, "Accept-Encoding": "identity" };
  const ask = async () => {
    const answer = await fetch(new URL(path, server.url), { headers });
    const { data } = (await answer.json()) as { data: unknown };
    return { status: answer.status, data, length: answer.headers.get("content-length"), vary: answer.headers.get("vary") };
  };

  const atOnce = await ask();
  api.access.quotas = {
    take: async (key, now) => {
      await Bun.sleep(1);
      return ownQuotas.take(key, now);
    },
  };
  const later = await ask();

  expect(atOnce.length).not.toBeNull();
  expect(later).toEqual({ ...atOnce, length: streamed ? null : atOnce.length });
});
