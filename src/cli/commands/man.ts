/** The manual page fundfeed(1), in roff, from the table of commands. */
import { type Command, Help, type Option } from "commander";
import { version } from "../../runtime/version.ts";
import type { CliCommand } from "../command.ts";

export function manCommand(command: CliCommand): CliCommand {
  return command
    .examples("fundfeed man | man -l -", "fundfeed man | sudo tee /usr/local/share/man/man1/fundfeed.1 > /dev/null")
    .action(() => {
      const roff = pageOf(command.parent ?? command);
      command.print({ roff }, roff);
    });
}

const help = new Help();

const USES_SHOWN = 3;

const COMMON = ["--data", "--database", "--json"];

function pageOf(program: Command): string {
  const headings = Map.groupBy(program.commands, (command) => command.helpGroup());
  const sections = [...headings].flatMap(([heading, commands]) => [
    `.SH ${escaped(heading.replace(/:$/, "").toUpperCase())}`,
    ...leavesOf(commands).flatMap(sectionOf),
  ]);
  return [
    `.TH FUNDFEED 1 "" "fundfeed ${version}" "User Commands"`,
    ".SH NAME",
    `fundfeed \\- ${escaped(program.description().replace(/\.$/, ""))}`,
    ".SH SYNOPSIS",
    `${bold("fundfeed")} ${italic("command")} [${italic("options")}] [${italic("arguments")}]`,
    ".SH DESCRIPTION",
    ...textAfter(program),
    ".SH COMMON OPTIONS",
    `Every command has ${bold("--json")} and ${bold("--help")}. Every command that works on data has the others.`,
    ...commonOptions(program).flatMap(optionEntry),
    ...sections,
    ".SH ENVIRONMENT",
    "Options override variables. An empty variable counts as unset.",
    ...variables(program),
  ].join("\n");
}

function leavesOf(commands: readonly Command[]): Command[] {
  return commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]));
}

function commonOptions(program: Command): Option[] {
  const all = leavesOf(program.commands).flatMap(({ options }) => options);
  return COMMON.flatMap((long) => all.find((option) => option.long === long) ?? []);
}

function wordsOf(command: Command): string {
  return command.parent?.parent == null ? command.name() : `${command.parent.name()} ${command.name()}`;
}

function sectionOf(command: Command): string[] {
  const usage = command.usage().replaceAll(/\[options\] ?/g, "");
  const own = command.options.filter(({ long }) => !COMMON.includes(long ?? ""));
  return [
    `.SS ${escaped(`fundfeed ${wordsOf(command)} ${usage}`.trim())}`,
    escaped(`${command.description()}.`),
    ...command.registeredArguments.flatMap((each) => [".TP", italic(each.name()), escaped(help.argumentDescription(each))]),
    ...own.flatMap(optionEntry),
    ...textAfter(command),
  ];
}

function optionEntry(option: Option): string[] {
  return [".TP", bold(help.optionTerm(option)), escaped(help.optionDescription(option))];
}

function textAfter(command: Command): string[] {
  let text = "";
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut }).outputHelp();
  const after = text.slice(command.helpInformation().length).trim();
  return after === "" ? [] : [".PP", ".nf", ...after.split("\n").map(escaped), ".fi"];
}

function variables(program: Command): string[] {
  const named = leavesOf(program.commands).flatMap((command) =>
    command.options.flatMap(({ envVar, long }) => (envVar === undefined ? [] : [{ envVar, text: `${long} of ${wordsOf(command)}` }])),
  );
  return [...Map.groupBy(named, ({ envVar }) => envVar)]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .flatMap(([envVar, uses]) => {
      const texts = uses.map(({ text }) => text);
      return [
        ".TP",
        bold(envVar),
        escaped(texts.length > USES_SHOWN ? `${texts[0]?.split(" ")[0]} of all commands that have it` : texts.join(", ")),
      ];
    });
}

const font = (letter: "B" | "I") => (text: string) => `\\f${letter}${escaped(text)}\\fR`;
const [bold, italic] = [font("B"), font("I")];

/** A text without meaning to roff. An empty line stays one in a block that is not filled. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");
}
