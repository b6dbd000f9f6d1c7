/** The format of the log: text where people read it, unless `--log-format` says otherwise. */
import { afterAll, expect, test } from "bun:test";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { machineOf } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const TEXT = /^\d{4}-\d\d-\d\dT[\d:.]+Z notice The API reference is at /;
const JSON_LINE = /^\{"time":"[^"]+","level":"notice","message":"The API reference is at /;

test.each<[string, boolean, string[], RegExp]>([
  ["a terminal", true, [], TEXT],
  ["a terminal", true, ["--log-format", "json"], JSON_LINE],
  ["a pipe", false, [], JSON_LINE],
  ["a pipe", false, ["--log-format", "text"], TEXT],
])("serve, with its log on %s: %p %p", async (_, isLogOnTerminal, options, format) => {
  let stop = () => {};
  let log = "";
  const machine = machineOf({}, { printLine: (line) => line.startsWith("listening on ") && stop(), printError: () => undefined });
  const code = await runCommandLine(["serve", "--port", "0", "--data", aDirectory(), ...options], {
    ...machine,
    isLogOnTerminal: () => isLogOnTerminal,
    writeLog: (text) => {
      log += text;
    },
    onStopSignal: (handle) => {
      stop = handle;
    },
  });
  expect([code, log]).toEqual([0, expect.stringMatching(format)]);
});
