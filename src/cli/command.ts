/** What commands are built from: the options that all or several have, and parsers, which throw commander's InvalidArgumentError: a usage error. */
import { type Argument, Command, type ErrorOptions, InvalidArgumentError, Option } from "commander";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import type { DatabaseLocation } from "../../db/open.ts";
import type { Mode } from "../../db/opening.ts";
import { isPostgresAddress, POSTGRES_ADDRESS } from "../../db/postgres/address.ts";
import { Failure } from "../../db/reason.ts";
import type { EventType } from "../events/event.ts";
import { uriReference } from "../http/query-text.ts";
import type { Machine } from "../runtime/machine.ts";
import { closest } from "../text/closest.ts";
import { DAY_MS, HOUR_MS } from "../text/instant.ts";
import { AS_OF, type MomentField, readMoment } from "../text/moment.ts";
import { BadValue, readChoices, readInteger, readItems } from "../text/read-value.ts";
import { upperCaseCode } from "../text/source-code.ts";

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

/** Accepts one of a few words, and suggests one for a typo: commander's own `choices` suggests nothing. */
export function oneWordOf(argument: Argument, words: readonly string[]): Argument {
  return argument.choices(words).argParser((text) => {
    if (words.includes(text)) return text;
    const suggestion = closest(text, words);
    const hint = suggestion === undefined ? "" : `\n(Did you mean ${suggestion}?)`;
    throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.${hint}`);
  });
}

/** Ends the command with the usage error of a parser, for a value that only the databases show to be wrong. */
export function refuseValue(command: Command, long: string, reason: string): never {
  const option = command.options.find((each) => each.long === long);
  const value = command.getOptionValue(option?.attributeName() ?? "");
  command.error(`error: option '${option?.flags}' argument '${value}' is invalid. ${reason}`);
}

/** A parser of whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return parserOf(readInteger(min, max));
}

/** A parser that refuses what `read` finds no value in, with the rule that it must meet. */
export function parserBy<T>(rule: string, read: (text: string) => T | undefined): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(rule);
    return value;
  };
}

export const nonBlank = parserBy("It must not be blank.", (text) => (text.trim() === "" ? undefined : text));

/** A base URL of the API, without a slash at its end. */
export function apiBaseUrl(text: string): string {
  if (plainHttpUrl(text) === undefined)
    throw new InvalidArgumentError("It must be an http or https URL without query and password, such as https://api.example.org/v1.");
  const url = text.replace(/\/+$/, "");
  if (!url.endsWith("/v1")) throw new InvalidArgumentError("It must end in /v1, such as https://api.example.org/v1.");
  return url;
}

/** The base URL that a server publishes: an `apiBaseUrl` as a valid URI, because problem types and the API description contain it. */
export function publicBaseUrl(text: string): string {
  const { origin, pathname } = new URL(apiBaseUrl(text));
  return origin + uriReference(pathname);
}

/** The text as an http or https URL; `undefined` if it is not one, or has a query, a fragment or credentials. */
export function plainHttpUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username + url.password !== "")
    return undefined;
  return url;
}

/** Makes an option parser of a function that throws `BadValue`. */
export function parserOf<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof BadValue) throw new InvalidArgumentError(`It ${error.message}.`);
      throw error;
    }
  };
}

/** A parser of moments. */
export function momentOption<Field extends MomentField>({ machine }: CliCommand, field: Field) {
  return parserOf((text) => readMoment(text, machine.now(), field));
}

/** Adds `--as-of`, which shows what was stored at a moment of the past. */
export function addAsOfOption(command: CliCommand): CliCommand {
  const about = "as it was stored then: 7d or 12h ago, yesterday, monday, a date, a timestamp";
  return command.option("--as-of <when>", about, momentOption(command, AS_OF));
}

/** A duration such as `90s`, `15m`, `6h` or `2d`, in milliseconds. */
export function durationMs(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unitMs = { s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS }[match?.[2] ?? ""];
  if (match === null || unitMs === undefined) throw new InvalidArgumentError("It must be a number with a unit: 90s, 15m, 6h or 2d.");
  return Number(match[1]) * unitMs;
}

/** A parser of durations in milliseconds that are not shorter than `min`, such as "10s". */
export function durationAtLeast(min: string): (text: string) => number {
  return (text) => {
    const ms = durationMs(text);
    if (ms < durationMs(min)) throw new InvalidArgumentError(`It must be at least ${min}.`);
    return ms;
  };
}

/** A parser of lists, to which an option that is given again adds. */
export function parserOfList<Item>(read: (text: string) => Item[]): (text: string, earlier?: Item[]) => Item[] {
  const parse = parserOf(read);
  return (text, earlier = []) => [...new Set([...earlier, ...parse(text)])];
}

export const typesAmong = (allowed: readonly EventType[]) => parserOfList(readChoices(allowed));

export const sourceCodes = parserOfList((text) => readItems(text).map(upperCaseCode));
