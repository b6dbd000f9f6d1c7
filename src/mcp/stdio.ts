/** MCP over standard input and output. The library's transport reads as fast as it can, this one no faster than its responses are taken. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isSpecType, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../../db/reason.ts";
import { parseJson } from "../text/json-value.ts";
import { type Line, lines } from "../text/lines.ts";
import { faultOfRequest, idOfMessage } from "./requests.ts";
import { type Serving, serverFactory } from "./server.ts";

/** The longest message that a client may send. The longest arguments of any tool have some 30 kB. */
const MESSAGE_BYTES_MAX = 1024 * 1024;

/** With more requests running and messages waiting to be written, no further message is read. */
const OPEN_MAX = 8;

type Streams = { input: AsyncIterable<Uint8Array>; write: (text: string) => Promise<void> };

type StdioServing = Streams &
  Pick<Serving, "data" | "now"> & {
    log: (message: string) => void;
    stop: AbortSignal;
  };

/** Serves one client until its input ends, its output is gone, or `stop`. Requests that have arrived get their responses first. */
export async function serveMcp({ data, now, log, stop, ...streams }: StdioServing): Promise<void> {
  if (stop.aborted) return; // While the data were opened.
  const transport = createStdioTransport(streams);
  const newServer = serverFactory({ data, now, onFailure: (_, sentence) => log(sentence), stop, run: transport.run });
  const onerror = (error: Error) => log(messageOf(error));
  serveStdio(() => Object.assign(newServer(), { onerror }), { transport, onerror });
  stop.addEventListener("abort", () => void transport.close());
  await transport.finished;
}

type StdioTransport = Transport & {
  /** Does the work of a request, and counts it as running meanwhile. */
  run: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves when all is read and written, the output is gone or it was closed; not before the requests that run have ended. */
  finished: Promise<void>;
};

function createStdioTransport({ input, write }: Streams): StdioTransport {
  const end = Promise.withResolvers<void>();
  const [running, unwritten] = [new Set<Promise<void>>(), new Set<Promise<void>>()];
  let [isClosed, written] = [false, Promise.resolve()];
  /** None of these promises rejects. */
  const keepIn = (open: Set<Promise<void>>, each: Promise<void>) => {
    open.add(each);
    void each.then(() => open.delete(each));
  };
  const open = () => [...running, ...unwritten];

  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    transport.onclose?.(); // Aborts the requests that run.
    await Promise.all(running);
    end.resolve();
  };
  const send = async (message: object) => {
    if (isClosed) return;
    const text = `${JSON.stringify(message)}\n`;
    written = written.then(() => write(text)).catch(close);
    keepIn(unwritten, written);
    await written;
  };
  const refuse: Refuse = (code, message, id) => {
    transport.onerror?.(new Error(message));
    void send({ jsonrpc: "2.0", ...(id !== undefined && { id }), error: { code, message } });
  };
  const read = async () => {
    for await (const line of lines(input, MESSAGE_BYTES_MAX)) {
      while (open().length >= OPEN_MAX) await Promise.race(open());
      if (isClosed) return;
      receive(line, transport, refuse);
      await nextTurn(); // The protocol starts its handlers after some microtasks.
    }
    while (open().length > 0) await Promise.race(open());
    await close();
  };
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    const done = work();
    keepIn(
      running,
      Promise.allSettled([done]).then(() => nextTurn()),
    ); // The response has then been handed to `send`.
    return done;
  };

  const transport: StdioTransport = { start: async () => void read().catch(close), send, close, run, finished: end.promise };
  return transport;
}

type Refuse = (code: ProtocolErrorCode, message: string, id?: string | number) => void;

function receive({ text, fault }: Line, { onmessage }: Transport, refuse: Refuse): void {
  if (fault === undefined && text.trim() === "") return;
  const value = fault === undefined ? parseJson(text) : undefined;
  const wrong = faultOfRequest(value);
  if (value === undefined) refuse(ProtocolErrorCode.ParseError, `Cannot read the message: ${fault ?? "it is not JSON"}`);
  else if (!isSpecType.JSONRPCMessage(value))
    refuse(ProtocolErrorCode.InvalidRequest, "Cannot read the message: it is not a JSON-RPC 2.0 message", idOfMessage(value));
  else if (wrong !== undefined) refuse(ProtocolErrorCode.InvalidParams, wrong, idOfMessage(value));
  else onmessage?.(value);
}
