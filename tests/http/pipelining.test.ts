/** Several requests on one connection before the first response (RFC 9112 §9.3.2). Numbers in names are rows of requests.tsv. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { ownQuotas } from "../../src/quota/allowance.ts";
import { onPostgres } from "../support/database-locations.ts";
import { type RawServer, rawServer } from "../support/raw.ts";
import { sixtyApi } from "../support/sixty.ts";

let api: Awaited<ReturnType<typeof sixtyApi>>;
let server: RawServer;
beforeAll(async () => {
  api = await sixtyApi();
  server = await rawServer({ fetch: api.fetch });
});
afterAll(() => server.stop());

/** From here on, each response of the API is made in a later turn than its request, as with Redis. */
function answerLate(): Disposable {
  api.access.quotas = {
    take: async (key, now) => {
      for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
      return () => ownQuotas.take(key, now);
    },
  };
  return {
    [Symbol.dispose]: () => {
      api.access.quotas = ownQuotas;
    },
  };
}

const request = (path: string, key: string, ...headers: string[]) =>
  `${[`GET /v1${path} HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${key}`, ...headers].join("\r\n")}\r\n\r\n`;
const closing = "Connection: close";

/** Sends all at once, and returns the status lines of what came until the server closed the connection. */
async function statusesOf(text: string): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
  socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
  socket.on("error", () => undefined); // Closed by the server: "close" follows.
  socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  return ((await promise).match(/HTTP\/1\.1 \d+/g) ?? []).map((line) => line.slice(-3));
}

/** The requests counted for a key until now, before and after they are stored. */
async function usedBy(id: string): Promise<number[]> {
  const inMemory = () => api.access.keysById.get(id)?.use.window.used ?? 0;
  const before = inMemory();
  await api.saveUse();
  return [before, inMemory()];
}

test.skipIf(onPostgres)("319: pipelined requests that need no wait are answered in order", async () => {
  // Skipped on PostgreSQL, where every response has to wait.
  const { id, key } = await api.newKey();
  const statuses = await statusesOf(request("/sources", key) + request("/nothing", key) + request("/sources", key, closing));
  expect([statuses, await usedBy(id)]).toEqual([
    ["200", "404", "200"],
    [2, 2],
  ]);
});

test.each([
  [320, "a pipelined request", (key: string) => request("/sources", key), []],
  [321, "a stray line end", () => "\r\n", ["400"]],
])(
  "%i: %s closes a connection whose response has to wait, and the request without response is not counted",
  async (_, _what, more, expected) => {
    using _late = answerLate();
    const { id, key } = await api.newKey();
    expect(await statusesOf(request("/sources", key, closing))).toEqual(["200"]);
    expect(await usedBy(id)).toEqual([1, 1]);

    const { length } = api.entries;
    expect(await statusesOf(request("/sources", key) + more(key))).toEqual(expected);
    while (api.entries.length === length) await new Promise(setImmediate); // The request goes on without its connection.
    expect(await usedBy(id)).toEqual([1, 1]);
    expect(await statusesOf(request("/sources", key, closing))).toEqual(["200"]);
    expect(await usedBy(id)).toEqual([2, 2]);
  },
);
