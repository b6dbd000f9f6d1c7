/** Requests as bytes on a socket, because `fetch()` normalizes paths and headers. */
import { connect } from "node:net";
import type { App } from "../../src/http/app.ts";
import { listen } from "../../src/http/listen.ts";

export type RawServer = { port: number; stop: () => Promise<void> };

export async function rawServer(app: App): Promise<RawServer> {
  const server = await listen(app, { hostname: "127.0.0.1", port: 0 });
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}

/** Sends a request line and headers, and returns the response when the server has closed the connection; `undefined` if it sent nothing. */
export async function sendRaw(port: number, lines: readonly string[]): Promise<Response | undefined> {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")));
    socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on("close", () => resolve(Buffer.concat(chunks)));
    socket.on("error", reject);
  });
  if (bytes.length === 0) return undefined;
  const headEnd = bytes.indexOf("\r\n\r\n");
  const [statusLine = "", ...headerLines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const headers = new Headers(headerLines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  const status = Number(statusLine.split(" ")[1]);
  const sent = bytes.subarray(headEnd + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? withoutChunks(sent) : sent; // Long lists on PostgreSQL.
  return new Response(status === 204 || status === 304 ? null : body, { status, headers });
}

/** The content of chunks (RFC 9112, 7.1): each has its length in hexadecimal digits before it; the last one is empty. */
function withoutChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = bytes.indexOf("\r\n", at) + 2;
    const length = Number.parseInt(bytes.toString("latin1", at, start), 16);
    if (length === 0) break;
    chunks.push(bytes.subarray(start, start + length));
    at = start + length + 2;
  }
  return Buffer.concat(chunks);
}
