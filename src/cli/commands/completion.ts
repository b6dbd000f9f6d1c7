/** Completion of commands, options and their values, for three shells, from the table of commands. */
import { Argument, type Command, type Option } from "commander";
import { eventTypes } from "../../events/event.ts";
import { fieldNames, fields } from "../../filter/filter.ts";
import { formats } from "../../import/formats/all.ts";
import { changeTypes } from "../../watch/watch.ts";
import { type CliCommand, oneWordOf } from "../command.ts";
import { flagOf } from "../filter-options.ts";
import { failureNames } from "./quality.ts";
import { clearable } from "./watch-save.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** Each asks the program at every Tab, so that a new version completes its own words. Without any, it completes files. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_fundfeed() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _fundfeed fundfeed`,
  zsh: `#compdef fundfeed
compdef _fundfeed fundfeed
_fundfeed() {
  local -a found
  found=(\${(f)"$("$words[1]" completion zsh -- "\${(@)words[2,CURRENT]}" 2> /dev/null)"})
  (( $#found )) && _describe fundfeed found || _files
}
if [ "$funcstack[1]" = _fundfeed ]; then _fundfeed; fi`,
  fish: `function __fundfeed_finds
  set -l line (commandline -opc)
  set -g __fundfeed_found ($line[1] completion fish -- $line[2..] "$(commandline -ct)" 2> /dev/null)
  set -q __fundfeed_found[1]
end
complete -c fundfeed -f -n __fundfeed_finds -a '$__fundfeed_found'`,
};

const separators: Readonly<Record<Shell, string | undefined>> = { bash: undefined, zsh: ":", fish: "\t" };

export function completionCommand(command: CliCommand): CliCommand {
  return command
    .addArgument(oneWordOf(new Argument("[shell]", "the shell (default: bash)"), shells))
    .argument("[words...]", "after --, the words of a line: prints what its last word can become, for the script")
    .examples(
      "source <(fundfeed completion)            in bash; in ~/.bashrc for always",
      "source <(fundfeed completion zsh)        in zsh, after compinit; in ~/.zshrc",
      "fundfeed completion fish | source        in fish; in config.fish",
    )
    .action((shell: Shell = "bash", line: string[]) => {
      if (line.length === 0) return command.print({ [shell]: scripts[shell] }, scripts[shell]);
      const [found, separator] = [completionsOf(command.parent ?? command, line), separators[shell]];
      const lines = found.map(({ word, about }) => (separator === undefined ? word : `${word}${separator}${about}`));
      if (lines.length > 0) command.print(found, lines.join("\n"));
    });
}

type Word = { word: string; about: string };

/** Values of options that take others, too, or lists of them; of one command, if it is named. Commander knows those of all other options. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(fieldNames.flatMap((name) => ("choices" in fields[name] ? [[flagOf(name), fields[name].choices ?? []]] : []))),
  "--source": formats.flatMap(({ source }) => source ?? []),
  "--type": eventTypes,
  "watch add --type": changeTypes,
  "watch set --type": changeTypes,
  "--clear": clearable,
  "--fail-on": failureNames,
};

/** What the last word of a line can become. A value with commas is a list: its last item is completed. Bash takes "=" for a word of its own. */
function completionsOf(program: Command, line: readonly string[]): Word[] {
  const words = line.at(-1) === "=" ? [...line, ""] : line;
  const [last = "", ...others] = words.filter((word) => word !== "=").toReversed();
  const [items = "", name] = /^(?:(--[\w-]+)=)?(?:.*,)?/.exec(last) ?? [];
  const before = name ?? others[0];
  const path = others.toReversed().filter((word) => !word.startsWith("-"));
  const command = path.reduce((found, word) => found.commands.find((each) => each.name() === word) ?? found, program);
  const option = command.options.find(({ long, short }) => before !== undefined && [long, short].includes(before));
  const all = option?.required
    ? valuesOf(option, command).map((value) => ({ word: items + value, about: option.description }))
    : wordsOf(command);
  return all.filter(({ word }) => word.startsWith(last));
}

function wordsOf({ commands, registeredArguments, options }: Command): Word[] {
  return [
    ...commands.map((member) => ({ word: member.name(), about: member.description() })),
    ...registeredArguments.flatMap(({ argChoices = [], description }) => argChoices.map((word) => ({ word, about: description }))),
    ...options.map(({ long = "", description }) => ({ word: long, about: description })),
    { word: "--help", about: "display help for command" },
  ];
}

function valuesOf({ argChoices, long }: Option, command: Command): readonly string[] {
  return argChoices ?? knownValues[`${command.parent?.name()} ${command.name()} ${long}`] ?? knownValues[long ?? ""] ?? [];
}
