/** The quick part of `check`: lint, types, and the tests that start no process. `bun run smoke` takes less than a minute. */
import { check } from "./check.ts";
import { quickTests } from "./support/quick-tests.ts";

const parts = [
  { name: "quick tests", command: ["run", "test", ...quickTests().map((path) => `./${path}`)] },
  { name: "types", command: ["run", "types"] },
  { name: "lint", command: ["run", "lint"] },
];

process.exit((await check([parts], (text) => process.stdout.write(text))) ? 0 : 1);
