/** `demo` in a terminal: however it is ended, it exits 0 and leaves nothing behind. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { program } from "../support/binary.ts";
import { machineOf } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

const root = join(import.meta.dir, "../..");
const CTRL_C = "\u0003";

const programs = {
  "fundfeed demo": [program, "demo", "--port", "0"],
  "bun run demo": [process.execPath, "run", "demo", "--port", "0"],
};
const moments = {
  "begins to import": "importing the sample, 1 of",
  "is importing": "importing the sample, 7 of",
  serves: "listening on http",
};
/** Starts a demo in a terminal, and returns when it has printed `awaited`. */
async function demoThatShows(name: keyof typeof programs, awaited: string) {
  const directory = aDirectory();
  let shown = "";
  const child = Bun.spawn(programs[name], {
    cwd: root,
    env: { ...process.env, TMPDIR: directory, TERM: "xterm" },
    terminal: {
      data: (_, bytes) => {
        shown += Buffer.from(bytes).toString();
      },
    },
  });
  await waitFor(awaited, () => shown.includes(awaited));
  return { child, shown: () => shown, remaining: () => readdirSync(directory) };
}

/** The moments are those of the program; `bun run` only passes signals on. */
test.each<[keyof typeof programs, keyof typeof moments]>([
  ["fundfeed demo", "is importing"],
  ["bun run demo", "begins to import"],
])("Ctrl-C in `%s` while it %s ends it with 0 and without an error", async (name, moment) => {
  const { child, shown, remaining } = await demoThatShows(name, moments[moment]);
  child.terminal?.write(CTRL_C);
  expect(await child.exited).toBe(0);
  expect(remaining()).toEqual([]);
  expect(shown()).not.toMatch(/error|Cannot/);
});

test.each<[keyof typeof programs, keyof typeof moments]>([
  ["fundfeed demo", "begins to import"],
  ["bun run demo", "serves"],
])("closing the terminal of `%s` while it %s leaves no files", async (name, moment) => {
  const { child, remaining } = await demoThatShows(name, moments[moment]);
  child.terminal?.close();
  await child.exited;
  await waitFor("the directory is gone", () => remaining().length === 0);
});

test("--json prints one document when it listens; two signals at once, as `bun run` may send them, still exit with 0", async () => {
  const handlers: (() => void)[] = [];
  const stop = () => {
    for (const handle of handlers) handle();
  };
  const printed: string[] = [];
  const printLine = (text: string) => {
    printed.push(text);
    stop();
    stop();
  };
  const machine = {
    ...machineOf({}, { printLine, printError: () => undefined }),
    onStopSignal: (handle: () => void) => void handlers.push(handle),
  };
  expect(await runCommandLine(["demo", "--json", "--port", "0"], machine)).toBe(0);
  expect(printed.map((text) => JSON.parse(text))).toEqual([
    {
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
      browse_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
      key: expect.stringMatching(/^ffk_live_/),
      records: expect.any(Number),
      directory: expect.any(String),
    },
  ]);
});
