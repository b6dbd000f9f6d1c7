/** What `fundfeed mcp --server` asks of a server, counted at a server that is a function. */
import { beforeAll, expect, test } from "bun:test";
import type { ToolCall } from "../../src/mcp/reader.ts";
import { remoteReader } from "../../src/mcp/remote.ts";
import { serveMcp } from "../../src/mcp/server.ts";
import { publish, served } from "../mirror/mirrored.ts";
import { testApi } from "../support/api.ts";

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 22);
const UPDATED_AT = "2026-11-21T00:00:00.000Z";

let record: object;
beforeAll(async () => {
  const api = await testApi();
  await publish(api, 0, 1, "Title");
  const [document = "{}"] = Object.values((await served(api)).opportunities);
  record = { ...JSON.parse(document), updated_at: UPDATED_AT };
});

const list = (data: unknown[]) => Response.json({ data, meta: { has_more: false, next_cursor: null } });

/** A server with two sources, and a reader of it. */
function aServer() {
  const requests: string[] = [];
  const server = { requests, isFailing: false };
  const reader = remoteReader({
    baseUrl: "https://api.example.org/v1",
    key: "key",
    random: () => 0,
    sleep: async () => undefined,
    fetch: async ({ url, signal }) => {
      requests.push(url);
      await Bun.sleep(0);
      signal.throwIfAborted();
      if (server.isFailing) return Response.json({ code: "rate_limit_exceeded" }, { status: 429, headers: { "retry-after": "60" } });
      return list(url.endsWith("/sources") ? ["A", "B"].map((code) => ({ code, name: code, description: "" })) : [record]);
    },
  });
  return { server, reader };
}

const at = (now: number, signal = new AbortController().signal): ToolCall => ({ now, signal, progress: () => undefined });

test("asks how fresh the sources are once for all calls of ten minutes", async () => {
  const { server, reader } = aServer();
  const ages = await Promise.all([1, 2, 3].map(async () => (await reader.freshness(at(NOW)))?.map(({ age_seconds }) => age_seconds)));
  expect(ages).toEqual(Array(3).fill([86_400, 86_400]));
  expect((await reader.freshness(at(NOW + 9 * MINUTE)))?.[0]?.age_seconds).toBe(86_400 + 540);
  expect(server.requests).toHaveLength(3);
  await reader.freshness(at(NOW + 10 * MINUTE));
  expect(server.requests).toHaveLength(6);
});

test("does not use up a quota by asking again and again, and keeps what it knew", async () => {
  const { server, reader } = aServer();
  await reader.freshness(at(NOW));
  server.isFailing = true;
  for (const minutes of [10, 11, 19]) expect((await reader.freshness(at(NOW + minutes * MINUTE)))?.[0]?.as_of).toBe(UPDATED_AT);
  expect(server.requests).toHaveLength(4);
});

test("asks again after a call that was cancelled", async () => {
  const { server, reader } = aServer();
  const cancelled = new AbortController();
  const first = reader.freshness(at(NOW, cancelled.signal));
  cancelled.abort();
  expect(await first).toBeNull();
  expect(await reader.freshness(at(NOW))).toHaveLength(2);
  expect(server.requests).toHaveLength(4);
});

test("serveMcp() returns at once if it was stopped while the data were opened", async () => {
  const input = new ReadableStream<Uint8Array>();
  const { reader } = aServer();
  await serveMcp({ reader, now: () => NOW, log: () => undefined, stop: AbortSignal.abort(), input, write: async () => undefined });
});
