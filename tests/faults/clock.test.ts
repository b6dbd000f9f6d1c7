/** A machine's clock that is set while the service runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { serve } from "../../src/server/serve.ts";
import { machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, DAY, dropScratch, NOON, SECOND } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

const HOUR = 3600 * SECOND;
const clock = { now: NOON };
const data = aDirectory();
const stopListeners: (() => void)[] = [];
const warnings: string[] = [];
let base = "";
let key = "";
let ended: Promise<number>;

/** The real service on a real port, whose clock is ours to set. */
const machine = (printLine: (text: string) => void) =>
  machineOf(
    {},
    {
      now: () => clock.now,
      printLine,
      printError: (text) => void warnings.push(text),
      writeLog: (text) => void warnings.push(text),
      onStopSignal: (listener) => void stopListeners.push(listener), // Imports listen as well as the server.
    },
  );

async function fundfeed(...args: string[]): Promise<string> {
  const printed: string[] = [];
  expect(
    await runCommandLine(
      [...args, "--data", data],
      machine((text) => printed.push(text)),
    ),
  ).toBe(0);
  return printed.join("\n");
}

const importRecord = (id: string) => fundfeed("import", "records", aFile([{ source: { code: "OWN", opportunity_id: id }, title: id }]));
const get = (path: string) => fetch(base + path, { headers: { Authorization: `Bearer ${key}` } });
const remaining = async () => Number((await get("/sources")).headers.get("ratelimit-remaining"));

beforeAll(async () => {
  await importRecord("first");
  key = await fundfeed("keys", "create", "--account", "Acme", "--plan", "trial");
  const listening = Promise.withResolvers<string>();
  ended = serve(machine(listening.resolve), { data, host: "127.0.0.1", port: 0, logFormat: "json" });
  base = (await listening.promise).replace("listening on ", "");
});
afterAll(async () => {
  for (const stop of stopListeners) stop();
  expect(await ended).toBe(0);
});

describe("when the clock is set", () => {
  test("an hour back, no request is refused, no quota is returned, and no updated_at repeats (D-31)", async () => {
    const before = await remaining();
    clock.now -= HOUR;
    expect(await remaining()).toBe(before - 1);
    await importRecord("second");
    const { data: records } = (await (await get("/opportunities")).json()) as { data: { title: string; updated_at: string }[] };
    expect(records.map(({ title }) => title)).toEqual(["second", "first"]);
    expect(new Set(records.map(({ updated_at }) => updated_at)).size).toBe(2);
    clock.now += HOUR;
  });

  test("an hour back while the minute is used up, the wait stays within a minute", async () => {
    let refused = await get("/sources");
    while (refused.status === 200) refused = await get("/sources");
    clock.now -= HOUR;
    const still = await get("/sources");
    expect([refused.status, still.status, still.headers.get("retry-after")]).toEqual([429, 429, "1"]);
    clock.now += SECOND;
    expect((await get("/sources")).status).toBe(200);
    clock.now += HOUR - SECOND;
  });

  test("a day ahead and back again, the first day keeps its use (D-25)", async () => {
    clock.now += 60 * SECOND;
    const before = await remaining();
    clock.now += DAY;
    expect(await remaining()).toBe(999);
    clock.now -= DAY;
    clock.now += 60 * SECOND;
    await waitFor("use of the day is known again", async () => (await remaining()) < before);
  });

  test("days ahead and back again, import, refresh and serve warn of the newest change", async () => {
    const isWarned = () => warnings.splice(0).some((text) => text.includes("The newest change in the catalog is dated"));
    warnings.splice(0);
    await importRecord("on time");
    await fundfeed("refresh");
    expect(isWarned()).toBe(false);
    clock.now += 2 * DAY;
    await importRecord("from the future");
    clock.now -= 2 * DAY;
    warnings.splice(0);
    await importRecord("third");
    expect(isWarned()).toBe(true);
    await fundfeed("refresh");
    expect(isWarned()).toBe(true);
    const listening = Promise.withResolvers<string>();
    const second = serve(machine(listening.resolve), { data, host: "127.0.0.1", port: 0, logFormat: "json" });
    await listening.promise;
    stopListeners.at(-1)?.();
    expect([await second, isWarned()]).toEqual([0, true]);
  });
});
