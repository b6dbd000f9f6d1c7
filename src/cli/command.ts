/** What commands are built from: common options, and access to the databases. */
import { Command, Option } from "commander";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { type DatabaseLocation, openCatalogAt, openStateAt } from "../../db/open.ts";
import { isPostgresAddress, POSTGRES_ADDRESS } from "../../db/postgres/address.ts";
import type { Machine } from "../runtime/machine.ts";
import { nonBlank } from "./arguments.ts";
import { modeOf, modes } from "./modes.ts";
import type { OutputOptions } from "./output.ts";

/** One run of the program. A command sets `exitCode` if it is not 0. */
export type Cli = { machine: Machine; exitCode: number };

/** The options of a command that opens a database. */
export type CommonOptions = DatabaseLocation & OutputOptions;

/** A command with --json and, unless the table of modes says that it opens no database, --data and --database. `group` is as in `keys list`. */
export function command(name: string, description: string, group?: string): Command {
  const made = new Command(name).description(description).option("--json", "print one JSON document instead of text");
  if (modes[group === undefined ? name : `${group} ${name}`] === "nothing") return made;
  return made
    .addOption(new Option("--data <dir>", "data directory").env("FUNDFEED_DATA").default("fundfeed-data").argParser(nonBlank))
    .addOption(
      new Option(
        "--database <url>",
        "PostgreSQL database to use instead: postgres://host/name; put a URL with a password into the variable",
      ).env("FUNDFEED_DATABASE"),
    )
    .hook("preAction", (chosen) => {
      chooseLocation(chosen);
      chosen.setOptionValue("mode", modeOf(wordsOf(chosen)));
    });
}

/** A command's words: "keys list". */
export function wordsOf(command: Command): string {
  const group = command.parent;
  return group === null || group.parent === null ? command.name() : `${wordsOf(group)} ${command.name()}`;
}

/**
 * Options override the environment, so --data overrides FUNDFEED_DATABASE. If both are in the environment, the database is used: package
 * installations always set a data directory.
 */
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

/** A command that only has subcommands, such as `keys`. */
export function commandGroup(name: string, description: string, members: readonly Command[]): Command {
  const group = new Command(name).description(description);
  for (const member of members) group.addCommand(member);
  return group;
}

/** Opens the catalog, runs `work` and closes the catalog. Throws if the catalog cannot be opened. */
export async function withCatalog<T>({ machine }: Cli, location: DatabaseLocation, work: (db: CatalogDb) => Promise<T>): Promise<T> {
  const db = await openCatalogAt(location, machine.now(), { onMigrated: machine.printError });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Opens the state, runs `work` and closes the state. Throws if the state cannot be opened. */
export async function withState<T>({ machine }: Cli, location: DatabaseLocation, work: (db: StateDb) => Promise<T>): Promise<T> {
  const db = await openStateAt(location, machine.now(), { onMigrated: machine.printError });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** --redact-contacts. The environment has it too: an operator's policy must not depend on someone remembering an option. */
export const redactContactsOption = () =>
  new Option("--redact-contacts", "leave contacts, which are personal data, out of records and events (FUNDFEED_REDACT_CONTACTS=1)");

/** Whether contacts are left out, by the option or the environment. Throws if the variable is neither 1 nor 0. */
export function isRedactingContacts({ machine }: Cli, { redactContacts }: { redactContacts?: true }): boolean {
  const set = (machine.env.FUNDFEED_REDACT_CONTACTS ?? "").toLowerCase();
  if (!["", "0", "1", "false", "true"].includes(set))
    throw new Error(`Cannot read FUNDFEED_REDACT_CONTACTS: it must be 1 or 0, not "${set}"`);
  return redactContacts ?? (set === "1" || set === "true");
}
