/** What is said of a host name that nothing can be done with does not depend on how the machine's resolver fails. */
import { afterAll, describe, expect, test } from "bun:test";
import { program } from "../support/binary.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { canReplaceResolver, nameServerBehaviors, withNameServer } from "../support/resolver.ts";

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
    test.each(nameServerBehaviors)("%s, the command prints why the name does not resolve", async (answer) => {
      const check = async ([args, sentence]: (typeof commands)[number]) => {
        const directory = aDirectory();
        const started = [program, ...args, ...(args[0] === "serve" ? ["--data", directory] : [])];
        const child = Bun.spawn(withNameServer(directory, answer, started), { stdio: ["ignore", "pipe", "pipe"] });
        const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
        expect({ code, out, err }).toEqual({ code: 1, out: "", err: sentence });
      };
      await Promise.all(commands.map(check)); // At the same time, because silence takes seconds.
    });
  },
);
