/** What every command shares: its options, its databases, its ways of answering. */
import { type Argument, Command, InvalidArgumentError, Option } from "commander";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { type DatabaseLocation, openCatalogAt, openStateAt } from "../../db/open.ts";
import { isPostgresAddress, POSTGRES_ADDRESS } from "../../db/postgres/address.ts";
import type { Machine } from "../runtime/machine.ts";
import { closest } from "../text/closest.ts";
import { formatInstant, parseStoredMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { modeOf, modes } from "./modes.ts";

export type Cli = { machine: Machine; exitCode: number };

export type AnyOptions = { json?: true | undefined };

/** Of a command that opens a database. */
export type CommonOptions = DatabaseLocation & AnyOptions;

/** A command with the options that all have, and those that say where its databases are, if it opens any. */
export function command(name: string, about: string): Command {
  const made = new Command(name).description(about).option("--json", "print one JSON document instead of text");
  if (modes[name] === "nothing") return made;
  return made
    .addOption(new Option("--data <dir>", "data directory").env("FUNDFEED_DATA").default("fundfeed-data").argParser(nonBlank))
    .addOption(
      new Option("--database <url>", "a PostgreSQL database instead: postgres://host/name; with a password, rather by the environment").env(
        "FUNDFEED_DATABASE",
      ),
    )
    .hook("preAction", (chosen) => {
      choosePlace(chosen);
      chosen.setOptionValue("mode", modeOf(wordsOf(chosen)));
    });
}

/** A command as a person names it: "keys list". */
export function wordsOf(command: Command): string {
  const group = command.parent;
  return group === null || group.parent === null ? command.name() : `${wordsOf(group)} ${command.name()}`;
}

/** The command line comes before the environment; there --database does, since installations name a data directory anyway. */
function choosePlace(command: Command): void {
  const given = (name: string) => command.getOptionValueSource(name) === "cli";
  if (given("data") && given("database")) command.error("error: --data and --database are two places; give one of them");
  if (given("data")) command.setOptionValue("database", undefined);
  requirePostgresAddress(command, "--database", command.opts<CommonOptions>().database);
}

/** Not by an argParser, whose refusal repeats what was given: that may hold a password. */
export function requirePostgresAddress(command: Command, option: string, url: string | undefined): void {
  if (url !== undefined && !isPostgresAddress(url)) command.error(`error: ${option} must be ${POSTGRES_ADDRESS}`);
}

/** A command that only holds others: `keys list`. */
export function commandGroup(name: string, about: string, members: readonly Command[]): Command {
  const group = new Command(name).description(about);
  for (const member of members) group.addCommand(member);
  return group;
}

export async function withCatalog<T>({ machine }: Cli, location: DatabaseLocation, work: (db: CatalogDb) => Promise<T>): Promise<T> {
  const db = await openCatalogAt(location, machine.now(), { onMigrated: machine.printError });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

export async function withState<T>({ machine }: Cli, location: DatabaseLocation, work: (db: StateDb) => Promise<T>): Promise<T> {
  const db = await openStateAt(location, machine.now(), { onMigrated: machine.printError });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** An option that is a standing order: one may forget it on a command line, so the environment gives it, too. */
export const redactContactsOption = () =>
  new Option("--redact-contacts", "keep contacts, which are personal data, out of records and events (FUNDFEED_REDACT_CONTACTS=1)");

export function redactsContacts({ machine }: Cli, { redactContacts }: { redactContacts?: true }): boolean {
  const set = (machine.env.FUNDFEED_REDACT_CONTACTS ?? "").toLowerCase();
  if (!["", "0", "1", "false", "true"].includes(set))
    throw new Error(`Cannot read FUNDFEED_REDACT_CONTACTS: it must be 1 or 0, not "${set}"`);
  return redactContacts ?? (set === "1" || set === "true");
}

/** Answers with the value as JSON where that is asked for, with the text otherwise. */
export function answer({ machine }: Cli, { json }: AnyOptions, value: unknown, text: string): void {
  machine.printLine(json ? JSON.stringify(value, null, 2) : text);
}

/** Columns aligned under their names; numbers to the right. */
export function table(rows: readonly Record<string, string | number | null>[], empty: string): string {
  const [first] = rows;
  if (first === undefined) return empty;
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => shown(row[name] ?? null)));
  const widths = names.map((name, column) => Math.max(name.length, ...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const numeric = names.map((name) => rows.every((row) => typeof row[name] !== "string") && rows.some((row) => row[name] !== null));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const blanks = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
        return numeric[column] ? blanks + cell : cell + blanks;
      })
      .join("  ")
      .trimEnd();
  return [line(names.map((name) => name.replaceAll("_", " "))), ...cells.map(line)].join("\n");
}

/** Instants to the second, for people; `--json` has them whole. */
function shown(cell: string | number | null): string {
  if (cell === null) return "–";
  return typeof cell === "number" ? cell.toLocaleString("en-US") : toSecond(oneLine(cell));
}

/** An instant for people; other text as it is. */
export function toSecond(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z$/, "$1 $2Z");
}

/** The end of a help: command lines to begin with. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** One of a few words, as an argument's parser; commander would not say which one was meant. */
export function oneOf(argument: Argument, words: readonly string[]): Argument {
  return argument.choices(words).argParser((text) => {
    if (words.includes(text)) return text;
    const meant = closest(text, words);
    throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.${meant === undefined ? "" : `\n(Did you mean ${meant}?)`}`);
  });
}

/** A whole number from `min` to `max`, as an option's or argument's parser. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return number;
  };
}

/** Any text but a blank one. */
export function nonBlank(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be blank.");
  return text;
}

/** A public base address, without the slash at its end. */
export function baseAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username + url.password !== "") {
    throw new InvalidArgumentError("It must be an http or https address without query and password, such as https://api.example.org/v1.");
  }
  const address = text.replace(/\/+$/, "");
  if (!address.endsWith("/v1")) throw new InvalidArgumentError("It must end in /v1, such as https://api.example.org/v1.");
  return address;
}

/** An RFC 3339 timestamp, in milliseconds since 1970 UTC. */
export function timestamp(text: string): number {
  const ms = parseStoredMs(text);
  if (ms === undefined) throw new InvalidArgumentError("It must be an RFC 3339 timestamp with an offset such as 2026-01-31T17:00:00Z.");
  return ms;
}

/** A length of time such as `90s`, `15m`, `6h` or `2d`, in milliseconds. */
export function duration(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match?.[2] ?? ""];
  if (match === null || unitMs === undefined) throw new InvalidArgumentError("It must be a number with a unit: 90s, 15m, 6h or 2d.");
  return Number(match[1]) * unitMs;
}

/** A duration that is at least another, such as "10s". */
export function durationFrom(least: string): (text: string) => number {
  return (text) => {
    const ms = duration(text);
    if (ms < duration(least)) throw new InvalidArgumentError(`It must be at least ${least}.`);
    return ms;
  };
}

export function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : formatInstant(ms);
}

/** "3 hours" and the like, for people. */
export function inWords(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
    [1000, "second"],
  ];
  for (const [size, name] of units) {
    const count = Math.floor(ms / size);
    if (count >= 2 || (count === 1 && size === 1000)) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return "0 seconds";
}
