/** The part of `check` that starts no program: lint, types, and those tests. `bun run smoke` takes half a minute. */
import { check } from "./check.ts";
import { isThorough, startsProcesses, testFiles } from "./support/test-files.ts";

const tests = testFiles.filter((path) => !isThorough(path) && !startsProcesses(path));
const parts = [
  { name: "quick tests", command: ["run", "test", ...tests.map((path) => `./${path}`)] },
  { name: "types", command: ["run", "types"] },
  { name: "lint", command: ["run", "lint"] },
];

process.exitCode = (await check([parts], (text) => process.stdout.write(text))) ? 0 : 1;
