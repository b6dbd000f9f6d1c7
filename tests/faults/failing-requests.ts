/**
 * Lets every kind of failure happen to `pull` and `mirror`, with a key in the query of the one and in a header of the other. A process of
 * its own: what the runtime itself writes to a stream is caught too. Prints a line of JSON for each failure.
 */
import { mkdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Cli } from "../../src/cli/command.ts";
import { mirrorCommand } from "../../src/cli/commands/mirror.ts";
import { pullCommand } from "../../src/cli/commands/pull.ts";
import { machineOf } from "../support/command-line.ts";
import { bareCommand } from "../support/commands.ts";

const [, , directory = "", key = "", hostKey = ""] = process.argv;

/** `whole` has the stack and the causes as well; `waits` are those before another attempt. */
export type Failed = { command: string; message: string; whole: string; told: string[]; waits: number };

/** The address to ask; what it answers with may repeat what it was asked with. */
type Upstream = () => Promise<string>;

const JSON_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/** A server that does this to each connection, once it has read a request. */
const playing =
  (act: (socket: Socket, request: string) => void, scheme = "http") =>
  async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", (request) => act(socket, request.toString("latin1")));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const address = server.address();
    return `${scheme}://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}/`;
  };

const saying = (text: string) => playing((socket) => void socket.end(text));

const answering = (answer: (request: Request) => Response) => async () =>
  `http://127.0.0.1:${Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer }).port}/`;

const overTls = (name: string) => async () => {
  const file = (kind: string) => Bun.file(join(directory, `${name}.${kind}`));
  const tls = { cert: file("crt"), key: file("key") };
  return `https://127.0.0.1:${Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response() }).port}/`;
};

/** All that the request carried, as an upstream that explains itself might repeat it. */
const echo = (request: Request) => `${decodeURIComponent(request.url)} ${request.url} ${request.headers.get("authorization")}`;
const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });
const query = (request: Request) => new URL(request.url).search || `?authorization=${request.headers.get("authorization")}`;
const encoded = (coding: string) => saying(`${JSON_HEAD}Content-Encoding: ${coding}\r\nContent-Length: 5\r\n\r\nhello`);

const upstreams: Record<string, Upstream> = {
  "bad gzip": encoded("gzip"),
  "bad deflate": encoded("deflate"),
  "bad zstd": encoded("zstd"),
  "bad brotli": encoded("br"),
  "cut gzip": playing((socket) => {
    socket.write(`${JSON_HEAD}Content-Encoding: gzip\r\nConnection: close\r\n\r\n`);
    socket.end(Bun.gzipSync(Buffer.alloc(100_000, "abcdef")).subarray(0, 50));
  }),
  "invalid header": saying("HTTP/1.1 200 OK\r\nBad Header\x00: x\r\nContent-Length: 0\r\n\r\n"),
  "too many headers": saying(`${JSON_HEAD}${"X: a\r\n".repeat(10_000)}\r\n`),
  "too large headers": saying(`${JSON_HEAD}X: ${"a".repeat(2_000_000)}\r\n\r\n`),
  "invalid status": saying("HTTP/1.1 abc OK\r\n\r\n"),
  "no HTTP": saying("SSH-2.0-OpenSSH\r\n\r\n"),
  "invalid content length": saying("HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n{}"),
  "two content lengths": saying("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"),
  "invalid chunk": saying(`${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello`),
  "chunks and length": saying(`${JSON_HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello`),
  upgrade: saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  "cut body": saying(`${JSON_HEAD}Content-Length: 100\r\n\r\n{`),
  "no response": saying(""),
  reset: playing((socket) => void socket.resetAndDestroy()),
  "reset body": playing(
    (socket) => void socket.write(`${JSON_HEAD}Content-Length: 100\r\n\r\n{`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
  ),
  silence: playing(() => undefined),
  "silent body": playing((socket) => void socket.write(`${JSON_HEAD}Content-Length: 100\r\n\r\n{`)),
  "connection refused": async () => "http://127.0.0.1:1/",
  "unknown host": async () => "http://upstream.invalid/",
  "no TLS": playing((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "https"),
  "self-signed certificate": overTls("self"),
  "certificate of an unknown issuer": overTls("unknown"),
  "certificate of another name": overTls("other"),
  "expired certificate": overTls("expired"),
  "redirect to another host": answering((request) => redirect(`https://elsewhere.example/${query(request)}`)),
  "redirect to a host of that name": answering((request) => redirect(`http://${hostKey}.example/${query(request)}`)),
  "redirect to nowhere": answering((request) => redirect(`https://[${query(request)}`)),
  "redirect to another scheme": answering((request) => redirect(`data:text/plain,${echo(request)}`)),
  "redirect to itself": answering((request) => redirect(`/search${query(request)}`)),
  "400": answering((request) => Response.json({ code: echo(request), detail: echo(request) }, { status: 400 })),
  "403": answering((request) =>
    Response.json({ error: { message: echo(request) }, detail: echo(request), request_id: echo(request) }, { status: 403 }),
  ),
  "404": answering((request) => new Response(echo(request), { status: 404 })),
  "429": answering((request) => Response.json({ detail: echo(request) }, { status: 429, headers: { "retry-after": "86400" } })),
  "500": answering((request) => new Response(echo(request), { status: 500, headers: { "x-echo": encodeURIComponent(echo(request)) } })),
  "503": answering((request) => Response.json({ code: "service_unavailable", detail: echo(request) }, { status: 503 })),
  "another type": answering(() => new Response("{}", { headers: { "content-type": `text/${key}` } })),
  "no JSON": answering((request) => new Response(`{"${echo(request)}`, { headers: { "content-type": "application/json" } })),
  "JSON of another kind": answering((request) =>
    Response.json({ totalRecords: echo(request), opportunitiesData: [], data: [echo(request)] }),
  ),
  "records that cannot be taken": answering((request) => {
    const own = { noticeId: "a", title: "\u0000", solicitationNumber: echo(request), description: echo(request), id: echo(request) };
    return Response.json({ totalRecords: 1, opportunitiesData: [own], data: [own], meta: { has_more: false, next_cursor: null } });
  }),
};

function run(name: string, base: string) {
  const used = name.includes("host of that name") ? hostKey : key;
  const told: string[] = [];
  const cli: Cli = {
    machine: machineOf(
      { FUNDFEED_SAM_GOV_KEY: used, FUNDFEED_KEY: used },
      { printLine: (text) => void told.push(text), printError: (text) => void told.push(text) },
    ),
    exitCode: 0,
  };
  const place = join(directory, "files", name);
  mkdirSync(place, { recursive: true });
  let waits = 0;
  const wait = async (ms: number) => {
    if (ms !== 350) waits++; // The pace between two requests.
    if (ms > 3_600_000) throw new Error("No test waits for that long");
  };
  const limitMs = name.includes("silen") ? 500 : 60_000; // On a busy machine, a resolver takes more than half a second.
  const timeouts = { responseMs: limitMs, silenceMs: limitMs, totalMs: 60_000 };
  return {
    pull: () =>
      pullCommand(bareCommand("pull", cli), { timeouts, wait })
        .exitOverride()
        .parseAsync(["sam-gov-api", "--from", base, "--allow-http", "--data", place, "--keep", join(place, "kept")], { from: "user" }),
    mirror: () =>
      mirrorCommand(bareCommand("mirror", cli), { wait, timeoutMs: limitMs })
        .exitOverride()
        .parseAsync([`${base}v1`, "--allow-http", "--into", join(place, "copy.db")], { from: "user" }),
    outcome: (failure: unknown): Omit<Failed, "command"> => ({
      message: failure instanceof Error ? failure.message : "none",
      whole: Bun.inspect(failure, { depth: 10 }),
      told,
      waits,
    }),
  };
}

async function fail(name: string, upstream: () => Promise<string>, command: "pull" | "mirror"): Promise<void> {
  const { [command]: start, outcome } = run(`${command} ${name}`, await upstream());
  const failure = await start().then(
    () => "none",
    (error: unknown) => error,
  );
  process.stdout.write(`${JSON.stringify({ command: `${command}: ${name}`, ...outcome(failure) })}\n`);
}

const silent: Promise<void>[] = [];
for (const [name, upstream] of Object.entries(upstreams)) {
  for (const command of ["pull", "mirror"] as const) {
    const failing = fail(name, upstream, command);
    if (name.startsWith("silen"))
      silent.push(failing); // It takes seconds, and the others go on meanwhile.
    else await failing;
  }
}
await Promise.all(silent);
process.exit(0);
