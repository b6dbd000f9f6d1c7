/** The command line: one commander program, one file per command, one place that turns faults into exit codes. */
import { Command, CommanderError } from "commander";
import { reasonOf } from "../../db/reason.ts";
import type { Machine } from "../machine.ts";
import { version } from "../version.ts";
import { accountsCommand } from "./accounts.ts";
import { backupCommand, restoreCommand } from "./backup.ts";
import { checkCommand } from "./check.ts";
import type { Cli } from "./command.ts";
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

const commands = [
  demoCommand,
  serveCommand,
  importCommand,
  pullCommand,
  exportCommand,
  mirrorCommand,
  refreshCommand,
  redactCommand,
  importsCommand,
  explainCommand,
  sourcesCommand,
  plansCommand,
  accountsCommand,
  keysCommand,
  backupCommand,
  restoreCommand,
  checkCommand,
  healthCommand,
  openapiCommand,
  versionCommand,
];

/** Runs one command. The exit code: 0 done, 1 failed and nothing changed, 2 usage, 3 done but some records were rejected. */
export async function runCommandLine(argv: readonly string[], machine: Machine): Promise<number> {
  const cli: Cli = { machine, exitCode: 0 };
  const program = createProgram(cli);
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    machine.showProgress("");
    machine.tell(sentenceOf(argv[0] ?? "", error));
    return 1;
  }
}

/** The whole tree of commands, ready to parse. */
export function createProgram(cli: Cli): Command {
  const program = new Command("fundfeed")
    .description("US federal innovation funding from every source, with its history, from one binary.")
    .version(version, "-V, --version", "print the version")
    .addHelpText(
      "after",
      "\nStart with: fundfeed demo\nExit codes: 0 done, 1 failed and nothing changed, 2 usage, 3 done but some records were rejected.",
    );
  for (const make of commands) program.addCommand(make(cli));
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)])
    speakThrough(command, cli.machine);
  return program;
}

/** What this program refuses says so itself; what the machine refuses is said here. */
function sentenceOf(command: string, error: unknown): string {
  const reason = reasonOf(error);
  return reason.startsWith("Cannot ") ? reason : `Cannot finish ${command}: ${reason}`;
}

function speakThrough(command: Command, machine: Machine): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError("(--help shows what there is)")
    .configureOutput({ writeOut: (text) => machine.print(text.trimEnd()), writeErr: (text) => machine.tell(text.trimEnd()) });
}
