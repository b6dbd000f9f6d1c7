/** Standard output whose reader has gone, or that was closed before the program started. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../db/reason.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { OUTPUT_CLOSED, OutputClosed } from "../../src/runtime/machine.ts";
import { publish } from "../mirror/mirrored.ts";
import { testApi } from "../support/api.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, inScratch } from "../support/imports.ts";
import { realJson } from "../support/real-data.ts";
import { startReceiver } from "../watch/receiver.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const record = { source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing", status: "open" };
let data: string;
beforeAll(async () => {
  data = aDirectory();
  await fundfeed(["import", "records", aFile([record]), "--data", data]);
});

/** Runs a command whose reader has gone. A lasting one that only reports it, and would go on, is stopped. */
async function unread(args: readonly string[], env: Record<string, string> = {}): Promise<{ code: number; err: string[] }> {
  const err: string[] = [];
  const stops: (() => void)[] = [];
  const gone = () => {
    throw new OutputClosed();
  };
  const printError = (text: string) => {
    err.push(text);
    for (const stop of stops.splice(0)) stop();
  };
  const onStopSignal = (stop: () => void) => void stops.push(stop);
  const machine = { ...machineOf(env, { printLine: gone, printText: gone, printError }), onStopSignal };
  return { code: await runCommandLine(args, machine), err };
}

/** The base URL of a server in this process. */
function served(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  closing.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}/`;
}

describe("a command whose reader has gone", () => {
  test.each(["find quantum", "changes --since all", "export", "export --format csv"])(
    "ends quietly if it would end anyway: %s",
    async (line) => {
      const { code, err } = await unread([...line.split(" "), "--data", data]);
      expect([code, err.join()]).toEqual([0, expect.not.stringContaining("standard output")]);
    },
  );

  const failed = { code: 1, err: [OUTPUT_CLOSED] };
  test.each(["changes --since all --follow", "watch run --every 1h --json", "browse --port 0", "serve --port 0"])(
    "fails if it would go on: %s",
    async (line) => {
      expect(await unread([...line.split(" "), "--data", data])).toEqual(failed);
    },
  );

  test("fails if it would go on: pull --every", async () => {
    const solicitations = realJson<object[]>("sbir-gov/solicitations-20250914.json");
    const base = served(({ url }) => Response.json(new URL(url).searchParams.get("start") === "0" ? solicitations : []));
    expect(await unread(["pull", "sbir-gov", "--every", "1h", "--from", base, "--allow-http", "--data", aDirectory()])).toEqual(failed);
  });

  test("fails if it would go on: mirror --every", async () => {
    const api = await testApi();
    await publish(api, 0, 1, "Title");
    const base = `${served(api.fetch)}v1`;
    for (const into of ["-", inScratch("copy.db")]) {
      expect(await unread(["mirror", base, "--every", "1h", "--into", into], { FUNDFEED_KEY: api.key })).toEqual(failed);
    }
  });
});

test("a watch whose reader has gone fails, and the other watches deliver", async () => {
  const receiver = startReceiver();
  closing.push(receiver.stop);
  const add = (name: string, ...to: string[]) => fundfeed(["watch", "add", name, "--from-start", "--to", ...to, "--data", data]);
  await add("print", "stdout");
  await add("post", "webhook", "--url", receiver.url, "--secret-file", inScratch("secret"), "--allow-http", "--allow-private");
  const { code, err } = await unread(["watch", "run", "--data", data]);
  expect([code, err.toSorted()]).toEqual([1, ["post: delivered 1 new", `print: ${OUTPUT_CLOSED}; sent again in 1 second`]]);
  expect(receiver.posted).toHaveLength(1);
  // With --every it goes on until it is stopped, which the first line on standard error does here.
  expect((await unread(["watch", "run", "print", "--every", "1h", "--data", data])).code).toBe(0);
  await fundfeed(["watch", "resume", "print", "--data", data]); // So that the message is due at once.
  expect((await fundfeed(["watch", "run", "print", "--data", data])).out).toContain('"kind":"new"');
});

test.each(["sqlite", "parquet"])("an export whose result cannot be printed does not say that it failed to write its %s", async (format) => {
  const printLine = () => {
    throw new Failure("Cannot write standard output: the disk is full");
  };
  const err: string[] = [];
  const machine = machineOf({}, { printLine, printText: printLine, printError: (text) => err.push(text) });
  const target = inScratch(`whole.${format}`);
  expect(await runCommandLine(["export", "--format", format, target, "--data", data], machine)).toBe(1);
  expect(err).toEqual(["Cannot write standard output: the disk is full"]);
  expect(statSync(target).size).toBeGreaterThan(0);
});

/** The real program, in the shell that a person uses. */
async function inShell(line: string): Promise<{ code: number; err: string }> {
  const root = join(import.meta.dir, "../..");
  const child = Bun.spawn(["bash", "-c", `${line}; exit \${PIPESTATUS[0]}`, "bash", process.execPath, "src/main.ts"], {
    cwd: root,
    stderr: "pipe",
  });
  const err = await child.stderr.text();
  return { code: await child.exited, err };
}

test("the program tells a reader that has gone from an output that was closed at its start", async () => {
  const cursor = inScratch("changes.cursor");
  const [follow, all, closed, imported, discarded] = await Promise.all([
    inShell(`"$@" changes --since all --follow --data ${data} | true`),
    inShell(`"$@" changes --since all --data ${data} | true`),
    inShell(`"$@" changes --since all --cursor-file ${cursor} --data ${data} >&-`),
    inShell(`"$@" import records ${cursor} --data ${data} >&-`),
    inShell(`"$@" version > /dev/null`),
  ]);
  expect(follow).toEqual({ code: 1, err: `${OUTPUT_CLOSED}\n` });
  expect(all).toEqual({ code: 0, err: "" });
  for (const refused of [closed, imported])
    expect(refused).toEqual({ code: 1, err: "Cannot print anything: standard output is closed; > /dev/null discards what is printed\n" });
  expect(discarded).toEqual({ code: 0, err: "" });
  expect(() => readFileSync(cursor)).toThrow("ENOENT");
});
