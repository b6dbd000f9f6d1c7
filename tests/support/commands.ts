/** The commands of the program, for tests of all of them and of a single one. */
import type { Command } from "commander";
import { type Cli, type CliCommand, type CommandEntry, newCommand } from "../../src/cli/command.ts";
import { createProgram } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/commands.ts";
import { machineOf } from "./command-line.ts";

/** Every command that does something, by its words, such as "keys list". */
export const entries: Readonly<Record<string, CommandEntry>> = Object.fromEntries(
  Object.values(commands).flatMap((group) =>
    Object.entries(group).flatMap(([name, entry]) =>
      "members" in entry ? Object.entries(entry.members).map(([member, each]) => [`${name} ${member}`, each]) : [[name, entry]],
    ),
  ),
);

/** The program with all commands loaded, as `man` loads it. */
export function wholeProgram(): Promise<Command> {
  return createProgram({ machine: machineOf({}, { printLine: () => undefined, printError: () => undefined }), exitCode: 0 }, ["man"]);
}

/** A command before its module gives it arguments, options and an action. */
export function bareCommand(words: string, cli: Cli): CliCommand {
  const entry = entries[words];
  if (entry === undefined) throw new Error(`There is no command ${words}`);
  return newCommand(words.split(" ").at(-1) ?? "", entry, cli);
}
