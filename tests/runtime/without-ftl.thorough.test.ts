/** An import runs without FTL, in the process that was started. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { program } from "../support/binary.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { environmentOf } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const RECORD = { source: { code: "A", opportunity_id: "1" }, title: "Solar", status: "open" };

test.if(process.platform === "linux").each([
  [{}, "BUN_JSC_useFTLJIT=0"],
  [{ BUN_JSC_useFTLJIT: "1" }, "BUN_JSC_useFTLJIT=1"],
])("an import started with %j runs with %s, and reads the input that it was given", async (more, setting) => {
  const env = { PATH: process.env.PATH, FUNDFEED_DATA: aDirectory(), ...more };
  const child = Bun.spawn([program, "import", "records", "-"], { env, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  await waitFor("the setting of the process", () => environmentOf(child.pid).includes(setting));
  child.stdin.write(JSON.stringify(RECORD));
  await child.stdin.end();
  expect([await child.exited, await child.stdout.text()]).toEqual([0, expect.stringMatching(/^1 read: 1 added/)]);
});
