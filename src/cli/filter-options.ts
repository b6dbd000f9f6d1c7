/** The filters as options of a command, and the file that `--match` names. */
import { Option } from "commander";
import { emptyRange, type FieldName, type Filter, fieldNames, fields, readFilter } from "../filter/filter.ts";
import { readText } from "../runtime/read-text.ts";
import { closest } from "../text/closest.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseJson } from "../text/json-value.ts";
import { BadValue } from "../text/read-value.ts";
import { type CliCommand, parserOf } from "./command.ts";

export type FilterOptions = { match?: string } & Record<string, unknown>;

/** Adds `--match` and an option for each filter, except those that the command already has. */
export function addFilterOptions(command: CliCommand): CliCommand {
  const present = new Set(command.options.map(({ long }) => long));
  for (const name of fieldNames) if (!present.has(flagOf(name))) command.addOption(optionOf(name));
  return command.option(
    "--match <file>",
    'a file of filters as JSON: {"status": ["open"], "closes_before": "30d"}; options replace its values',
  );
}

/** Adds the option that shows each record, not one of each opportunity. */
export function addAllSourcesOption(command: CliCommand): CliCommand {
  return command.option("--all-sources", "show every source's record of an opportunity, not one for all");
}

/** The filter that the options and the file of `--match` give. */
export function givenFilter(options: FilterOptions): Filter {
  const given = fieldNames.flatMap((name) => {
    const value = options[optionOf(name).attributeName()];
    return value === undefined ? [] : [[name, value]];
  });
  const { match } = options;
  const fromFile = match === undefined ? {} : readFilter(parseJson(readText(match, match === "-" ? 0 : undefined)), match);
  return { ...fromFile, ...Object.fromEntries(given) };
}

/** The arguments replace the words of a `--match` file. Invalid words, and words in both places, end the command with a usage error. */
export function withWords(command: CliCommand, filter: Filter, words: readonly string[]): Filter {
  const given = words.filter((word) => word.trim() !== "");
  if (given.length === 0) return filter;
  if (command.getOptionValue("words") !== undefined) command.error("error: give the words as arguments or with --words, not both");
  try {
    return { ...filter, words: fields.words.read(given) };
  } catch (error) {
    if (error instanceof BadValue) command.error(`error: the words ${error.message}`);
    throw error;
  }
}

/** Ends the command with a usage error if a range of the filter is empty now and, for a filter that is kept, still empty `later`. */
export function refuseEmptyRanges(command: CliCommand, filter: Filter, now: EpochMs, later = now): void {
  const empty = emptyRange(filter, now);
  if (empty === undefined || emptyRange(filter, later) === undefined) return;
  const { low, relation, high } = empty;
  command.error(`error: ${flagOf(low)} ${filter[low]} ${relation} ${flagOf(high)} ${filter[high]}`);
}

/** A word that begins with "--" was meant as an option. `elsewhere` has options of other commands, and what to use instead. */
export function refuseUnknownOptions(
  command: CliCommand,
  words: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  const unknown = words.find((word) => word.startsWith("--"));
  if (unknown === undefined) return;
  const name = unknown.replace(/=.*/, "");
  const known = command.options.map(({ long }) => long ?? "");
  if (known.includes(name)) command.error(`error: what follows -- are words; give option '${name}' before it`);
  if (elsewhere[name] !== undefined) command.error(`error: ${name} is not an option of ${command.name()}; ${elsewhere[name]}`);
  const meant = closest(name, known);
  command.error(`error: unknown option '${name}'${meant === undefined ? "" : `\n(Did you mean ${meant}?)`}`);
}

export function flagOf(name: string): string {
  return `--${name.replaceAll("_", "-")}`;
}

function optionOf(name: FieldName): Option {
  const { value: shown, help, read } = fields[name];
  const parse = parserOf<unknown>(read);
  return new Option(`${flagOf(name)} ${shown}`, help).argParser((text: string, previous: unknown) => {
    const value = parse(text);
    return Array.isArray(value) && Array.isArray(previous) ? [...new Set([...previous, ...value])] : value;
  });
}
