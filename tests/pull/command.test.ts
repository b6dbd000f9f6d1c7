import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CommanderError } from "commander";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Cli } from "../../src/cli/command.ts";
import { pullCommand } from "../../src/cli/commands/pull.ts";
import { emptySummary } from "../../src/import/import-log.ts";
import { machineOf } from "../support/command-line.ts";
import { bareCommand } from "../support/commands.ts";
import { aDirectory, documentsOf, dropScratch } from "../support/imports.ts";
import { realFile, realJson } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";
import { NOW, PATIENT, type Played, play } from "./upstream.ts";

afterAll(dropScratch);

const SOLICITATIONS = realJson<object[]>("sbir-gov/solicitations-20250914.json");
const WAITED = 60_000;

/** Runs `pull` with these arguments in a process of its own, so to speak: what it printed and told, how long it waited, and a way to signal it. */
function aCommand(env: Record<string, string> = {}) {
  const data = aDirectory();
  const [printed, told, waits]: [string[], string[], number[]] = [[], [], []];
  const clock = { now: NOW };
  let signal = () => {};
  /** Called after each wait that is not the pace. */
  const afterwards: (() => void)[] = [];
  const machine = machineOf(env, {
    now: () => clock.now,
    randomBytes: (count) => new Uint8Array(count),
    printLine: (text) => void printed.push(text),
    printError: (text) => void told.push(text),
    onStopSignal: (stop) => {
      signal = stop;
    },
  });
  const cli: Cli = { machine, exitCode: 0 };
  const wait = async (ms: number, stop: AbortSignal) => {
    if (ms < WAITED || stop.aborted) return;
    waits.push(ms);
    clock.now += ms;
    afterwards.shift()?.();
  };
  const run = async (upstream: Played, ...args: string[]): Promise<string | undefined> => {
    const command = pullCommand(bareCommand("pull", cli), { timeouts: PATIENT, wait });
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    const common = ["--data", data, "--from", upstream.base, "--allow-http"];
    try {
      await command.parseAsync([...args, ...common], { from: "user" });
      return undefined;
    } catch (error) {
      return error instanceof CommanderError ? `usage: ${error.message}` : (error as Error).message;
    }
  };
  return { data, cli, printed, told, waits, afterwards, clock, run, signal: () => signal() };
}

const publishing = () => play(({ query }) => Response.json(query.get("start") === "0" ? SOLICITATIONS : []));

describe("fundfeed pull", () => {
  test("prints the outcome", async () => {
    const command = aCommand();
    expect(await command.run(publishing(), "sbir-gov")).toBeUndefined();
    expect(command.printed).toEqual([
      "sbir-gov: 15 read: 11 added, 0 changed, 0 unchanged, 4 merged, 0 rejected; 0 removed, 0 linked, 11 events",
    ]);
    expect(command.cli.exitCode).toBe(0);
  });

  test("prints one JSON document with --json", async () => {
    const command = aCommand();
    await command.run(publishing(), "sbir-gov", "--json");
    expect(command.printed.map((text) => JSON.parse(text))).toEqual([
      { source: "sbir-gov", fetched: true, ...emptySummary, read: 15, added: 11, merged: 4, events: 11 },
    ]);
  });

  test("exits with 3 if records were rejected, and prints where they are", async () => {
    const command = aCommand();
    const bad = [...SOLICITATIONS, { solicitation_number: "1", solicitation_title: "\u0000" }];
    expect(
      await command.run(
        play(({ query }) => Response.json(query.get("start") === "0" ? bad : [])),
        "sbir-gov",
      ),
    ).toBeUndefined();
    expect(command.cli.exitCode).toBe(3);
    const file = join(command.data, "sbir-gov.rejects.ndjson");
    expect(command.told).toContain(`Rejected records with their reasons are in ${file}`);
    expect(existsSync(file)).toBe(true);
  });

  test.each([
    [["--contact", "https://example.org/contact"], {}, "https://example.org/contact"],
    [[], { FUNDFEED_CONTACT: "a@example.org" }, "a@example.org"],
  ])("sends the contact of %j and %j to the upstream", async (args, env, contact) => {
    const upstream = publishing();
    const before = process.env.FUNDFEED_CONTACT;
    Object.assign(process.env, env);
    try {
      await aCommand().run(upstream, "sbir-gov", ...args);
    } finally {
      if (before === undefined) delete process.env.FUNDFEED_CONTACT;
    }
    expect(upstream.asked[0]?.headers.get("user-agent")).toEndWith(`; ${contact})`);
  });

  test("prints what failed, and where", async () => {
    const upstream = play(() => new Response("", { status: 403 }));
    expect(await aCommand().run(upstream, "sbir-gov")).toBe(`Cannot fetch ${upstream.base}solicitations: it returned 403`);
  });

  test("reads the base URL from the environment, and requires https without --allow-http", async () => {
    const upstream = publishing();
    const command = aCommand({ FUNDFEED_SBIR_GOV_URL: upstream.base });
    const args = ["sbir-gov", "--data", command.data];
    const pulling = pullCommand(bareCommand("pull", command.cli), { timeouts: PATIENT, wait: async () => undefined });
    await expect(pulling.parseAsync(args, { from: "user" })).rejects.toThrow("is not https; use --allow-http to fetch without TLS");
    await pulling.parseAsync([...args, "--allow-http"], { from: "user" });
    expect(command.printed).toHaveLength(1);

    const wrong = aCommand({ FUNDFEED_SBIR_GOV_URL: "ftp://example.org/" });
    const failing = pullCommand(bareCommand("pull", wrong.cli)).parseAsync(["sbir-gov", "--data", wrong.data], { from: "user" });
    await expect(failing).rejects.toThrow("Cannot pull sbir-gov: FUNDFEED_SBIR_GOV_URL must be an http or https URL without query");
  });

  test.each([
    [["challenge-gov"], "Allowed choices are"],
    [["sbir-gov", "--every", "30s"], "It must be at least 1m."],
    [["sbir-gov", "--every", "often"], "It must be a number with a unit"],
    [["sbir-gov", "--contact", "someone"], "It must be an e-mail address or an http or https URL."],
    [["sbir-gov", "--contact", "a@example.org)\r\nX-Other: 1"], "It must be an e-mail address or an http or https URL."],
    [["sbir-gov", "--from", "file:///etc/"], "It must be an http or https URL"],
    [["sbir-gov", "--from", "https://user:word@example.org/"], "It must be an http or https URL"],
  ])("fails with a usage error for %j", async (args, reason) => {
    expect(await aCommand().run(publishing(), ...args)).toContain(reason);
  });
});

describe("a key of an upstream", () => {
  const KEY = "the-key-itself";

  test("is required if the upstream asks for one", async () => {
    expect(await aCommand().run(publishing(), "sam-gov-api")).toBe(
      "Cannot pull sam-gov-api: put its key into the environment variable FUNDFEED_SAM_GOV_KEY",
    );
  });

  test("is sent, and never printed or stored", async () => {
    const answer = realJson<{ opportunitiesData: unknown[] }>("sam-gov/v2-search-20260202.json");
    const whole = { ...answer, totalRecords: answer.opportunitiesData.length };
    const answers: ((key: string | null) => Response)[] = [
      () => Response.json(whole),
      (key) => Response.json({ error: { message: `${key} is not valid` } }, { status: 403 }),
      () => new Response("", { status: 500 }),
      (key) => new Response(null, { status: 302, headers: { location: `https://elsewhere.example/?api_key=${key}` } }),
      (key) => new Response(`<html>${key}`, { headers: { "content-type": "text/html" } }),
      (key) => new Response(`{"${key}`, { headers: { "content-type": "application/json" } }),
    ];
    for (const each of answers) {
      const command = aCommand({ FUNDFEED_SAM_GOV_KEY: KEY });
      const keep = aDirectory();
      const upstream = play(({ query }) => each(query.get("api_key")));
      const failure = await command.run(upstream, "sam-gov-api", "--keep", keep);
      expect(upstream.asked[0]?.query.get("api_key")).toBe(KEY);
      const files = [...new Bun.Glob("**/*").scanSync({ cwd: keep, dot: true })];
      expect(JSON.stringify([failure, command.printed, command.told, files])).not.toContain(KEY);
      const db = openCatalog(command.data, NOW);
      expect(JSON.stringify(await db.all(rawSql("select * from imports")))).not.toContain(KEY);
      await db.close();
    }
  });
});

describe("fundfeed pull --every", () => {
  test("pulls at each interval, prints one line each time, and stops at a signal", async () => {
    const command = aCommand();
    command.afterwards.push(() => undefined, command.signal);
    expect(await command.run(publishing(), "sbir-gov", "--every", "6h")).toBeUndefined();
    expect(command.printed).toEqual([
      "2026-08-03T12:00:00.000Z sbir-gov: 15 read: 11 added, 0 changed, 0 unchanged, 4 merged, 0 rejected; 0 removed, 0 linked, 11 events",
      "2026-08-03T18:00:00.000Z sbir-gov: 15 read: 0 added, 0 changed, 11 unchanged, 4 merged, 0 rejected; 0 removed, 0 linked, 0 events",
    ]);
    expect(command.waits).toEqual([6 * 3_600_000, 6 * 3_600_000]);
    expect(command.told).toEqual([]);
    expect(command.cli.exitCode).toBe(0);
  });

  test("continues after a failed run", async () => {
    const command = aCommand();
    command.afterwards.push(() => undefined, command.signal);
    const upstream = play(({ query }, turn) =>
      turn === 1 ? new Response("", { status: 403 }) : Response.json(query.get("start") === "0" ? SOLICITATIONS : []),
    );
    expect(await command.run(upstream, "sbir-gov", "--every", "1h", "--json")).toBeUndefined();
    expect(command.told).toEqual([`2026-08-03T12:00:00.000Z Cannot fetch ${upstream.base}solicitations: it returned 403`]);
    expect(command.printed.map((line) => JSON.parse(line))).toMatchObject([
      { time: "2026-08-03T13:00:00.000Z", source: "sbir-gov", added: 11 },
    ]);
  });

  test("starts the next run at once if one took longer, and never two at a time", async () => {
    const command = aCommand();
    let [open, most] = [0, 0];
    const upstream = play(async ({ query }, turn) => {
      most = Math.max(most, ++open);
      if (turn === 1) command.clock.now += 2 * 3_600_000;
      if (turn === 3) command.signal();
      await Bun.sleep(1);
      open--;
      return Response.json(query.get("start") === "0" ? SOLICITATIONS : []);
    });
    expect(await command.run(upstream, "sbir-gov", "--every", "1h")).toBeUndefined();
    expect([upstream.asked.length, most, command.waits]).toEqual([3, 1, []]);
    expect(command.printed).toHaveLength(1);
    expect(command.told).toEqual([]);
  });

  test("stops during a download without changing anything", async () => {
    const command = aCommand();
    const upstream = play(async () => {
      command.signal();
      return new Promise<Response>(() => undefined);
    });
    expect(await command.run(upstream, "sbir-gov")).toBe(`Cannot fetch ${upstream.base}solicitations: it was stopped`);
    const db = openCatalog(command.data, NOW);
    expect(await documentsOf(db)).toEqual([]);
    await db.close();
  });

  test("says that all records are stored if only its note about the download cannot be", async () => {
    const command = aCommand();
    const db = openCatalog(command.data, NOW);
    db.sqlite.run(
      "create trigger broken before insert on settings when new.name like 'pulled %' begin select raise(abort, 'no room'); end",
    );
    await db.close();
    const feed = Uint8Array.from(realFile("darpa/opportunity-20260905.json"));
    const headers = { "content-type": "application/json", etag: '"1"' };
    const upstream = play(({ path }) => (path === "/opportunity.json" ? new Response(feed, { headers }) : undefined));
    expect(await command.run(upstream, "darpa")).toBe("no room; all records are stored, and the next pull downloads the same again");
  });

  test("ends at once at a second signal", async () => {
    const command = aCommand();
    const upstream = play(async () => {
      command.signal();
      command.signal();
      return Response.json(SOLICITATIONS);
    });
    expect(await command.run(upstream, "sbir-gov", "--every", "1h")).toBe(
      "a second signal cut it off; what it stored stays, and the same command stores the rest",
    );
  });
});
