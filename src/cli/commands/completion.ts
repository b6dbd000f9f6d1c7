/** Completion of commands, options and their values, for three shells, from the table of commands. */
import { Argument, type Command, type Option } from "commander";
import { eventTypes } from "../../events/event.ts";
import { fieldNames, fields } from "../../filter/filter.ts";
import { formats } from "../../import/formats/all.ts";
import { changeTypes } from "../../watch/watch.ts";
import { oneWordOf } from "../arguments.ts";
import type { CliCommand } from "../command.ts";
import { flagOf } from "../filter-options.ts";
import { failureNames } from "./quality.ts";
import { clearable } from "./watch-save.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function completionCommand(command: CliCommand): CliCommand {
  return command
    .addArgument(oneWordOf(new Argument("[shell]", "the shell (default: bash)"), shells))
    .examples(
      "source <(fundfeed completion)            in bash; in ~/.bashrc for always",
      "source <(fundfeed completion zsh)        in zsh, after compinit; in ~/.zshrc",
      "fundfeed completion fish | source        in fish; in config.fish",
    )
    .action((shell: Shell = "bash") => {
      const script = scripts[shell](placesIn(command.parent ?? command));
      command.print({ [shell]: script }, script);
    });
}

type Word = { word: string; about: string };

/** What can follow the words of a command, and what can follow each of its options: values, or any text if there are none. */
type Place = {
  path: string;
  isGroup: boolean;
  words: readonly Word[];
  options: readonly (Word & { short: string | undefined; values: readonly string[] | undefined })[];
};

/** Values of options that take others, too, or lists of them; of one command, if it is named. Commander knows those of all other options. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(fieldNames.flatMap((name) => ("choices" in fields[name] ? [[flagOf(name), fields[name].choices ?? []]] : []))),
  "--source": formats.flatMap(({ source }) => source ?? []),
  "--type": eventTypes,
  "fundfeed watch add --type": changeTypes,
  "fundfeed watch set --type": changeTypes,
  "--clear": clearable,
  "--fail-on": failureNames,
};

/** The longest paths first: the shells take the first pattern that matches. */
function placesIn(command: Command, path = command.name()): Place[] {
  const members = command.commands.map((member) => ({ word: member.name(), about: member.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices, description }) =>
    (argChoices ?? []).map((word) => ({ word, about: description })),
  );
  const options = [
    ...command.options.map((option) => {
      return { word: option.long ?? "", short: option.short, about: option.description, values: valuesOf(option, path) };
    }),
    { word: "--help", short: "-h", about: "display help for command", values: undefined },
  ];
  const place = { path, isGroup: members.length > 0, words: [...members, ...choices], options };
  return [...command.commands.flatMap((member) => placesIn(member, `${path} ${member.name()}`)), place];
}

/** The values of an option; none if it takes any text, `undefined` if it takes none. */
function valuesOf(option: Option, path: string): readonly string[] | undefined {
  if (!option.required && !option.optional) return undefined;
  return option.argChoices ?? knownValues[`${path} ${option.long}`] ?? knownValues[option.long ?? ""] ?? [];
}

/** Lines of a shell's `case`: what follows each option that takes a value. */
function valueCases({ options }: Place, line: (word: string, values: readonly string[]) => string): string[] {
  return options.flatMap(({ word, short, values }) =>
    values === undefined ? [] : [line(short === undefined ? word : `${word}|${short}`, values)],
  );
}

/** A value with commas is a list: its last item is completed. Bash takes "=" for a word of its own. */
function bashScript(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const values = valueCases(place, (word, known) => `        ${word}) values="${known.join(" ")}" ;;`);
    const all = [...place.words, ...place.options].map(({ word }) => word).join(" ");
    return [
      `    "${place.path}"|"${place.path} "*)`,
      '      case "$before" in',
      ...values,
      `        *) words="${all}" ;;`,
      "      esac ;;",
    ].join("\n");
  });
  return `_fundfeed() {
  local path=fundfeed word words= values= items= now="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  if [ "$now" = = ]; then now=; elif [ "$before" = = ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*|=) ;; *) path="$path $word" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  case "$now" in *,*) items="\${now%,*}," ;; esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -P "$items" -W "$values" -- "\${now##*,}")); else COMPREPLY=($(compgen -W "$words" -- "$now")); fi
}
complete -o default -F _fundfeed fundfeed`;
}

function zshScript(places: readonly Place[]): string {
  const described = ({ word, about }: Word) => quoted(`${word.replaceAll(":", "\\:")}:${about}`);
  const cases = places.map((place) => {
    const values = valueCases(place, (word, known) =>
      known.length === 0
        ? `        ${word}) _files; return ;;`
        : `        ${word}) compset -P '*,'; compadd -- ${known.join(" ")}; return ;;`,
    );
    const all = [...place.words, ...place.options].map(described).join(" ");
    return [
      `    ("${place.path}"|"${place.path} "*)`,
      '      case "$words[CURRENT-1]" in',
      ...values,
      "      esac",
      `      found=(${all}) ;;`,
    ].join("\n");
  });
  return `#compdef fundfeed
compdef _fundfeed fundfeed
_fundfeed() {
  local place=fundfeed word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || place="$place $word"
  done
  case "$place" in
${cases.join("\n")}
  esac
  _describe fundfeed found || _files
}
if [ "$funcstack[1]" = _fundfeed ]; then _fundfeed; fi`;
}

/** Fish has a rule for each word: whether it can come is asked of a function with the words before it. */
function fishScript(places: readonly Place[]): string {
  const rules = places.flatMap(({ path, isGroup, words, options }) => {
    const at = `complete -c fundfeed -n '__fundfeed_${isGroup ? "is" : "in"} "${path}"'`;
    return [
      ...words.map(({ word, about }) => `${at} -f -a ${word} -d ${quoted(about)}`),
      ...options.map(({ word, short, about, values }) => {
        const rest = values === undefined ? "" : values.length === 0 ? " -r" : ` -x -a '(__fundfeed_items ${values.join(" ")})'`;
        const names = short === undefined ? `-l ${word.slice(2)}` : `-s ${short.slice(1)} -l ${word.slice(2)}`;
        return `${at} ${names}${rest} -d ${quoted(about)}`;
      }),
    ];
  });
  return `function __fundfeed_words
  set -l place fundfeed
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; or set -a place $word
  end
  echo $place
end
function __fundfeed_is
  test (__fundfeed_words) = $argv[1]
end
function __fundfeed_in
  string match -q -- "$argv[1] *" (__fundfeed_words)' '
end
function __fundfeed_items
  set -l items (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '^.*,')
  printf '%s\\n' "$items"$argv
end
${rules.join("\n")}`;
}

/** A text in single quotes. Zsh and fish escape a quote in it differently, so it becomes an apostrophe. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
