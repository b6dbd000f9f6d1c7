/** Parsers of options and arguments. Each throws commander's InvalidArgumentError, which ends the program with a usage error. */
import { type Argument, type Command, InvalidArgumentError } from "commander";
import type { EventType } from "../events/event.ts";
import { uriReference } from "../http/query-text.ts";
import { BadValue } from "../text/bad-value.ts";
import { closest } from "../text/closest.ts";
import { DAY_MS, HOUR_MS } from "../text/instant.ts";
import { AS_OF, type MomentField, readMoment } from "../text/moment.ts";
import { readChoices, readInteger, readItems } from "../text/read-value.ts";
import { upperCaseCode } from "../text/source-code.ts";
import type { CliCommand } from "./command.ts";

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
