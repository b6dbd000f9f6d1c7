/** The command line: builds the commander program from its commands, runs one, and turns errors into exit codes. */
import { Command, CommanderError, Help, type Option } from "commander";
import { sentenceOf, UsageFailure } from "../../db/reason.ts";
import { isOutputClosed, type Machine, OUTPUT_CLOSED } from "../runtime/machine.ts";
import { version } from "../runtime/version.ts";
import { publicUrl } from "../text/request-failure.ts";
import { type Cli, type CommandEntry, type CommandGroup, newCommand, nonBlank } from "./command.ts";
import { commands, modules } from "./commands.ts";

const HELP_WIDTH = 80;

const COMMON_OPTIONS = ["--data", "--database", "--json", "--help"];

/** Runs one command. Returns its exit code: 0 done, 1 failed, 2 usage error, 3 done but some records were rejected. */
export async function runCommandLine(argv: readonly string[], machine: Machine): Promise<number> {
  const cli: Cli = { machine, exitCode: 0 };
  const program = await createProgram(cli, argv);
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (isOutputClosed(error) && !cli.isLasting) return cli.exitCode;
    if (error instanceof UsageFailure) {
      machine.printError(`error: ${error.message}`);
      return 2;
    }
    machine.printError(isOutputClosed(error) ? OUTPUT_CLOSED : sentenceOf(error, `finish ${argv[0] ?? ""}`));
    return 1;
  } finally {
    machine.showProgress(""); // Whatever is printed clears it, too.
  }
}

/** The program with all its commands; only those whose words are in `argv` are loaded. Usage errors hide the secrets of URLs. */
export async function createProgram(cli: Cli, argv: readonly string[]): Promise<Command> {
  const program = new Command("fundfeed")
    .description("US federal funding opportunities with their history, served from one binary.")
    .version(version, "-V, --version", "print the version")
    .addHelpText(
      "after",
      "\nStart with: fundfeed demo\nManual: fundfeed help topics\nExit codes: 0 done, 1 failed (nothing changed unless the error says what did),\n2 usage error, 3 done but some records were rejected.",
    );
  const isGiven = (word: string) => argv[0] === "man" || argv.includes(word); // The manual lists the options of all commands.
  for (const [heading, entries] of Object.entries(commands)) {
    for (const [name, entry] of Object.entries(entries))
      program.addCommand((await createCommand(cli, name, entry, isGiven)).helpGroup(heading));
  }
  program.helpCommand(false); // The table has one that knows the manual, too.
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
    configureOutput(command, cli.machine, argv);
    refuseRepeats(command);
    refuseBlanks(command);
  }
  return program;
}

async function createCommand(
  cli: Cli,
  name: string,
  entry: CommandEntry | CommandGroup,
  isGiven: (word: string) => boolean,
  load = modules[name],
): Promise<Command> {
  if ("members" in entry) {
    const group = new Command(name).description(entry.about);
    const isMemberGiven = (word: string) => isGiven(name) && isGiven(word);
    for (const [word, member] of Object.entries(entry.members))
      group.addCommand(await createCommand(cli, word, member, isMemberGiven, modules[`${name} ${word}`] ?? load));
    return group;
  }
  const command = newCommand(name, entry, cli);
  return (isGiven(name) && (await load?.())?.[`${name}Command`]?.(command)) || command;
}

function configureOutput(command: Command, machine: Machine, argv: readonly string[]): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError("(see --help)")
    .configureHelp({ subcommandTerm, visibleOptions: ownOptionsFirst })
    .configureOutput({
      getOutHelpWidth: () => machine.terminal()?.columns ?? HELP_WIDTH,
      writeOut: (text) => machine.printLine(text.trimEnd()),
      writeErr: (text) => text.trimEnd().split("\n").forEach(machine.printError),
      outputError: (text, write) => write(withoutSecrets(text, [...argv, ...Object.values(machine.env)])),
    });
}

/** Refuses an option that is given twice and takes one value: commander would keep the last. A list takes all of its values. */
function refuseRepeats(command: Command): void {
  for (const option of command.options.filter(({ required, optional }) => required || optional)) {
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      const isList = Array.isArray(command.getOptionValue(option.attributeName()));
      if (isGiven && !isList) command.error(`error: option '${option.flags}' takes one value, and must be given once`);
      isGiven = true;
    });
  }
}

/** Refuses a blank value where no other parser reads it: most come from a shell variable that is not set. Lists may have blank items. */
function refuseBlanks({ options, registeredArguments }: Command): void {
  const given = [...options.filter(({ required, optional }) => required || optional), ...registeredArguments];
  for (const each of given) if (each.parseArg === undefined && !each.variadic) each.argParser(nonBlank);
}

/** Usage errors repeat arguments, and URLs may contain a password or a key. */
function withoutSecrets(text: string, given: readonly (string | undefined)[]): string {
  const addresses = given.map((word = "") => word.replace(/^--[\w-]+=/, "")).filter((word) => word.includes("://"));
  return addresses.reduce((shown, address) => shown.replaceAll(address, publicUrl(address)), text);
}

/** "import <format> <file...>": leaves out "[options]", which every command has. */
function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.usage().replaceAll(/\[(options|command)\] ?/g, "")}`.trim();
}

function ownOptionsFirst(command: Command): Option[] {
  const position = ({ long }: Option) => COMMON_OPTIONS.indexOf(long ?? ""); // -1 for a command's own options.
  return new Help().visibleOptions(command).sort((left, right) => position(left) - position(right));
}
