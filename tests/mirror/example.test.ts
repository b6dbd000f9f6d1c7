import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestApi, testApi } from "../support/api.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { publish, served } from "./mirrored.ts";

afterAll(dropScratch);

const EXAMPLE = join(import.meta.dir, "../../examples/sync.ts");

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serving(count: number, before: (asked: number) => Response | undefined = () => undefined) {
  const api = await testApi();
  await publish(api, 0, count, "Title");
  const paths: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => before(paths.push(new URL(request.url).pathname)) ?? api.fetch(request),
  });
  closing.push(() => server.stop(true));
  return { api, paths, baseUrl: `http://127.0.0.1:${server.port}/v1` };
}

async function run({ key }: Pick<TestApi, "key">, ...args: string[]) {
  const example = Bun.spawn([process.execPath, EXAMPLE, ...args], {
    env: { PATH: process.env.PATH, FUNDFEED_KEY: key },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, told, exitCode] = await Promise.all([example.stdout.text(), example.stderr.text(), example.exited]);
  if (key !== "") expect(printed + told).not.toContain(key);
  return { printed, told, exitCode };
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
  expect(readdirSync(directory).filter((name) => !/^(opportunities\.ndjson|events\.ndjson|etags\.json)$/.test(name))).toEqual([]);
}

describe("examples/sync.ts", () => {
  test("copies everything, then what changed, and checks one record", async () => {
    const { api, paths, baseUrl } = await serving(130);
    const directory = aDirectory();
    expect(await run(api, baseUrl, directory)).toMatchObject({ exitCode: 0, printed: "130 new or changed of 130 records, 130 events\n" });
    await expectCopy(directory, api);

    await publish(api, 60, 62, "Changed");
    await publish(api, 130, 131, "New");
    expect(await run(api, baseUrl, directory)).toMatchObject({ exitCode: 0, printed: "3 new or changed of 131 records, 133 events\n" });
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
    const answers: Record<number, () => Response> = { 1: limited, 3: limited, 4: limited, 9: gone };
    const { api, baseUrl } = await serving(130, (asked) => answers[asked]?.());
    const directory = aDirectory();

    const ended = await run(api, baseUrl, directory);
    expect(ended).toMatchObject({ exitCode: 1, printed: "" });
    expect(ended.told).toContain("waiting 0.0 s: 429 rate_limit_exceeded");
    expect(ended.told).toMatch(/Cannot read .*\/events: 404 not_found There is nothing. \(request r1\)\n$/);
    expect(readdirSync(directory)).toEqual([]);

    await run(api, baseUrl, directory);
    await expectCopy(directory, api);
  });

  test("prints its usage, and what is wrong with the key", async () => {
    expect(await run({ key: "" }, "http://127.0.0.1:1/v1", "copy")).toMatchObject({ exitCode: 1, told: expect.stringMatching(/^Usage: /) });
    const { baseUrl } = await serving(1);
    const told = expect.stringMatching(/^Cannot read .*\/opportunities: 401 authentication_required .* \(request \w+\)\n$/);
    expect(await run({ key: "ffk_live_wrong" }, baseUrl, aDirectory())).toMatchObject({ exitCode: 1, told });
  });
});
