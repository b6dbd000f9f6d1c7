/** What is said of a host name that nothing can be done with does not depend on how the machine's resolver fails. */
import { afterAll, describe, expect, test } from "bun:test";
import { program } from "../support/binary.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { canReplaceResolver, nameServerBehaviors, runWithNameServer } from "../support/resolver.ts";

afterAll(dropScratch);

const isPossible = canReplaceResolver(aDirectory());

const commands = [
  [["serve", "--port", "0", "--host", "nope.invalid"], "Cannot listen on nope.invalid:0: it is not an address of this machine\n"],
  [
    ["keys", "list", "--database", "postgres://fundfeed@nope.invalid/fundfeed"],
    "Cannot open postgres://nope.invalid/fundfeed: no server answers there\n",
  ],
] as const;

describe.skipIf(!isPossible)(
  `where the name server answers with${isPossible ? "" : " (skipped: needs unshare, and the right to use it)"}`,
  () => {
    test.concurrent.each(nameServerBehaviors)("%s, the commands print why the name does not resolve", async (answer) => {
      const directory = aDirectory();
      const started = commands.map(([args]) => [program, ...args, ...(args[0] === "serve" ? ["--data", directory] : [])]);
      const expected = commands.map(([, err]) => ({ code: 1, out: "", err }));
      expect(await runWithNameServer(directory, answer, started)).toEqual(expected); // At the same time, because silence takes seconds.
    });
  },
);
