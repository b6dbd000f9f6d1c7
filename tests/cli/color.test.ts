import { expect, test } from "bun:test";
import { join } from "node:path";

const main = join(import.meta.dir, "../../src/main.ts");

/** What a failing command prints on a terminal, which `script` emulates. */
function onTerminal(env: Record<string, string>, args = "servve"): string {
  const command = `'${process.execPath}' '${main}' ${args}`;
  const { stdout } = Bun.spawnSync(["script", "-qc", command, "/dev/null"], {
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", ...env },
  });
  return stdout.toString();
}

test("an error starts in red on a terminal, unless NO_COLOR is set, and never in a pipe", () => {
  expect(onTerminal({})).toStartWith("\u001b[31merror:\u001b[39m unknown command 'servve'\r\n(Did you mean serve?)\r\n");
  expect(onTerminal({ NO_COLOR: "1" })).toStartWith("error: unknown command 'servve'\r\n");
  expect(Bun.spawnSync([process.execPath, main, "servve"]).stderr.toString()).toStartWith("error: unknown command 'servve'\n");
});

test("red ends after the failed action, not at the colon of a URL in it", () => {
  expect(onTerminal({}, "health --url http://127.0.0.1:1/v1")).toBe(
    "\u001b[31mCannot reach http://127.0.0.1:1/v1/meta:\u001b[39m the connection was refused\r\n",
  );
});
