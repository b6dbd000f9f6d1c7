/** The command line: one commander program, one file per command, one place that turns faults into exit codes. */
import { Command, CommanderError, Help, type Option } from "commander";
import { reasonOf } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";
import { version } from "../runtime/version.ts";
import { publicUrl } from "../text/request-failure.ts";
import { accountsCommand } from "./accounts.ts";
import { backupCommand, restoreCommand } from "./backup.ts";
import { checkCommand } from "./check.ts";
import type { Cli } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { copyCommand } from "./copy.ts";
import { demoCommand } from "./demo.ts";
import { explainCommand } from "./explain.ts";
import { exportCommand } from "./export.ts";
import { healthCommand } from "./health.ts";
import { importCommand } from "./import.ts";
import { importsCommand } from "./imports.ts";
import { keysCommand } from "./keys.ts";
import { mirrorCommand } from "./mirror.ts";
import { openapiCommand } from "./openapi.ts";
import { plansCommand } from "./plans.ts";
import { pullCommand } from "./pull.ts";
import { redactCommand } from "./redact.ts";
import { refreshCommand } from "./refresh.ts";
import { serveCommand } from "./serve.ts";
import { sourcesCommand } from "./sources.ts";
import { versionCommand } from "./version.ts";

/** As the help shows them. */
const commands = {
  "Serve:": [demoCommand, serveCommand, healthCommand, openapiCommand],
  "Records in:": [importCommand, pullCommand, refreshCommand, redactCommand],
  "Records out:": [exportCommand, mirrorCommand],
  "Where they came from:": [importsCommand, explainCommand, sourcesCommand],
  "Who may call:": [plansCommand, accountsCommand, keysCommand],
  "Upkeep:": [backupCommand, restoreCommand, copyCommand, checkCommand, completionCommand, versionCommand],
};

/** Options that every command has: the last ones of each help. */
const everywhere = ["--data", "--database", "--json", "--help"];

/** Runs one command. The exit code: 0 done, 1 failed and nothing changed, 2 usage, 3 done but some records were rejected. */
export async function runCommandLine(argv: readonly string[], machine: Machine): Promise<number> {
  const cli: Cli = { machine, exitCode: 0 };
  const program = createProgram(cli, argv);
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    machine.showProgress("");
    machine.printError(sentenceOf(argv[0] ?? "", error));
    return 1;
  }
}

/** The whole tree of commands, ready to parse `argv`. */
export function createProgram(cli: Cli, argv: readonly string[] = []): Command {
  const program = new Command("fundfeed")
    .description("US federal innovation funding from every source, with its history, from one binary.")
    .version(version, "-V, --version", "print the version")
    .addHelpText(
      "after",
      "\nStart with: fundfeed demo\nExit codes: 0 done, 1 failed and nothing changed, 2 usage, 3 done but some records were rejected.",
    );
  for (const [group, members] of Object.entries(commands)) {
    for (const make of members) program.addCommand(make(cli).helpGroup(group));
  }
  program.commandsGroup("Upkeep:").helpCommand("help [command]", "the help of a command");
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)])
    speakThrough(command, cli.machine, argv);
  return program;
}

/** What this program refuses says so itself; what the machine refuses is said here. */
function sentenceOf(command: string, error: unknown): string {
  const reason = reasonOf(error);
  return reason.startsWith("Cannot ") ? reason : `Cannot finish ${command}: ${reason}`;
}

function speakThrough(command: Command, machine: Machine, argv: readonly string[]): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError("(--help shows what there is)")
    .configureHelp({ subcommandTerm, visibleOptions: ownOptionsFirst })
    .configureOutput({
      writeOut: (text) => machine.printLine(text.trimEnd()),
      writeErr: (text) => text.trimEnd().split("\n").forEach(machine.printError),
      outputError: (text, write) => write(withoutSecrets(text, [...argv, ...Object.values(machine.env)])),
    });
}

/** A refusal repeats what was given: addresses may hold a password or a key. */
function withoutSecrets(text: string, given: readonly (string | undefined)[]): string {
  const addresses = given.map((word = "") => word.replace(/^--[\w-]+=/, "")).filter((word) => word.includes("://"));
  return addresses.reduce((shown, address) => shown.replaceAll(address, publicUrl(address)), text);
}

/** "import <format> <file...>": that there are options goes without saying. */
function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.usage().replaceAll(/\[(options|command)\] ?/g, "")}`.trim();
}

function ownOptionsFirst(command: Command): Option[] {
  const place = ({ long }: Option) => everywhere.indexOf(long ?? "");
  return new Help().visibleOptions(command).sort((left, right) => place(left) - place(right));
}
