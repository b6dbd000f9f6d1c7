/** Commands start fast because each loads only the modules that it needs. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { lines } from "../../src/text/lines.ts";
import { fundfeed } from "../support/command-line.ts";
import { entries, wholeProgram } from "../support/commands.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { preloading } from "../support/preload.ts";

afterAll(dropScratch);

const root = join(import.meta.dir, "../..");

/** One or two small modules of a package cost nothing, such as the errors of drizzle-orm. */
const FEW = 2;

/** Returns the packages from which a run of `fundfeed` loads more than a few modules. */
async function packagesLoadedBy(args: readonly string[]): Promise<string[]> {
  const preload = join(root, "tests/support/loaded-packages.ts");
  const child = Bun.spawn([process.execPath, "--preload", preload, join(root, "src/main.ts"), ...args], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const counts: Record<string, number> = JSON.parse((await child.stderr.text()).trim().split("\n").at(-1) ?? "");
  return Object.keys(counts).filter((name) => (counts[name] ?? 0) > FEW);
}

test.each([
  ["--help", []],
  ["keys --help", []],
  ["nope", []],
  ["version", []],
  ["health --url http://127.0.0.1:1/v1", []],
  ["keys list", ["drizzle-orm"]],
  ["accounts list", ["drizzle-orm"]],
  ["imports list", ["drizzle-orm"]],
  ["sources list", ["@sinclair/typebox", "drizzle-orm", "entities"]],
  ["export", ["@sinclair/typebox", "drizzle-orm", "entities"]],
])("of packages, fundfeed %s loads commander and %j", async (line, packages) => {
  const data = aDirectory();
  const opensData = entries[line]?.mode === "read";
  if (opensData) await fundfeed(["import", "records", "/dev/null", "--data", data]);
  const loaded = await packagesLoadedBy([...line.split(" "), ...(opensData ? ["--data", data] : [])]);
  expect(loaded.sort()).toEqual(["commander", ...packages].sort());
});

test.each([
  ["serve", 404, 1],
  ["up --pull none --watch-every none", 200, 2], // The page comes from the reader, a process of its own.
])(
  "fundfeed %s loads nothing of MCP before the first message",
  async (line, status, processes) => {
    const BUN_OPTIONS = preloading("loaded-packages.ts"); // Children inherit it.
    const child = Bun.spawn([process.execPath, join(root, "src/main.ts"), ...line.split(" "), "--port", "0", "--data", aDirectory()], {
      env: { ...process.env, BUN_OPTIONS },
      stdout: "pipe",
      stderr: "pipe",
    });
    const first = await lines(child.stdout)[Symbol.asyncIterator]().next();
    const [, origin] = /^listening on (.*)\/v1$/.exec(first.done ? "" : first.value.text) ?? [];
    expect((await fetch(`${origin}/`)).status).toBe(status);
    child.kill();
    const loaded = (await child.stderr.text()).split("\n").filter((each) => each.includes('"drizzle-orm":'));
    expect(loaded.length).toBeGreaterThanOrEqual(processes);
    for (const each of loaded) expect(each).not.toMatch(/modelcontextprotocol|zod/);
  },
  300_000,
);

test("the help of the program shows the arguments that each command takes", async () => {
  const program = await wholeProgram();
  const leaves = program.commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]));
  const namesIn = (usage: string) => [...usage.replace("[options]", "").matchAll(/[\w-]+/g)].map(([name]) => name);
  for (const command of leaves) {
    const taken = command.registeredArguments.map((argument) => argument.name());
    expect([command.name(), ...namesIn(command.usage())]).toEqual([command.name(), ...taken]);
  }
});
