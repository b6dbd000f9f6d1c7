/** Clients that send what they should not, read nothing, or die: the server answers, ends in order, and changes no data. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import { lines } from "../../src/text/lines.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { connectMcp, initialize, startMcp, toolCall } from "../support/mcp.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000);

const MEGABYTE = 1024 * 1024;
/** Requests that are sent and cancelled. */
const CANCELLED = Number(process.env.FUNDFEED_MCP_CANCELLED ?? 12);
let data: string;
let before: unknown;

beforeAll(async () => {
  data = aDirectory();
  const records = Array.from({ length: RECORDS }, (_, n) => ({
    source: { code: "OWN", opportunity_id: `N-${n}` },
    title: `Solar sail ${n}`,
  }));
  await fundfeed(["import", "records", aFile(records), "--data", data]);
  before = stateOf(data);
});
afterAll(dropScratch);

/** Enough for three batches of the search index. */
const RECORDS = 1200;

/** Every file but the search index, down to the bytes. */
function stateOf(directory: string): unknown {
  return readdirSync(directory)
    .filter((name) => !name.startsWith("search.db"))
    .sort()
    .map((name) => {
      const { mode, ino, size, mtimeNs } = statSync(join(directory, name), { bigint: true });
      return [name, mode, ino, size, mtimeNs, new Bun.CryptoHasher("sha256").update(readFileSync(join(directory, name))).digest("hex")];
    });
}

type Message = {
  id?: string | number;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
  method?: string;
  params?: unknown;
};
type Session = {
  child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  send: (...messages: unknown[]) => void;
  /** The next message from standard output. Throws if it is not JSON-RPC. */
  next: () => Promise<Message>;
  /** Ends the input; returns the remaining messages and the exit code. */
  end: () => Promise<{ rest: Message[]; code: number }>;
};

/** A session with raw lines: text as it is, everything else as JSON. */
function session(args: readonly string[] = ["--data", data]): Session {
  const child = startMcp(args);
  const output = lines(child.stdout)[Symbol.asyncIterator]();
  const read = async (): Promise<Message | undefined> => {
    const { value, done } = await output.next();
    return done ? undefined : (parseJSONRPCMessage(JSON.parse(value.text)) as Message);
  };
  return {
    child,
    send: (...messages) => {
      for (const message of messages) child.stdin.write(typeof message === "string" ? message : `${JSON.stringify(message)}\n`);
      void child.stdin.flush();
    },
    next: async () => {
      const message = await read();
      if (message === undefined) throw new Error(`It ended: ${await child.stderr.text()}`);
      return message;
    },
    end: async () => {
      await child.stdin.end();
      const rest: Message[] = [];
      for (let message = await read(); message !== undefined; message = await read()) rest.push(message);
      return { rest, code: await child.exited };
    },
  };
}

const ping = (id: string | number) => ({ jsonrpc: "2.0", id, method: "ping" });

/** The most memory that a process has held, in bytes. */
function peakMemory({ pid }: { pid: number }): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

describe("a client that sends", () => {
  let shared: Session;
  beforeAll(() => {
    shared = session();
  });
  afterAll(async () => expect(await shared.end()).toEqual({ rest: [], code: 0 }));

  test.each<[string, string, number]>([
    ["text that is not JSON", "hello\n", -32700],
    ["half of a message", '{"jsonrpc":"2.0","id":1,\n', -32700],
    ["bytes that are not UTF-8", '{"jsonrpc":"2.0","id":1,"method":"\ud800"}\n', -32601],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600],
    ["a list of messages", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600],
    ["a text", '"ping"\n', -32600],
    ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"tools/write"}\n', -32601],
    ["an unknown tool", `${JSON.stringify(toolCall(1, "delete"))}\n`, -32602],
    ["arguments of another type", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":[]}}\n', -32602],
    ["deep nesting", `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}\n`, -32700],
  ])("%s gets an error, and the next request a response", async (_, message, code) => {
    const { send, next } = shared;
    send(message, ping("after"));
    expect((await next()).error?.code).toBe(code);
    expect(await next()).toEqual({ jsonrpc: "2.0", id: "after", result: {} } as Message);
  });

  test("a line of 150 megabytes gets an error; the line is not kept in memory", async () => {
    const { child, send, next, end } = session();
    send(ping("before"));
    await next();
    const idle = peakMemory(child);
    const piece = "x".repeat(MEGABYTE);
    for (let n = 0; n < 150; n++) {
      child.stdin.write(piece);
      await child.stdin.flush();
    }
    send("\n", ping("after"));
    expect((await next()).error).toEqual({ code: -32700, message: "Cannot read the message: the line has more than 1048576 bytes" });
    expect((await next()).id).toBe("after");
    expect(peakMemory(child) - idle).toBeLessThan(100 * MEGABYTE);
    expect((await end()).code).toBe(0);
  });

  test("hundreds of requests and reads nothing makes it stop reading; then each gets its response", async () => {
    const { child, send, next, end } = session();
    send(initialize);
    await next();
    const idle = peakMemory(child);
    const count = 300;
    const _meta = { padding: "x".repeat(8000) }; // So that all requests together are far more than the pipes hold.
    let isSent = false;
    const sending = (async () => {
      for (let id = 0; id < count; id++) {
        child.stdin.write(
          `${JSON.stringify(id % 20 === 0 ? toolCall(id, "find", { words: "sail", limit: 50 }) : { jsonrpc: "2.0", id, method: "tools/list", params: { _meta } })}\n`,
        );
        await child.stdin.flush();
      }
      isSent = true;
    })();
    const first = await next(); // The pipe of its output is full long before it has read everything.
    await waitFor("its output is full", () => isBlockedOnOutput(child.pid));
    expect(isSent).toBe(false);
    expect(peakMemory(child) - idle).toBeLessThan(150 * MEGABYTE);
    const ids = new Set([first.id]);
    while (ids.size < count) ids.add((await next()).id);
    await sending;
    expect(peakMemory(child) - idle).toBeLessThan(250 * MEGABYTE);
    expect(await end()).toEqual({ rest: [], code: 0 });
  });

  test("thousands of bad messages and does not read the log still gets responses", async () => {
    const { send, next, end } = session();
    for (let n = 0; n < 3000; n++) send(`bad message ${n} ${"x".repeat(100)}\n`);
    send(ping("after"));
    let last = await next();
    while (last.id === undefined) last = await next();
    expect(last.id).toBe("after");
    expect((await end()).code).toBe(0);
  });

  test("and cancels at once gets no response, or the whole one", async () => {
    const { send, next, end } = session(["--data", data, "--search-data", aDirectory()]); // So that the first call builds an index.
    send(initialize);
    await next();
    for (let id = 1; id <= CANCELLED; id++) {
      send(toolCall(id, "find", { words: "sail" }), { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    }
    send(toolCall("last", "find", { words: "sail" }));
    let message = await next();
    while (message.id !== "last") {
      expect(message.error ?? message.result?.structuredContent).toBeDefined();
      message = await next();
    }
    expect(message.result?.structuredContent).toMatchObject({ total: RECORDS });
    expect((await end()).code).toBe(0);
  });

  test("requests and ends its input gets all responses", async () => {
    const { send, end } = session();
    send(initialize, ...Array.from({ length: 10 }, (_, id) => toolCall(id, "find", { words: "sail" })));
    const { rest, code } = await end();
    expect(rest.map(({ id }) => id).sort()).toEqual(["init", ...Array.from({ length: 10 }, (_, id) => id)].sort());
    expect(code).toBe(0);
  });
});

describe("the process", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("ends with 0 at %s", async (signal) => {
    const { child, send, next } = session();
    send(initialize);
    await next();
    // At one of the signals nothing runs, at the other more than the pipe of its output can take.
    if (signal === "SIGTERM") send(...Array.from({ length: 100 }, (_, id) => toolCall(id, "find", { words: "sail" })));
    child.kill(signal);
    expect([await child.exited, await child.stderr.text()]).toEqual([0, ""]);
  });

  test("ends with 0 when its output is closed", async () => {
    const child = startMcp(["--data", data]);
    await child.stdout.cancel();
    for (let id = 0; id < 5; id++) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" })}\n`);
    await child.stdin.flush();
    expect([await child.exited, await child.stderr.text()]).toEqual([0, ""]);
  });

  test("that is killed while it builds the index leaves one that the next goes on with", async () => {
    const [index, copy] = [aDirectory(), aDirectory()]; // A killed reader leaves an empty log of SQLite next to the catalog.
    cpSync(data, copy, { recursive: true });
    for (let n = 0; n < 2; n++) {
      const { child, send } = session(["--data", copy, "--search-data", index]);
      send(initialize, toolCall(1, "find", { words: "sail" }));
      if (n > 0) await waitFor("the index is there", () => readdirSync(index).includes("search.db"));
      child.kill("SIGKILL");
      await child.exited;
    }
    const { call, close } = await connectMcp(["--data", copy, "--search-data", index]);
    expect((await call("find", { words: "sail" })).data).toMatchObject({ total: RECORDS });
    await close();
    expect(readFileSync(join(copy, "catalog.db"))).toEqual(readFileSync(join(data, "catalog.db")));
  });

  test("says at its start that there are no data, where the client's log has it", async () => {
    const child = startMcp(["--data", "/nowhere"]);
    expect(await child.exited).toBe(1);
    expect(await child.stdout.text()).toBe("");
    expect(await child.stderr.text()).toStartWith("Cannot open /nowhere/catalog.db: no fundfeed data in /nowhere;");
  });

  test("responds to other requests and reports its progress while it builds the index", async () => {
    const { send, next, end } = session(["--data", data, "--search-data", aDirectory()]);
    send(initialize);
    await next();
    const { params, ...find } = toolCall("find", "find", { words: "sail" });
    send({ ...find, params: { ...params, _meta: { progressToken: 1 } } }, ping("meanwhile"));
    const messages = [];
    do messages.push(await next());
    while (messages.at(-1)?.id !== "find");
    expect(messages.map(({ id }) => id)).toContain("meanwhile");
    const reported = messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);
    expect(reported).toEqual([RECORDS].map((progress) => ({ progressToken: 1, progress, total: RECORDS, message: "indexing" })));
    expect(await end()).toEqual({ rest: [], code: 0 });
  });

  test("ends in order at SIGTERM while it builds the index, and keeps what was indexed", async () => {
    const index = aDirectory();
    const { child, send, next } = session(["--data", data, "--search-data", index]);
    send(initialize);
    await next();
    const { params, ...find } = toolCall(1, "find", { words: "sail" });
    send({ ...find, params: { ...params, _meta: { progressToken: 1 } } });
    await next();
    child.kill("SIGTERM");
    expect([await child.exited, await child.stderr.text()]).toEqual([0, ""]);
    expect(readdirSync(index)).toEqual(["search.db"]);
  });
});

test("none of this changed the data directory", () => {
  expect(stateOf(data)).toEqual(before);
});

/** Whether the pipe of the process's output is full: a write to it waits, or is tried again and again, and nothing is read meanwhile. */
function isBlockedOnOutput(pid: number): boolean {
  const first = readCount(pid);
  Bun.sleepSync(300);
  return readCount(pid) === first;
}

/** The bytes that a process has read so far. */
function readCount(pid: number): string {
  return /^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? "";
}
