/** Which receiver gets a message. Those over a network have tests of their own. */
import { expect, test } from "bun:test";
import { send } from "../../src/watch/send.ts";
import { machineOf } from "../support/command-line.ts";
import { aDefinition } from "./watched.ts";

test("a message for standard output is printed and on disk when send() returns", async () => {
  const done: string[] = [];
  const machine = machineOf(
    {},
    { printLine: (text) => void done.push(text), printError: () => undefined, syncOutput: () => void done.push("synced") },
  );
  const watch = { key: 1, name: "q", owner: null, created_at: 0, definition: aDefinition({ receiver: { to: "stdout" } }) };
  await send(watch, { id: "msg_1", body: '{"id":"msg_1"}' }, machine, new AbortController().signal);
  expect(done).toEqual(['{"id":"msg_1"}', "synced"]);
});
