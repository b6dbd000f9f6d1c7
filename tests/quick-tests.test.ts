import { expect, test } from "bun:test";
import { quickTests, startsProcess } from "./support/quick-tests.ts";

test.each([
  "tests/program.test.ts", // It imports the compiled program.
  "tests/sync.test.ts", // It imports a file that imports it.
  "tests/scripts.test.ts", // It starts Bun itself.
  "tests/db/postgres.test.ts",
  "tests/db/engine.test.ts", // On both engines.
  "tests/quota/redis.test.ts",
  "tests/browser/docs.test.ts",
])("%s starts a process", (path) => {
  expect([startsProcess(path), quickTests().includes(path)]).toEqual([true, false]);
});

test.each(["tests/text/csv.test.ts", "tests/http/opportunities.test.ts", "tests/docs/cited.test.ts", "tests/cli/usage.test.ts"])(
  "%s starts none, so it is quick",
  (path) => {
    expect([startsProcess(path), quickTests().includes(path)]).toEqual([false, true]);
  },
);
