import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommanderError } from "commander";
import type { Cli } from "../../src/cli/command.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { mirrorCommand } from "../../src/cli/commands/mirror.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { machineOf } from "../support/command-line.ts";
import { bareCommand } from "../support/commands.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { contentsOfDatabase, contentsOfLines, publish, served } from "./mirrored.ts";

afterAll(dropScratch);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server on this machine with so many records; `before` each request something may happen. */
async function serving(count: number, before: (asked: number) => Promise<Response | undefined> = async () => undefined) {
  const api = await testApi();
  await publish(api, 0, count, "Title");
  let asked = 0;
  const fetch = async (request: Request) => (await before(++asked)) ?? api.fetch(request);
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  closing.push(() => server.stop(true));
  return { api, baseUrl: `http://127.0.0.1:${server.port}/v1` };
}

/** Waits of that length and more are the pace. */
const EVERY_MS = 40_000;

/** Runs `mirror` in a process of its own, so to speak: what it printed and told, and a way to signal it. */
function aCommand(api: Pick<TestApi, "key">, env: Record<string, string> = { FUNDFEED_KEY: api.key }) {
  const [printed, told, shown]: [string[], string[], string[]] = [[], [], []];
  const clock = { now: NOON };
  let signal = () => {};
  const machine = machineOf(env, {
    now: () => clock.now,
    randomBytes: (count) => new Uint8Array(count),
    printLine: (text) => void printed.push(text),
    printError: (text) => void told.push(text),
    showProgress: (line) => void shown.push(line),
    onStopSignal: (stop) => {
      signal = stop;
    },
  });
  /** Called after each wait for the next turn; when there are none left, the signal comes. */
  const afterwards: (() => void | Promise<void>)[] = [];
  const wait = async (ms: number) => {
    clock.now += ms;
    if (ms >= EVERY_MS) await (afterwards.shift() ?? signal)();
  };
  const cli: Cli = { machine, exitCode: 0 };
  return {
    machine,
    printed,
    told,
    shown,
    afterwards,
    signal: () => signal(),
    /** What it failed with, if it did. */
    run: async (...args: string[]): Promise<string | undefined> => {
      const command = mirrorCommand(bareCommand("mirror", cli), { wait }).exitOverride();
      command.configureOutput({ writeErr: () => undefined });
      try {
        await command.parseAsync(args, { from: "user" });
        return undefined;
      } catch (error) {
        return error instanceof CommanderError ? `usage: ${error.message}` : (error as Error).message;
      } finally {
        expect([...printed, ...told, ...shown].join("\n")).not.toContain(api.key);
      }
    },
  };
}

describe("fundfeed mirror", () => {
  test("updates a copy and exits with 0", async () => {
    const { api, baseUrl } = await serving(120);
    const file = join(aDirectory(), "copy.sqlite3");
    const { machine, printed, shown } = aCommand(api);
    expect(await runCommandLine(["mirror", `${baseUrl}/`, "--into", file, "--events"], machine)).toBe(0);
    expect(contentsOfDatabase(file)).toEqual(await served(api));
    expect(printed).toEqual([expect.stringMatching(/^120 records, 120 events; up to date as of 2026-03-01T12:00:00.\d{3}Z$/)]);
    expect(shown[0]).toStartWith("mirroring 100 records, 100 events");
    expect(shown.at(-1)).toBe("");
  });

  test("prints the records without --into, and the summary on standard error", async () => {
    const { api, baseUrl } = await serving(3);
    const { run, printed, told } = aCommand(api);
    expect(await run(baseUrl)).toBeUndefined();
    expect(contentsOfLines(`${printed.join("\n")}\n`).opportunities).toEqual((await served(api)).opportunities);
    expect(told).toEqual([expect.stringMatching(/^3 records, 0 events; up to date as of /)]);
  });

  test("recognizes a database by its extension, and prints JSON with --json", async () => {
    const { api, baseUrl } = await serving(3);
    const { run, printed } = aCommand(api);
    expect(await run(baseUrl, "--into", join(aDirectory(), "copy.db"), "--json")).toBeUndefined();
    expect(printed.map((text) => JSON.parse(text))).toEqual([{ records: 3, events: 0, mark: "2026-03-01T12:00:00.000Z" }]);
  });

  test("copies only the given sources", async () => {
    const { api, baseUrl } = await serving(6);
    const { run, printed } = aCommand(api);
    expect(await run("--source", "sam,x", "--source", "X", baseUrl)).toBeUndefined();
    expect(printed.map((line) => JSON.parse(line).source.code)).toEqual(["SAM", "SAM", "SAM"]);
  });

  test("warns of sources that the server does not name, and suggests others", async () => {
    const { api, baseUrl } = await serving(1);
    const { run, told } = aCommand(api);
    expect(await run("--source", "disp,sam-gov,other,XYZ", "--source", "DSIP", baseUrl)).toBeUndefined();
    expect(told.slice(0, -1)).toEqual([
      "The server does not name a source DISP; only records with exactly this code are copied. Did you mean DSIP (imported as dsip)?",
      "The server does not name a source SAM-GOV; only records with exactly this code are copied. Did you mean SAM_GOV (imported as sam-gov)?",
      expect.stringMatching(
        /^The server does not name a source XYZ; .*\. Its sources are CHALLENGE_GOV \(imported as challenge-gov\), .*\.$/,
      ),
    ]);
  });

  test("warns of such a source once in many runs", async () => {
    const { api, baseUrl } = await serving(1, async (asked) => (asked === 1 ? new Response("", { status: 500 }) : undefined));
    const { run, told, afterwards } = aCommand(api);
    afterwards.push(() => undefined);
    expect(await run("--source", "DISP", baseUrl, "--into", join(aDirectory(), "copy.db"), "--every", "5m")).toBeUndefined();
    expect(told).toHaveLength(1);
  });

  test("does not believe a server whose changes lie in the future", async () => {
    const { api, baseUrl } = await serving(0);
    api.clock.now = Date.parse("9999-01-01T00:00:00Z");
    await publish(api, 0, 1, "Title");
    const [file, { run, printed }] = [join(aDirectory(), "copy.db"), aCommand(api)];
    expect(await run(baseUrl, "--into", file)).toMatch(
      /^Cannot mirror \S+: the server says that [\w-]{36} changed in the future, at 9999-01-01T00:00:00.000Z; check the clocks of both machines$/,
    );
    expect(printed).toEqual([]);
  });

  test("reads the key from a file", async () => {
    const { api, baseUrl } = await serving(1);
    const file = join(aDirectory(), "key");
    writeFileSync(file, `${api.key}\n`);
    expect(await aCommand(api, {}).run(baseUrl, "--key-file", file)).toBeUndefined();
    expect(await aCommand(api, {}).run(baseUrl, "--key-file", `${file}s`)).toBe(`Cannot read ${file}s: there is no such file`);
  });

  test.each([
    ["none", {}, "put the API key into FUNDFEED_KEY"],
    ["a blank one", { FUNDFEED_KEY: " " }, "put the API key into FUNDFEED_KEY"],
    ["what cannot be one", { FUNDFEED_KEY: "two words" }, "FUNDFEED_KEY does not contain an API key"],
  ])("requires a key, not %s", async (_, env, reason) => {
    expect(await aCommand({ key: "none" }, env).run("https://api.example.org/v1")).toBe(`Cannot mirror: ${reason}`);
  });

  test("prints the problem of the server and exits with 1", async () => {
    const { baseUrl } = await serving(1);
    const { machine, told } = aCommand({ key: "" }, { FUNDFEED_KEY: "ffk_live_wrong" });
    expect(await runCommandLine(["mirror", baseUrl], machine)).toBe(1);
    expect(told.at(-1)).toMatch(
      /^Cannot mirror http:\/\/127.0.0.1:\d+\/v1: the server returned 401 authentication_required: .* \(request \w+\)$/,
    );
    expect(told.join()).not.toContain("wrong");
  });

  test("leaves nothing of a new copy that the server refused", async () => {
    const { baseUrl } = await serving(1);
    const directory = aDirectory();
    const { run } = aCommand({ key: "ffk_live_wrong" });
    expect(await run(baseUrl, "--into", join(directory, "copy.db"))).toContain("the server returned 401");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("keeps a copy that the server refused to update", async () => {
    const { api, baseUrl } = await serving(3);
    const directory = aDirectory();
    expect(await aCommand(api).run(baseUrl, "--into", join(directory, "copy.db"))).toBeUndefined();
    const before = readdirSync(directory);
    expect(await aCommand({ key: "ffk_live_wrong" }).run(baseUrl, "--into", join(directory, "copy.db"))).toContain("401");
    expect(readdirSync(directory)).toEqual(before);
  });

  test("says in words what the file is a copy of", async () => {
    const { api, baseUrl } = await serving(3);
    const file = join(aDirectory(), "copy.db");
    expect(await aCommand(api).run(baseUrl, "--into", file, "--source", "SAM")).toBeUndefined();
    expect(await aCommand(api).run(baseUrl, "--into", file, "--events")).toBe(
      `Cannot keep a copy in ${file}: it is a copy of ${baseUrl} (only SAM; without events), not of ${baseUrl} (all sources; with events); use another file`,
    );
  });

  test.each([
    [["http://api.example.org/v1"], "http://api.example.org/v1 is not https; use --allow-http to send the key without TLS"],
    [["http://localhost.example.org/v1"], "is not https"],
    [["http://127.0.0.1.example.org/v1"], "is not https"],
    [["https://api.example.org"], "It must end in /v1"],
    [["https://user:secret@api.example.org/v1"], "It must be an http or https URL"],
    [["ftp://api.example.org/v1"], "It must be an http or https URL"],
    [["https://api.example.org/v1", "--into", "copy.txt"], "copy.txt does not end in .sqlite, .sqlite3 or .db: a copy is an SQLite file"],
    [["https://api.example.org/v1", "--into", "copy.ndjson"], "for NDJSON, use sqlite3 FILE 'select document from opportunities', or"],
    [["https://api.example.org/v1", "--format", "ndjson"], "--format is not an option of mirror anymore; a copy is an SQLite file; for"],
    [["https://api.example.org/v1", "--every", "1s"], "It must be at least 10s"],
    [["https://api.example.org/v1", "--source", "A,,B"], "It must not be empty or contain an empty value"],
    [[], "missing required argument 'base-url'"],
  ])("exits with 2 for %p", async (args, message) => {
    const { machine, told } = aCommand({ key: "k" });
    expect(await runCommandLine(["mirror", ...args], machine)).toBe(2);
    expect(told.join("\n")).toContain(message);
  });

  test.each(["http://localhost:1/v1", "http://127.9.9.9:1/v1", "http://[::1]:1/v1"])(
    "sends the key over http to this machine: %s",
    async (url) => {
      expect(await aCommand({ key: "k" }).run(url)).toBe(`Cannot mirror ${url}: the connection was refused (tried 6 times)`);
    },
  );
});

describe("fundfeed mirror --every", () => {
  test("updates the copy at each interval, and ends with 0 at a signal", async () => {
    const { api, baseUrl } = await serving(3);
    const { run, printed, afterwards } = aCommand(api);
    const file = join(aDirectory(), "copy.sqlite");
    afterwards.push(() => publish(api, 1, 2, "Changed"));
    expect(await run(baseUrl, "--into", file, "--every", "5m")).toBeUndefined();
    expect(printed).toEqual([
      expect.stringMatching(/^2026-03-01T12:00:00.000Z 3 records, 0 events; up to date as of /),
      expect.stringMatching(/^2026-03-01T12:05:00.000Z 1 record, 0 events; up to date as of /),
    ]);
    expect(contentsOfDatabase(file).opportunities).toEqual((await served(api)).opportunities);
  });

  test("begins a new copy if its file is removed", async () => {
    const { api, baseUrl } = await serving(3);
    const { run, printed, told, afterwards } = aCommand(api);
    const file = join(aDirectory(), "copy.sqlite");
    afterwards.push(() => rmSync(file));
    expect(await run(baseUrl, "--into", file, "--every", "5m")).toBeUndefined();
    expect(printed).toEqual([expect.stringContaining(" 3 records"), expect.stringContaining(" 3 records")]);
    expect(told).toEqual([`${file} was removed; a new copy begins`]);
    expect(await aCommand(api).run(baseUrl, "--into", file)).toBeUndefined();
  });

  test("prints a temporary failure and continues, and ends at a permanent one", async () => {
    let answer = (): Response | undefined => undefined;
    const { api, baseUrl } = await serving(3, async () => answer());
    const { run, told, printed, afterwards } = aCommand(api);
    afterwards.push(
      () => {
        answer = () => new Response("", { status: 500 });
      },
      () => {
        answer = () => Response.json({ code: "insufficient_entitlement" }, { status: 403 });
      },
    );
    const outcome = await run(baseUrl, "--into", join(aDirectory(), "copy.db"), "--every", "1m", "--json");
    expect(outcome).toBe(`Cannot mirror ${baseUrl}: the server returned 403 insufficient_entitlement`);
    expect(told).toEqual([expect.stringMatching(/^2026-03-01T12:01:00.000Z Cannot mirror .*: the server returned 500 \(tried 6 times\)$/)]);
    expect(printed.map((text) => JSON.parse(text))).toMatchObject([{ time: "2026-03-01T12:00:00.000Z", records: 3 }]);
  });
});

describe("a stop signal", () => {
  test("ends a walk between two pages of a copy, and the next run completes it", async () => {
    const { api, baseUrl } = await serving(250, async (asked) => {
      if (asked === 2) first.signal();
      return undefined;
    });
    const first = aCommand(api);
    const file = join(aDirectory(), "copy.db");
    const stored = "; it came as far as 100 records; the same command copies the rest";
    expect(await first.run(baseUrl, "--into", file)).toBe(`Cannot mirror ${baseUrl}: it was stopped${stored}`);
    const second = aCommand(api);
    expect(await second.run(baseUrl, "--into", file)).toBeUndefined();
    expect(second.printed).toEqual([expect.stringMatching(/^150 records/)]);
  });
});
