/** What happens if an option is given twice, or has a blank value. */
import { describe, expect, test } from "bun:test";
import type { Command, Option } from "commander";
import { wholeProgram } from "../support/commands.ts";

/** The options whose value is a list. Each other option takes one value. */
const LISTS = [
  "--id",
  "--status",
  "--source",
  "--agency",
  "--program-type",
  "--naics",
  "--psc",
  "--listing",
  "--set-aside",
  "--applicant",
  "--place",
  "--type",
  "--clear",
  "--fail-on",
  "--mail-to",
  "--remind",
];

/** Values for the options without choices, by how the help shows them. */
const VALUES: Readonly<Record<string, string>> = {
  "<n>": "8",
  "<percent>": "8",
  "<when>": "2199-01-31T17:00:00Z",
  "<timestamp>": "2026-01-31T17:00:00Z",
  "<duration>": "1d",
  "<amount>": "500k",
  "<url>": "https://api.example.org/v1",
  "<hosts>": "logic.azure.com",
  "<statuses>": "open",
  "<types>": "grant",
  "<codes>": "93",
  "<kinds>": "tribe",
  "<places>": "TX",
  "<address>": "ann@example.org",
  "<zone>": "UTC",
  "<filters>": "status",
  "<sources>": "none",
  "<days>": "14d,3d",
  "<what...>": "rejected",
};

const program = await wholeProgram();
const commands = [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)];
const options = commands.flatMap((command) =>
  command.options.filter(({ required, optional }) => required || optional).map((option) => ({ command, option })),
);

function sample({ argChoices, flags }: Option): string {
  const [name, way] = flags.split(" ");
  if (name === "--id") return "937b71ab-7cd6-5c2b-815e-a8b27875b083";
  if (name === "--type") return "date_changed";
  if (name === "--since" || name === "--as-of") return "2020-01-31T17:00:00Z"; // Moments of the past.
  if (name === "--every" && way === "<when>") return "monday 08:00";
  return argChoices?.[0] ?? VALUES[flags.slice(flags.indexOf("<"))] ?? "x";
}

/** What the command says of an option that is given twice; `undefined` if it takes both values. */
function saysOfTwo(command: Command, option: Option): string | undefined {
  const value = sample(option);
  try {
    command.parseOptions([option.long ?? "", value, option.long ?? "", value]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : `${error}`;
  }
}

describe("an option that is given twice", () => {
  test.each(options.map(({ command, option }) => [`${command.name()} ${option.long}`, command, option] as const))(
    "%s",
    (_, command, option) => {
      const isList = LISTS.includes(option.long ?? "");
      const refusal = `error: option '${option.flags}' takes one value, and must be given once`;
      expect(saysOfTwo(command, option)).toBe(isList ? undefined : refusal);
    },
  );
});

test("each option and argument but lists of words, names, entries, topics and files refuses a blank value", () => {
  const taking = options.filter(({ command, option }) => {
    try {
      command.parseOptions([option.long ?? "", " "]);
      return true;
    } catch {
      return false;
    }
  });
  expect(taking.map(({ command, option }) => `${command.name()} ${option.long}`)).toEqual([]);
  const lists = commands.flatMap(({ registeredArguments }) => registeredArguments).filter(({ parseArg }) => parseArg === undefined);
  expect([...new Set(lists.map((each) => `${each.name()}, ${each.variadic}`))].sort()).toEqual([
    "entries, true",
    "file, true",
    "names, true",
    "topic, true",
    "words, true",
  ]);
});
