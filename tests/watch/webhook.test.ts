/** Webhooks as a receiver sees them, verified by the reference library of Standard Webhooks. */
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { Webhook } from "standardwebhooks";
import type { DeliveryError } from "../../src/watch/attempts.ts";
import { post } from "../../src/watch/post.ts";
import type { WebhookReceiver } from "../../src/watch/watch.ts";
import { newSigningSecret, sendWebhook } from "../../src/watch/webhook.ts";
import { selfSigned } from "../support/certificates.ts";
import { machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

let receiver: Receiver;
beforeEach(() => {
  receiver = startReceiver();
});
afterEach(() => receiver.stop());

const machine = (env: Record<string, string> = {}) => machineOf(env, { printLine: () => undefined, printError: () => undefined });
const running = new AbortController().signal;
const secrets = [newSigningSecret(machine()), newSigningSecret(machine())] as const;
const MESSAGE = { id: "msg_1", body: '{"type":"watch.changes","data":{"title":"Überraschung"}}' };

const to = (fields: Partial<WebhookReceiver> = {}): WebhookReceiver => ({
  to: "webhook",
  url: { text: receiver.url },
  secret: { variable: "SECRET" },
  allow_private: true,
  allow_http: true,
  ...fields,
});

/** The error of a delivery. */
async function failureOf(
  fields: Partial<WebhookReceiver> = {},
  env: Record<string, string> = { SECRET: secrets[0] },
): Promise<DeliveryError> {
  return (await sendWebhook(to(fields), MESSAGE, machine(env), running).catch((error: unknown) => error)) as DeliveryError;
}

describe("sendWebhook()", () => {
  test("sends the message as it is, with a signature that the reference library verifies", async () => {
    await sendWebhook(to(), MESSAGE, machine({ SECRET: secrets[0] }), running);
    const [posted] = receiver.posted;
    const headers = Object.fromEntries(posted?.headers ?? []);
    expect(new Webhook(secrets[0]).verify(posted?.body ?? "", headers)).toEqual(JSON.parse(MESSAGE.body));
    expect(posted?.body).toBe(MESSAGE.body);
    expect(headers).toMatchObject({
      "webhook-id": "msg_1",
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^fundfeed\//),
    });
    expect(() => new Webhook(secrets[1]).verify(posted?.body ?? "", headers)).toThrow();
    expect(() => new Webhook(secrets[0]).verify(`${posted?.body} `, headers)).toThrow();
  });

  test("signs with each of two secrets, so that one can replace the other", async () => {
    const file = aFile(`${secrets[0]}\n${secrets[1]}\n`);
    await sendWebhook(to({ secret: { file } }), MESSAGE, machine(), running);
    const [posted] = receiver.posted;
    for (const secret of secrets)
      expect(new Webhook(secret).verify(posted?.body ?? "", Object.fromEntries(posted?.headers ?? []))).toBeTruthy();
    expect(posted?.headers.get("webhook-signature")?.split(" ")).toHaveLength(2);
  });

  test.each([
    ["", "Cannot read SECRET: it is not set"],
    ["hunter2hunter2hunter2hunter2hunter2", "Cannot use the secret in SECRET: it must be whsec_ and the base64 of 24 to 64 bytes"],
    ["whsec_c2hvcnQ=", "Cannot use the secret in SECRET: it must be whsec_ and the base64 of 24 to 64 bytes"],
  ])("refuses the secret %j", async (secret, message) => {
    expect((await failureOf({}, { SECRET: secret })).message).toBe(message);
    expect(receiver.posted).toEqual([]);
  });

  test("names a file that is missing, and never the URL in a file", async () => {
    expect((await failureOf({ secret: { file: "/nowhere" } })).message).toBe("Cannot read /nowhere: there is no such file");
    const file = aFile("ftp://user:hunter2@hooks.example/token");
    expect((await failureOf({ url: { file } })).message).toBe(`Cannot use the URL in ${file}: it must be an https URL`);
  });
});

describe("a receiver", () => {
  test.each([
    [301, "it returned 301, a redirect, which is not followed"],
    [400, "it returned 400"],
    [500, "it returned 500"],
    [410, "it returned 410, so it wants no more messages"],
  ])("that returns %i has not accepted the message", async (status, reason) => {
    receiver.respond = () => new Response("", { status, headers: { location: receiver.url } });
    const failure = await failureOf();
    expect(failure.message).toBe(`Cannot deliver to ${new URL(receiver.url).host}: ${reason}`);
    expect(failure.isGone).toBe(status === 410);
    expect(receiver.posted).toHaveLength(1);
  });

  test.each([200, 201, 202, 204, 299])("that returns %i has", async (status) => {
    receiver.respond = () => new Response(null, { status });
    expect(await failureOf()).toBeUndefined();
  });

  test("can ask for a delay", async () => {
    receiver.respond = () => new Response("", { status: 429, headers: { "retry-after": "120" } });
    expect((await failureOf()).retryAfterMs).toBe(120_000);
  });
});

describe("post()", () => {
  const posting = (url: string, fields: object = {}) =>
    post({ url: new URL(url), headers: {}, body: "{}", allowPrivate: false, allowHttp: true, now: 0, stop: running, ...fields }).then(
      () => "accepted",
      (error: Error) => error.message,
    );

  test("refuses private addresses, however they are written, and sends nothing", async () => {
    const { port } = new URL(receiver.url);
    for (const host of ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0"])
      expect(await posting(`http://${host}:${port}/`)).toEndWith(": its address is private; --allow-private allows that");
    expect(receiver.posted).toEqual([]);
    expect(await posting(receiver.url, { allowPrivate: true })).toBe("accepted");
  });

  test("refuses a URL without TLS, unless it is allowed", async () => {
    expect(await posting("http://hooks.example.org/", { allowHttp: false })).toBe(
      "Cannot deliver to hooks.example.org: its URL is not https; --allow-http allows that",
    );
  });

  test("goes through no proxy of the environment", async () => {
    const proxied = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" };
    Object.assign(process.env, proxied);
    try {
      expect(await posting(receiver.url, { allowPrivate: true })).toBe("accepted");
    } finally {
      for (const name of Object.keys(proxied)) delete process.env[name];
    }
  });

  test("refuses a certificate that nobody trusts, and never says the path", async () => {
    const directory = aDirectory();
    selfSigned(directory, "own");
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert: Bun.file(`${directory}/own.crt`), key: Bun.file(`${directory}/own.key`) },
      fetch: () => new Response(),
    });
    const { port } = server;
    const message = await posting(`https://localhost:${port}/services/T0/hunter2?token=hunter2`, { allowPrivate: true });
    await server.stop(true);
    expect(message).toStartWith(`Cannot deliver to localhost:${port}: its certificate is not trusted`);
    expect(message).not.toContain("hunter2");
  });

  test.each([
    ["says nothing", (): string => "", "it did not respond within 0.3 s"],
    ["never ends the head of its response", () => "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n", "it did not respond within 0.3 s"],
    ["does not speak HTTP", () => "220 mail.example ESMTP\r\n", "its response is not valid HTTP"],
    ["refuses without an end", () => "HTTP/1.1 500 Oops\r\ncontent-length: 10\r\n\r\nab", "it returned 500"],
    [
      "cuts the head of its response",
      (socket: Socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n"),
      "the connection was closed",
    ],
    ["closes at once", (socket: Socket) => void socket.destroy(), "the connection was closed"],
    [
      "switches protocols",
      () => "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      "its response is not valid HTTP",
    ],
  ])("fails if the receiver %s", async (_, answer, reason) => {
    const { port, message } = await postTo(answer, { timeoutMs: reason.startsWith("it did not respond") ? 300 : 60_000 });
    expect(message).toStartWith(`Cannot deliver to 127.0.0.1:${port}: ${reason}`);
  });

  const accepting = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n";
  test.each([
    ["sends no body after the head of its response", () => accepting],
    ["never ends its response", () => `${accepting}ab`],
    ["cuts its response", (socket: Socket) => void socket.end(`${accepting}ab`)],
    ["sends more than it said", () => accepting.padEnd(1_000_000, "ab")],
  ])("is done at a status of 2xx, though the receiver %s", async (_, answer) => {
    expect((await postTo(answer)).message).toBe("accepted");
  });

  test("ends at a stop signal, though the receiver says nothing", async () => {
    const stop = new AbortController();
    const { port, message } = await postTo(() => stop.abort(), { stop: stop.signal });
    expect(message).toBe(`Cannot deliver to 127.0.0.1:${port}: it was stopped`);
  });

  /** Posts to a receiver that writes this answer. */
  async function postTo(answer: (socket: Socket) => unknown, fields: object = {}): Promise<{ port: number; message: string }> {
    const server: Server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        const text = answer(socket);
        if (typeof text === "string" && text !== "") socket.write(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const message = await posting(`http://127.0.0.1:${port}/`, { allowPrivate: true, ...fields });
    server.close();
    return { port, message };
  }
});
