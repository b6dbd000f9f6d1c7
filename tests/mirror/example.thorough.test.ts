/** The examples of sync clients, in processes of their own, against a server on loopback. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestApi, testApi } from "../support/api.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { publish, served, withEvents } from "./mirrored.ts";

afterAll(dropScratch);

const EXAMPLES = join(import.meta.dir, "../../examples");
/** The program itself: `python3` may be a script that looks for it each time. */
const python = Bun.which("python3") && Bun.spawnSync(["python3", "-c", "import sys; print(sys.executable)"]).stdout.toString().trim();
if (python === null) process.stderr.write("SKIPPED: the tests of examples/sync.py need python3\n");

const inTypeScript = [process.execPath, join(EXAMPLES, "sync.ts")];
const inPython = [python ?? "", "-W", "error", join(EXAMPLES, "sync.py")];

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serving(
  count: number,
  before: (asked: number, path: string) => Response | undefined = () => undefined,
  respond: (api: TestApi) => (request: Request) => Promise<Response> = (api) => api.fetch,
) {
  const api = await testApi();
  await publish(api, 0, count, "Title");
  const paths: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      return before(paths.push(path), path) ?? respond(api)(request);
    },
  });
  closing.push(() => server.stop(true));
  return { api, paths, baseUrl: `http://127.0.0.1:${server.port}/v1` };
}

function start(command: readonly string[], key: string, args: readonly string[]) {
  return Bun.spawn([...command, ...args], { env: { PATH: process.env.PATH, FUNDFEED_KEY: key }, stdout: "pipe", stderr: "pipe" });
}

const run = (api: Pick<TestApi, "key">, ...args: string[]) => outcomeOf(inTypeScript, api, ...args);

async function outcomeOf(command: readonly string[], { key }: Pick<TestApi, "key">, ...args: string[]) {
  const example = start(command, key, args);
  const [printed, told, exitCode] = await Promise.all([example.stdout.text(), example.stderr.text(), example.exited]);
  if (key !== "") expect(printed + told).not.toContain(key);
  return { printed, told, exitCode };
}

/** The copy that the example in Python keeps; the same documents as the server's, though not the same bytes. */
async function expectDatabase(path: string, api: TestApi): Promise<void> {
  const copy = new Database(path, { readonly: true });
  const documents = (table: string) =>
    Object.fromEntries(
      copy
        .query<{ id: string; document: string }, []>(`select id, document from ${table} order by id`)
        .all()
        .map(({ id, document }) => [id, JSON.stringify(JSON.parse(document))]),
    );
  expect({ opportunities: documents("opportunities"), events: documents("events") }).toEqual(await served(api));
  copy.close(true);
}

/** What the copy has, as the server has it; and nothing lies about. */
async function expectCopy(directory: string, api: TestApi): Promise<void> {
  const lines = (name: string) =>
    readFileSync(join(directory, `${name}.ndjson`), "utf8")
      .split("\n")
      .slice(0, -1)
      .sort();
  const { opportunities, events } = await served(api);
  expect(lines("opportunities")).toEqual(Object.values(opportunities).sort());
  expect(lines("events")).toEqual(Object.values(events).sort());
  expect(readdirSync(directory).filter((name) => !/^(opportunities\.ndjson|events\.ndjson|etags\.json|state\.json)$/.test(name))).toEqual(
    [],
  );
}

/** The run of an example with a server whose clock is ahead. The mark of such a change would hide every later one. */
async function runWithFuture(command: readonly string[]) {
  const { api, baseUrl } = await serving(2);
  api.clock.now = Date.now() + 120_000;
  await publish(api, 0, 1, "Changed");
  return outcomeOf(command, api, baseUrl, join(aDirectory(), "copy"));
}
const REFUSED = { exitCode: 1, printed: "", told: expect.stringContaining(" changed in the future, at 20") };

describe("examples/sync.ts", () => {
  test("refuses what changed in the future", async () => {
    expect(await runWithFuture(inTypeScript)).toMatchObject(REFUSED);
  });

  test("copies everything, then what changed, and checks one record", async () => {
    const { api, paths, baseUrl } = await serving(102);
    const directory = aDirectory();
    expect(await run(api, baseUrl, directory)).toMatchObject({ exitCode: 0, printed: "102 new or changed of 102 records, 102 events\n" });
    await expectCopy(directory, api);

    await publish(api, 60, 62, "Changed");
    await publish(api, 102, 103, "New");
    expect(await run(api, baseUrl, directory)).toMatchObject({ exitCode: 0, printed: "3 new or changed of 103 records, 105 events\n" });
    await expectCopy(directory, api);
    expect(await run(api, baseUrl, directory)).toMatchObject({
      exitCode: 0,
      printed: expect.stringMatching(/^Nothing changed since 2026-03-01T12:00:00.\d{3}Z\n$/),
    });
    await expectCopy(directory, api);

    const [id = "", document = ""] = Object.entries((await served(api)).opportunities)[0] ?? [];
    const first = await run(api, baseUrl, directory, id);
    expect(JSON.stringify(JSON.parse(first.printed))).toBe(document);
    expect(await run(api, baseUrl, directory, id)).toMatchObject({ exitCode: 0, printed: "Unchanged since the last check\n" });
    expect(paths.slice(-2)).toEqual(Array(2).fill(`/v1/opportunities/${id}`));
    await expectCopy(directory, api);
  });

  test("waits for a limit, retries temporary failures, and starts again after an interruption", async () => {
    const limited = () => Response.json({ code: "rate_limit_exceeded" }, { status: 429, headers: { "Retry-After": "0" } });
    const gone = () => Response.json({ code: "not_found", detail: "There is nothing.", request_id: "r1" }, { status: 404 });
    const answers: Record<number, () => Response> = { 1: limited, 3: limited, 9: gone };
    const { api, baseUrl } = await serving(102, (asked) => answers[asked]?.());
    const directory = aDirectory();

    const ended = await run(api, baseUrl, directory);
    expect(ended).toMatchObject({ exitCode: 1, printed: "" });
    expect(ended.told).toMatch(/waiting \d\.\d s: the server returned 429 rate_limit_exceeded\n/);
    expect(ended.told).toEndWith('the server returned 404 not_found: "There is nothing." (request r1)\n');
    expect(readdirSync(directory)).toEqual([]);

    await run(api, baseUrl, directory);
    await expectCopy(directory, api);
  });

  test("prints its usage, and what is wrong with the key", async () => {
    expect(await run({ key: "" }, "http://127.0.0.1:1/v1", "copy")).toMatchObject({ exitCode: 1, told: expect.stringMatching(/^Usage: /) });
    const { baseUrl } = await serving(1);
    const told = expect.stringMatching(/^the server returned 401 authentication_required: .* \(request \w+\)\n$/);
    expect(await run({ key: "ffk_live_wrong" }, baseUrl, aDirectory())).toMatchObject({ exitCode: 1, told });
  });
});

describe.if(python !== null)("examples/sync.py", () => {
  const runPython = (api: Pick<TestApi, "key">, ...args: string[]) => outcomeOf(inPython, api, ...args);

  test("refuses what changed in the future", async () => {
    expect(await runWithFuture(inPython)).toMatchObject(REFUSED);
  });

  test("copies everything, then what changed", async () => {
    const { api, paths, baseUrl } = await serving(102);
    const file = join(aDirectory(), "copy.sqlite");
    expect(await runPython(api, baseUrl, file)).toMatchObject({ exitCode: 0, printed: "102 new or changed of 102 records\n" });
    await expectDatabase(file, api);
    await publish(api, 60, 62, "Changed");
    await publish(api, 102, 103, "New");
    expect(await runPython(api, baseUrl, file)).toMatchObject({ exitCode: 0, printed: "3 new or changed of 103 records\n" });
    await expectDatabase(file, api);
    paths.length = 0;
    expect(await runPython(api, baseUrl, file)).toMatchObject({ exitCode: 0, printed: "0 new or changed of 103 records\n" });
    expect(paths).toEqual(["/events.json", "/v1/opportunities"]);
  });

  test("waits for a limit, retries temporary failures, starts the walk again without its cursor, and fails with a sentence", async () => {
    const limited = () => Response.json({ code: "rate_limit_exceeded" }, { status: 429, headers: { "Retry-After": "0" } });
    const cut = () => new Response('{"data":[{"id":"');
    const secretGone = () => Response.json({ code: "invalid_cursor" }, { status: 400 });
    const answers: Record<number, () => Response> = { 1: limited, 2: limited, 4: cut, 105: secretGone };
    const { api, baseUrl } = await serving(102, (asked) => answers[asked]?.());
    const file = join(aDirectory(), "copy.sqlite");
    const { exitCode, told } = await runPython(api, baseUrl, file);
    expect(exitCode).toBe(0);
    expect(told.match(/^waiting .*: status 429$/gm)).toHaveLength(2);
    expect(told).toContain("waiting ");
    await expectDatabase(file, api);
    const refused = await runPython({ key: "ffk_live_wrong" }, baseUrl, file);
    expect(refused).toMatchObject({
      exitCode: 1,
      told: expect.stringMatching(/^Cannot sync: 401 authentication_required .* \(request \w+\)\n$/),
    });
    expect(await runPython({ key: "" }, baseUrl, file)).toMatchObject({ exitCode: 1, told: expect.stringMatching(/^Usage: /) });
  });
});

test.if(python !== null)("examples/sync.py prints no key that cannot be sent", async () => {
  const { exitCode, told } = await outcomeOf(inPython, { key: "ffk_live_secret\r" }, "http://127.0.0.1:1/v1", join(aDirectory(), "copy"));
  expect([exitCode, told]).toEqual([1, "FUNDFEED_KEY has characters that no key has\n"]);
});

test.if(python !== null).each<[string, (key: string) => Response, string]>([
  [
    "repeats the key",
    (key) => Response.json({ code: key, detail: `${key}\u001b[2J` }, { status: 401 }),
    "Cannot sync: 401 … … [2J (request without id)",
  ],
  ["breaks off an error", () => new Response("[".repeat(100_000), { status: 401 }), "Cannot sync: 401   (request without id)"],
  ["redirects", () => Response.redirect("http://127.0.0.1:1/", 302), "Cannot sync: 302   (request without id)"],
  [
    "wants a wait of years",
    () => new Response("", { status: 503, headers: { "Retry-After": "99999999" } }),
    "Cannot read BASE/opportunities: status 503, and asked to wait 99999999 s",
  ],
  [
    "sends too much",
    () => new Response(new Uint8Array(64 * 1024 ** 2 + 1)),
    "Cannot read BASE/opportunities: the response has more than 67108864 bytes",
  ],
  [
    "has more, and does not say where",
    () => Response.json({ data: [{ id: "1" }], meta: { has_more: true, next_cursor: null } }),
    "Cannot read BASE/opportunities: the server does not say where the list continues",
  ],
])("examples/sync.py fails with a sentence if the server %s", async (_, respond, sentence) => {
  const key = "ffk_live_secret";
  const { baseUrl } = await serving(1, (_, path) => (path.startsWith("/v1") ? respond(key) : undefined));
  const { exitCode, told } = await outcomeOf(inPython, { key }, baseUrl, join(aDirectory(), "copy"));
  expect([exitCode, told]).toEqual([1, `${sentence.replace("BASE", baseUrl)}\n`]);
});

describe.each([
  // The requests of a first copy: whether there is /events.json, a page, 100 histories, the other page and 2 histories.
  ["sync.ts", inTypeScript, "copy", true, [1, 61, 103, 105], false],
  ["sync.py", inPython, "copy.sqlite", python !== null, [1, 61, 103, 2, 4], false], // It goes on after the first page.
  // With it: the newest event, a page, its histories, the other page, its histories, and what was stored meanwhile.
  ["sync.ts", inTypeScript, "copy", true, [1, 3, 5, 6], true],
  ["sync.py", inPython, "copy.sqlite", python !== null, [1, 3, 4, 3, 4], true],
] as const)("examples/%s", (_, command, name, isThere, killedAt, isBulk) => {
  test.if(isThere)("misses nothing although it is killed at several of its requests, while records change", async () => {
    let kill: (() => Promise<unknown>) | undefined;
    let left = 0;
    const before = () => (--left === 0 ? void kill?.() : undefined);
    const { api, baseUrl, paths } = await serving(102, before, isBulk ? withEvents : undefined);
    const copy = join(aDirectory(), name);
    for (const [index, at] of killedAt.entries()) {
      left = at;
      const example = start(command, api.key, [baseUrl, copy]);
      kill = async () => example.kill("SIGKILL");
      await example.exited;
      expect(example.signalCode).toBe("SIGKILL");
      await publish(api, 70 + index * 3, 70 + index * 3 + 2, `Changed after ${at}`);
    }
    kill = undefined;
    // The first run may complete a walk that began before the last changes, which the next one gets.
    for (let run = 0; run < 2; run++) expect(await outcomeOf(command, api, baseUrl, copy)).toMatchObject({ exitCode: 0 });
    await (command === inPython ? expectDatabase(copy, api) : expectCopy(copy, api));
    expect(paths.some((path) => path.endsWith("/events"))).toBe(!isBulk);
  });
});
