/** The reader as `up` sees it: started before the first request, replaced when it ends, killed when it hangs. Small servers stand in for it. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { familiesText } from "../../src/monitoring/families.ts";
import { ALIVE_PATH, createReaderProcess } from "../../src/team/reader-process.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { runs } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";

const readers: ReturnType<typeof createReaderProcess>[] = [];
afterAll(async () => {
  for (const reader of readers.splice(0)) await reader.stop();
  dropScratch();
});

setDefaultTimeout(300_000); // Processes on a busy machine take their time.

/**
 * Writes its process id and its socket into a file, and responds with its path; to `/hang` never, to `/end` by ending, and to `/slow` after it
 * was asked twice whether it is there.
 */
const SERVER = `
  const { appendFileSync } = require("node:fs");
  const unix = process.env.FUNDFEED_READER;
  appendFileSync(process.env.NOTES, process.pid + " " + unix + "\\n");
  const { promise: askedTwice, resolve } = Promise.withResolvers();
  let asked = 0;
  Bun.serve({ unix, fetch: async ({ url, method }) => {
    const { pathname, search } = new URL(url);
    if (pathname === "/alive" && ++asked === 2) resolve();
    if (pathname === "/end") process.exit(7);
    if (pathname === "/hang") Bun.sleepSync(1e9);
    if (pathname === "/slow") await askedTwice;
    return new Response(method + " " + pathname + search);
  } });
  console.log("listening");
`;

/** For what hangs. Whatever else answers has the usual limits, because a busy machine is slow. */
const IMPATIENT = { pauseMs: 20, answerMs: 5000 };

function aReader(script = SERVER, limits: Parameters<typeof createReaderProcess>[0]["limits"] = { pauseMs: 20 }) {
  const notes = join(aDirectory(), "notes");
  const failures: string[] = [];
  const log: string[] = [];
  const reader = createReaderProcess({
    command: [process.execPath, "-e", script],
    env: { PATH: process.env.PATH, NOTES: notes },
    writeLog: (lines) => log.push(lines),
    onFailure: (message) => failures.push(message),
    limits,
  });
  readers.push(reader);
  const started = () =>
    existsSync(notes)
      ? readFileSync(notes, "utf8")
          .trim()
          .split("\n")
          .map((line) => line.split(" "))
      : [];
  const get = async (path: string) => {
    const response = await reader.fetch(path, { method: "GET" });
    return [response.status, await response.text()];
  };
  return {
    reader,
    failures,
    log,
    started,
    get,
    responds: (path: string) => waitFor("it responds", async () => (await get(path))[0] === 200),
  };
}

const STARTING = [503, "The pages are starting again. Try again in a moment.\n"];

test("the first requests start one reader", async () => {
  const { reader, get, started } = aReader();
  expect(started()).toEqual([]);
  expect(await Promise.all([get("/a?b=c"), get("/d")])).toEqual([
    [200, "GET /a?b=c"],
    [200, "GET /d"],
  ]);
  expect(started()).toHaveLength(1);
  expect(familiesText(reader.families())).toContain("fundfeed_reader_starts_total 1\n");
});

test("a started reader runs before the first request, which starts no other", async () => {
  const { reader, get, started } = aReader();
  await reader.fetch(ALIVE_PATH, {});
  expect(started()).toHaveLength(1);
  expect([await get("/a"), started().length]).toEqual([[200, "GET /a"], 1]);
});

test("a reader that ends is replaced: the request under way gets 503, as others do for a moment", async () => {
  const { get, started, failures, responds } = aReader();
  expect(await get("/end")).toEqual(STARTING);
  await responds("/a");
  expect(started()).toHaveLength(2);
  expect(failures).toEqual(["The reader of the pages ended (7). After 0.02 s, the next request starts another one"]);
});

test("a reader that is killed is replaced", async () => {
  const { get, started, failures, responds } = aReader();
  await get("/a");
  process.kill(Number(started()[0]?.[0]), "SIGKILL");
  await waitFor("it is noticed", () => failures.length === 1);
  await responds("/a");
  expect(started()).toHaveLength(2);
});

test.concurrent("a reader that hangs is killed, and replaced", async () => {
  const { get, started, failures, responds } = aReader(SERVER, IMPATIENT);
  expect(await get("/hang")).toEqual(STARTING);
  expect(failures[0]).toBe("The reader of the pages has not answered for 5 s, and is killed");
  await responds("/a");
  expect(started()).toHaveLength(2);
});

test.concurrent("a response may take longer than the limit, as long as the reader answers", async () => {
  const { get, failures } = aReader(SERVER, IMPATIENT);
  expect([await get("/slow"), failures]).toEqual([[200, "GET /slow"], []]);
});

test("a start that takes too long is ended", async () => {
  const { get, failures } = aReader("setInterval(() => undefined, 1000)", { startMs: 300, pauseMs: 20 });
  expect(await get("/a")).toEqual(STARTING);
  expect(failures).toEqual(["The reader of the pages ended (SIGKILL). After 0.02 s, the next request starts another one"]);
});

test("a reader that cannot start is tried again after growing pauses, and its log is passed on", async () => {
  const { get, failures, log } = aReader("console.error('no data'); process.exit(1)", { pauseMs: 1 });
  for (let n = 1; n <= 4; n++) {
    await waitFor("it is tried again", async () => {
      await get("/a");
      return failures.length >= n;
    });
  }
  expect(failures.slice(0, 4).map((failure) => /After (\S+) s/.exec(failure)?.[1])).toEqual(["0.001", "0.002", "0.004", "0.008"]);
  expect(log[0]).toBe("no data\n");
});

test("a program that is missing is reported", async () => {
  const failures: string[] = [];
  const command = ["/nonexistent/fundfeed"];
  const reader = createReaderProcess({ command, env: {}, writeLog: () => undefined, onFailure: (message) => failures.push(message) });
  readers.push(reader);
  expect((await reader.fetch("/", {})).status).toBe(503);
  expect(failures[0]).toContain("/nonexistent/fundfeed");
});

test("a temporary directory whose path is too long for a socket is reported", async () => {
  const { get, failures } = aReader();
  const usual = process.env.TMPDIR;
  process.env.TMPDIR = join(aDirectory(), "x".repeat(100));
  mkdirSync(process.env.TMPDIR);
  try {
    expect(await get("/a")).toEqual(STARTING);
  } finally {
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
  }
  expect(failures[0]).toMatch(/Cannot start the reader: the path .* is too long for a socket; set TMPDIR to a shorter one/);
});

test("it listens in a directory that only this user can enter", async () => {
  const { reader, started } = aReader();
  await reader.fetch(ALIVE_PATH, {});
  expect(statSync(dirname(started()[0]?.[1] ?? "")).mode & 0o777).toBe(0o700);
});

test("stopping ends it and removes its directory", async () => {
  const { reader, get, started } = aReader();
  await get("/a");
  const [pid, socket = ""] = started()[0] ?? [];
  await reader.stop();
  expect([runs(Number(pid)), existsSync(dirname(socket))]).toEqual([false, false]);
  expect(await get("/a")).toEqual(STARTING);
});

test("stopping kills one that hangs", async () => {
  const { reader, get, started } = aReader(SERVER, { graceMs: 50 });
  await get("/a");
  void get("/hang");
  await waitFor("it hangs", async () => (await Promise.race([get("/a"), Bun.sleep(100)])) === undefined);
  await reader.stop();
  expect(runs(Number(started()[0]?.[0]))).toBe(false);
});
