/**
 * MCP over standard input and output: one JSON-RPC message a line. The library's own transport reads as fast as it can and ends at a line
 * that is too long. This one reads no faster than its responses are taken, so its memory is bounded whatever the client sends.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isSpecType, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";
import { parseJson } from "../text/json-value.ts";
import { type Line, lines } from "../text/lines.ts";
import { faultOfRequest, idOfMessage } from "./requests.ts";

/** The longest message that a client may send. The longest arguments of any tool have some 30 kB. */
const MESSAGE_BYTES_MAX = 1024 * 1024;

/** With more requests running, or more characters waiting to be written, no further message is read. */
const [RUNNING_MAX, UNWRITTEN_MAX] = [8, 1024 * 1024];

/** Standard input and output. `write` rejects when the reader has gone. */
export type Streams = { input: AsyncIterable<Uint8Array>; write: (text: string) => Promise<void> };

type StdioTransport = Transport & {
  /** Does the work of a request, and counts it as running meanwhile. */
  run: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Resolves when the input has ended and every response is written, when the output is gone, or when the transport was closed; in each case
   * not before the requests that run have ended.
   */
  finished: Promise<void>;
};

/** A transport that is not started yet. */
export function createStdioTransport({ input, write }: Streams): StdioTransport {
  const end = Promise.withResolvers<void>();
  const { notify, until } = createChanges();
  let [running, isClosed] = [0, false];

  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    notify();
    transport.onclose?.(); // Aborts the requests that run.
    await until(() => running === 0);
    end.resolve();
  };
  const output = createOutput(write, notify, close);
  const send = async (message: object) => (isClosed ? undefined : output.send(message));
  const refuse: Refuse = (code, message, id) => {
    transport.onerror?.(new Error(message));
    void send({ jsonrpc: "2.0", ...(id !== undefined && { id }), error: { code, message } });
  };
  const read = async () => {
    for await (const line of lines(input, MESSAGE_BYTES_MAX)) {
      await until(() => isClosed || (running < RUNNING_MAX && output.unwritten() < UNWRITTEN_MAX));
      if (isClosed) return;
      receive(line, transport, refuse);
      await nextTurn(); // The protocol starts its handlers after some microtasks.
    }
    await until(() => isClosed || running === 0);
    await nextTurn();
    await until(() => isClosed || output.unwritten() === 0);
    await close();
  };
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    running++;
    try {
      return await work();
    } finally {
      setImmediate(() => {
        running--; // Not before the response has been handed to `send`.
        notify();
      });
    }
  };

  const transport: StdioTransport = { start: async () => void read().catch(close), send, close, run, finished: end.promise };
  return transport;
}

type Changes = {
  notify: () => void;
  /** Waits until a condition holds, which is checked at each change. */
  until: (holds: () => boolean) => Promise<void>;
};

function createChanges(): Changes {
  let changed = Promise.withResolvers<void>();
  return {
    notify: () => {
      changed.resolve();
      changed = Promise.withResolvers();
    },
    until: async (holds) => {
      while (!holds()) await changed.promise;
    },
  };
}

/** Writes messages in order, and counts the characters that wait. `onGone` is called when the reader has gone. */
function createOutput(write: Streams["write"], notify: () => void, onGone: () => Promise<void>) {
  let unwritten = 0;
  let [written, isGone] = [Promise.resolve(), false];
  return {
    unwritten: () => unwritten,
    send: async (message: object) => {
      const text = `${JSON.stringify(message)}\n`;
      unwritten += text.length;
      written = written
        .then(() => (isGone ? undefined : write(text)))
        .catch(() => {
          isGone = true;
          void onGone();
        });
      await written;
      unwritten -= text.length;
      notify();
    },
  };
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
