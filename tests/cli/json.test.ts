/** Every command has --json, and only those that work on data say where the data is. */
import { afterAll, describe, expect, test } from "bun:test";
import type { Command } from "commander";
import { migrations } from "../../db/sqlite/migrate.ts";
import { aHome, dropHomes } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { entries, wholeProgram } from "../support/commands.ts";

afterAll(dropHomes);

const program = await wholeProgram();
const leaves = program.commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]));
const wordsOf = (command: Command): string => (command.parent === program ? command.name() : `${command.parent?.name()} ${command.name()}`);

test.each(leaves.map((command) => [wordsOf(command), command] as const))("fundfeed %s", (words, command) => {
  const options = command.options.map(({ long }) => long);
  expect(options).toContain("--json");
  const usesData = entries[words]?.mode !== "nothing";
  expect([options.includes("--data"), options.includes("--database")]).toEqual([usesData, usesData]);
});

test("version names the commit and the schemas in its text, too", async () => {
  const { out } = await fundfeed(["version"]);
  expect(out).toMatch(/^fundfeed \S+ \(commit checkout, build own, Bun \S+, SQLite \S+; schemas: catalog \d+, state \d+, watches \d+\)\n$/);
});

describe("--json prints one JSON document", () => {
  test.each([
    [
      "version",
      {
        fundfeed: expect.any(String),
        commit: "checkout",
        build: "own",
        bun: Bun.version,
        sqlite: expect.any(String),
        schemas: { catalog: migrations.catalog.length, state: migrations.state.length, watches: migrations.watch.length },
      },
    ],
    ["man", { roff: expect.stringContaining(".SH COMMON OPTIONS") }],
    ["completion", { bash: expect.stringContaining("complete -o default -F _fundfeed fundfeed") }],
    ["openapi", expect.objectContaining({ openapi: "3.1.0" })],
  ])("of %s", async (command, document) => {
    const { code, out, err } = await fundfeed([command, "--json"]);
    expect([code, JSON.parse(out), err]).toEqual([0, document, ""]);
  });

  test("of serve", async () => {
    const child = aHome().start(["serve", "--json", "--port", "0"]);
    void child.stderr.text();
    let out = "";
    for await (const piece of child.stdout) {
      out += Buffer.from(piece).toString();
      if (out.endsWith("}\n")) break;
    }
    child.kill("SIGTERM");
    expect(JSON.parse(out)).toEqual({ base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/) });
    expect(await child.exited).toBe(0);
  });
});
