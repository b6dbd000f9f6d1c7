/** What a message passes before it reaches the MCP server, over real sockets. A function stands in for the reader. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Access } from "../../src/accounts/access.ts";
import { createAccount, setAccount } from "../../src/accounts/account.ts";
import { createKey, revokeKey } from "../../src/accounts/key.ts";
import { type Listener, listen } from "../../src/http/listen.ts";
import { type AdmissionLimits, createAdmission } from "../../src/team/admission.ts";
import { createFront } from "../../src/team/front.ts";
import { createMcpGate } from "../../src/team/mcp-gate.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { waitFor } from "../support/wait-for.ts";

type Forwarded = Parameters<Parameters<typeof createMcpGate>[0]["forward"]>[0];

let api: TestApi;
let listener: Listener;
let url: string;
let forwarded: Forwarded[];
/** How the reader responds. */
let respond: (request: Forwarded) => Promise<Response>;
const failures: unknown[] = [];
/** Of the responses so far; 499 if the client has left. */
let statuses: number[];

async function start(limits: AdmissionLimits = {}, access: Access = api.access): Promise<void> {
  const hosts = ["127.0.0.1", "team.example.org"];
  const onFailure = (error: unknown) => failures.push(error);
  const forward = (request: Forwarded) => {
    forwarded.push(request);
    return respond(request);
  };
  const now = () => api.clock.now;
  const admit = createAdmission({ access, now, settled: async () => undefined, limits });
  const mcp = createMcpGate({ hosts, access, now, admit, forward, onFailure });
  const log = {
    request: ({ status }: { status: number }) => void statuses.push(status),
    failure: (_: number, error: unknown) => onFailure(error),
  };
  const nothing = async () => new Response("other");
  listener = await listen(
    { fetch: createFront({ api: nothing, mcp, status: nothing, pages: undefined, hosts, now, randomBytes: api.randomBytes, log }) },
    { hostname: "127.0.0.1", port: 0 },
  );
  url = `http://127.0.0.1:${listener.port}/mcp`;
}

beforeEach(async () => {
  api = await testApi();
  forwarded = [];
  statuses = [];
  respond = async ({ body }) => new Response(body, { headers: { "content-type": "application/json" } });
  await start();
});
afterEach(async () => {
  await listener.stop(true);
  await api.state.close();
  expect(failures.splice(0)).toEqual([]);
});

const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const post = (init: RequestInit & { key?: string } = {}) =>
  fetch(url, {
    method: "POST",
    body: message,
    ...init,
    headers: { Authorization: `Bearer ${init.key ?? api.key}`, "Content-Type": "application/json", ...init.headers },
  });

/** Expects an error that clients show, of which the reader got nothing. */
async function expectRefusal(response: Response, status: number, text: string): Promise<void> {
  expect([response.status, await response.json()]).toEqual([
    status,
    { jsonrpc: "2.0", id: null, error: { code: -32_000, message: expect.stringContaining(text) } },
  ]);
  expect(response.headers.get("cache-control")).toBe("no-store");
}

describe("what is accepted", () => {
  test("reaches the reader with the headers of the protocol, without key and cookie", async () => {
    const response = await post({ headers: { Cookie: "a=b", "MCP-Protocol-Version": "2025-11-25", Accept: "application/json" } });
    expect([response.status, await response.text()]).toEqual([200, message]);
    expect(forwarded.map(({ method, headers, body }) => ({ method, headers, body }))).toEqual([
      {
        method: "POST",
        headers: [
          ["accept", "application/json"],
          ["content-type", "application/json"],
          ["mcp-protocol-version", "2025-11-25"],
        ],
        body: message,
      },
    ]);
  });

  test.each(["http://localhost:3000", "https://team.example.org", undefined])("may come from the origin %s", async (origin) => {
    expect((await post({ headers: origin === undefined ? {} : { Origin: origin } })).status).toBe(200);
  });

  test("counts for the quota of its key, each message of a batch as one", async () => {
    const { key, id } = await api.newKey({ daily: 4, per_minute: 100 });
    expect((await post({ key })).status).toBe(200);
    expect((await post({ key, body: `[${[message, message, message].join()}]` })).status).toBe(200);
    const refused = await post({ key });
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await expectRefusal(refused, 429, "The key has used up its 4 requests for today.");
    expect(forwarded).toHaveLength(2);
    expect([...api.access.keys.values()].find((each) => each.id === id)?.unsaved).toBe(4);
  });
});

describe("what is refused", () => {
  test("another host with 421", async () => {
    expect((await post({ headers: { Host: "evil.example" } })).status).toBe(421);
  });

  test.each(["https://evil.example", "null", "https://team.example.org.evil.example"])("the origin %s with 403", async (origin) => {
    await expectRefusal(await post({ headers: { Origin: origin } }), 403, "Pages of other sites");
  });

  test.each(["GET", "DELETE", "PUT", "OPTIONS"])("%s with 405", async (method) => {
    const response = await post({ method, body: undefined });
    expect(response.headers.get("allow")).toBe("POST");
    await expectRefusal(response, 405, "Send POST.");
  });

  test("a missing, unknown and revoked key with 401, and an account without subscription with 403", async () => {
    const none = await fetch(url, { method: "POST", body: message });
    expect(none.headers.get("www-authenticate")).toBe('Bearer realm="fundfeed"');
    await expectRefusal(none, 401, "Send a key as Authorization: Bearer <API_KEY>.");
    await expectRefusal(await post({ key: `${api.key}x` }), 401, "The key is not valid.");
    const { id, key } = await api.newKey();
    await revokeKey(api.state, id, api.clock.now);
    const revoked = await post({ key });
    expect(revoked.headers.get("www-authenticate")).toBe('Bearer realm="fundfeed", error="invalid_token"');
    await expectRefusal(revoked, 401, "The key was revoked on ");
    await createAccount(api.state, { name: "Lapsed" }, api.clock.now);
    await setAccount(api.state, "Lapsed", { subscription: "inactive" });
    const lapsed = await createKey(api.state, { account: "Lapsed" }, api.randomBytes, api.clock.now);
    await expectRefusal(await post({ key: lapsed.key }), 403, "no active subscription");
  });

  test("a batch of more than 20 with 413, which costs nothing", async () => {
    const { key } = await api.newKey({ daily: 1, per_minute: 100 });
    await expectRefusal(await post({ key, body: `[${Array(21).fill(message).join()}]` }), 413, "A batch may have 20 messages.");
    expect((await post({ key })).status).toBe(200);
  });

  test("a body over 128 KiB with 413, whether or not its head says so", async () => {
    const body = "x".repeat(128 * 1024 + 1);
    await expectRefusal(await post({ body }), 413, "131072 bytes");
    const chunked = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(body));
        controller.close();
      },
    });
    await expectRefusal(await post({ body: chunked }), 413, "131072 bytes");
    expect((await post({ body: " ".repeat(128 * 1024 - message.length) + message })).status).toBe(200);
    expect(forwarded).toHaveLength(1);
  });

  test("a body that does not end in time with 408", async () => {
    await listener.stop(true);
    await start({ bodyMs: 50 });
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${api.key}\r\nContent-Length: 9\r\n\r\n{`;
    const text = await new Promise<string>((resolve) => {
      const socket = connect(listener.port, "127.0.0.1", () => socket.write(head));
      socket.on("data", (data) => {
        resolve(data.toString());
        socket.destroy();
      });
    });
    expect(text).toStartWith("HTTP/1.1 408");
  });

  test("a response that does not come in time with 503, and its work is cut off", async () => {
    await listener.stop(true);
    await start({ responseMs: 50 });
    respond = ({ signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response(null, { status: 503 }))));
    await expectRefusal(await post(), 503, "The response took too long.");
  });

  test("a reader that is starting with 503", async () => {
    respond = async () => new Response("The pages are starting again.\n", { status: 503, headers: { "Retry-After": "7" } });
    const response = await post();
    expect(response.headers.get("retry-after")).toBe("7");
    await expectRefusal(response, 503, "The server is starting.");
  });

  test("more than as many at a time as are allowed with 503, until one has ended, was given up or failed", async () => {
    await listener.stop(true);
    await start({ each: 1 });
    let sent: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            sent = controller;
            controller.enqueue(new Uint8Array([46]));
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    const isFree = () => waitFor("the place is free", async () => (await post()).status === 200);
    const ends: ((response: Response, giveUp: () => void) => unknown)[] = [
      () => sent?.close(),
      () => sent?.error(new Error("broken")),
      (_, giveUp) => giveUp(),
    ];
    for (const end of ends) {
      respond = async () => stream();
      const client = new AbortController();
      const first = await post({ signal: client.signal });
      await expectRefusal(await post(), 503, "The server is busy.");
      respond = async () => new Response("{}");
      end(first, () => client.abort());
      await isFree();
      await first.text().catch(() => undefined);
    }
    const { key } = await api.newKey({ daily: 1, per_minute: 1 });
    for (let n = 0; n < 3; n++) await post({ key });
    await isFree();
  });

  test("what fails with 500, and it is logged", async () => {
    respond = () => Promise.reject(new Error("secret"));
    await expectRefusal(await post(), 500, "The server failed to process the request.");
    expect(failures.splice(0)).toEqual([new Error("secret")]);
  });

  test.each(["[", '{"a":'])("a message of many %s with 413, of which no parser sees anything, and which costs nothing", async (bracket) => {
    const { key } = await api.newKey({ daily: 1, per_minute: 100 });
    await expectRefusal(await post({ key, body: bracket.repeat(20_000) }), 413, "nest so deeply");
    await expectRefusal(await post({ key, body: `[${bracket.repeat(121)}` }), 413, "nest so deeply");
    expect((await post({ key, body: `"${"[".repeat(1000)}"` })).status).toBe(200); // Brackets in a text nest nothing.
  });

  test("unfinished bodies of one key take places of its own, and none of another key", async () => {
    await listener.stop(true);
    await start({ each: 2 });
    const { key } = await api.newKey();
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Length: 9\r\n\r\n{`;
    const sockets = new Set<import("node:net").Socket>();
    const open = () => {
      const socket = connect(listener.port, "127.0.0.1", () => socket.write(head)).on("error", () => undefined);
      sockets.add(socket);
      // A request that looks for them may have had the last place: then this one is refused.
      socket.once("data", () => {
        sockets.delete(socket);
        socket.destroy();
        open();
      });
    };
    for (let n = 0; n < 2; n++) open();
    await waitFor("both have a place", async () => (await post({ key })).status === 503);
    expect((await post()).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await waitFor("the places are free again", async () => (await post({ key })).status === 200);
  });

  test("nothing is logged as a failure if the client leaves in the middle of its message", async () => {
    const { key } = await api.newKey();
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Length: 9\r\n\r\n{`;
    const socket = connect(listener.port, "127.0.0.1", () => socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 20)));
    await waitFor("it has left", async () => socket.destroyed);
    expect((await post({ key })).status).toBe(200); // What failed is looked at after each test.
  });

  test("a message whose client left while it waited is not begun, and the next one is", async () => {
    const first = Promise.withResolvers<Response>();
    respond = () => first.promise;
    const running = post();
    await waitFor("the first is at the reader", async () => forwarded.length === 1);
    const client = new AbortController();
    const left = post({ signal: client.signal, body: JSON.stringify({ left: true }) }).catch(() => "left");
    await waitFor("the second waits", async () => [...api.access.keys.values()].some(({ unsaved }) => unsaved === 2));
    client.abort();
    expect(await left).toBe("left");
    await waitFor("the server has noticed", async () => statuses.includes(499));
    const next = post({ body: "waits" });
    respond = async ({ body }) => new Response(body);
    first.resolve(new Response("first"));
    expect([await (await running).text(), await (await next).text()]).toEqual(["first", "waits"]);
    expect(forwarded.map(({ body }) => body)).toEqual([message, "waits"]);
  });

  test("a refusal comes after a while, so that who asks again at once keeps nobody else waiting", async () => {
    await listener.stop(true);
    await start({ refusalMs: 3_600_000 });
    const client = new AbortController();
    const long = post({ body: "x".repeat(1024 * 1024), signal: client.signal }).catch(() => undefined);
    const { key } = await api.newKey();
    for (let n = 0; n < 20; n++) expect((await post({ key })).status).toBe(200);
    expect(await Promise.race([long, Promise.resolve("waits")])).toBe("waits");
    client.abort();
    await long;
    expect((await post()).status).toBe(200);
  });
});
