/** What commands are built from: the options that all or several have. */
import { Command, type ErrorOptions, Option } from "commander";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import type { DatabaseLocation } from "../../db/open.ts";
import type { Mode } from "../../db/opening.ts";
import { isPostgresAddress, POSTGRES_ADDRESS } from "../../db/postgres/address.ts";
import { Failure } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";

/** One run of the program. If it `isLasting`, it fails when the reader of its output goes away; any other one then ends, as in `find | head`. */
export type Cli = { machine: Machine; exitCode: number; isLasting?: true };

export type CommandEntry = {
  about: string;
  args?: string;
  /** What it may do to the databases of --data or --database. `copy` and `backup` only read these. */
  mode: Mode | "nothing";
};

export type LoadCommands = () => Promise<{ readonly [name: `${string}Command`]: (command: CliCommand) => Command }>;

export type CommandGroup = { about: string; members: Readonly<Record<string, CommandEntry>> };

export type CommonOptions = DatabaseLocation & { json?: true };

/** A command of one run, with short forms of what many commands have and do. */
export class CliCommand extends Command {
  readonly #formers = new Map<string, string>();

  constructor(
    name: string,
    readonly cli: Cli,
  ) {
    super(name);
  }

  get machine(): Machine {
    return this.cli.machine;
  }

  /** Prints the value as JSON with --json, else the text. */
  print(value: unknown, text: string): void {
    this.machine.printLine(this.opts<CommonOptions>().json ? JSON.stringify(value, null, 2) : text);
  }

  /** Opens the catalog, runs `work` and closes the catalog. Throws if the catalog cannot be opened. */
  async withCatalog<T>(work: (db: CatalogDb) => Promise<T>, location = this.opts<CommonOptions>()): Promise<T> {
    const { openCatalogAt } = await import("../../db/open.ts");
    await using db = await openCatalogAt(location, this.machine.now(), { onMigrated: this.machine.printError });
    return await work(db);
  }

  /** The same with the state. */
  async withState<T>(work: (db: StateDb) => Promise<T>): Promise<T> {
    const { openStateAt } = await import("../../db/open.ts");
    await using db = await openStateAt(this.opts(), this.machine.now(), { onMigrated: this.machine.printError });
    return await work(db);
  }

  /** Adds an option that the environment gives, too: --tls-cert is FUNDFEED_TLS_CERT. The help shows `presetText` for `preset`. */
  setting(
    flags: string,
    about: string,
    values?: readonly string[] | ((text: string) => unknown),
    preset?: unknown,
    presetText?: string,
    prefix = "",
  ): this {
    const option = new Option(flags, about);
    option.env(`FUNDFEED_${prefix}${option.name().replaceAll("-", "_").toUpperCase()}`).default(preset, presetText);
    if (typeof values === "function") option.argParser(values);
    else if (values !== undefined) option.choices(values);
    return this.addOption(option);
  }

  /** Refuses an option that the command once had, and says what took its place. The help does not name it. */
  former(name: `--${string}`, instead: string): this {
    this.#formers.set(name, instead);
    return this;
  }

  override error(message: string, options?: ErrorOptions): never {
    const [, name = ""] = /^error: unknown option '([^'=]+)/.exec(message) ?? [];
    const instead = this.#formers.get(name);
    return super.error(instead === undefined ? message : `error: ${name} is not an option of ${this.name()} anymore; ${instead}`, options);
  }

  choice(flags: string, about: string, choices: readonly string[], preset?: string): this {
    return this.addOption(new Option(flags, about).choices(choices).default(preset));
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
  }
}

/** A new command with the options that all commands have: --json, and --data and --database unless it opens no database. */
export function newCommand(name: string, { about, args, mode }: CommandEntry, cli: Cli): CliCommand {
  const made = new CliCommand(name, cli).description(about).option("--json", "print one JSON document instead of text");
  if (args !== undefined) made.usage(`[options] ${args}`);
  if (mode === "nothing") return made;
  return made
    .setting("--data <dir>", "data directory", undefined, "fundfeed-data")
    .setting("--database <url>", "PostgreSQL database to use instead: postgres://host/name; put a URL with a password into the variable")
    .hook("preAction", (chosen) => {
      chooseLocation(chosen);
      chosen.setOptionValue("mode", mode);
    });
}

/** --data overrides FUNDFEED_DATABASE. If both are in the environment, the database is used: packages always set a data directory. */
function chooseLocation(command: Command): void {
  const given = (name: string) => command.getOptionValueSource(name) === "cli";
  if (given("data") && given("database")) command.error("error: --data and --database exclude each other; give one of them");
  if (given("data")) command.setOptionValue("database", undefined);
  requirePostgresAddress(command, "--database", command.opts<CommonOptions>().database);
}

/** Ends the command with a usage error if `url` is not a PostgreSQL address. An argParser would repeat the URL, which may hold a password. */
export function requirePostgresAddress(command: Command, option: string, url: string | undefined): void {
  if (url !== undefined && !isPostgresAddress(url)) command.error(`error: ${option} must be ${POSTGRES_ADDRESS}`);
}

/** --redact-contacts. The environment has it too: an operator's policy must not depend on someone remembering an option. */
export const redactContactsOption = () =>
  new Option("--redact-contacts", "leave contacts, which are personal data, out of records and events (FUNDFEED_REDACT_CONTACTS=1)");

/** Whether contacts are left out, by the option or the environment. Throws if the variable is neither 1 nor 0. */
export function isRedactingContacts({ machine }: CliCommand, { redactContacts }: { redactContacts?: true }): boolean {
  const set = (machine.env.FUNDFEED_REDACT_CONTACTS ?? "").toLowerCase();
  if (!["", "0", "1", "false", "true"].includes(set))
    throw new Failure(`Cannot read FUNDFEED_REDACT_CONTACTS: it must be 1 or 0, not "${set}"`);
  return redactContacts ?? (set === "1" || set === "true");
}
