import type { Command } from "commander";
import { type AnyOptions, answer, type Cli, command, examples } from "./command.ts";

export function completionCommand(cli: Cli): Command {
  return command("completion", "Print a script that makes bash complete commands, options and formats")
    .addHelpText(
      "after",
      examples(
        "source <(fundfeed completion)                                     now; in ~/.bashrc from then on",
        "autoload -U +X bashcompinit && bashcompinit                       first, in zsh",
      ),
    )
    .action((options: AnyOptions, self: Command) => {
      const bash = bashScript(self.parent ?? self);
      answer(cli, options, { bash }, bash);
    });
}

/** What may come next is told by the words so far that are no options. */
function bashScript(program: Command): string {
  const cases = branches(program.name(), program).map(({ path, words }) => `    "${path}"|"${path} "*) words="${words.join(" ")}" ;;`);
  return `_fundfeed() {
  local path=fundfeed word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="$path $word" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _fundfeed fundfeed`;
}

/** The deepest first: the first that fits holds. */
function branches(path: string, command: Command): { path: string; words: string[] }[] {
  const words = [
    ...command.commands.map((member) => member.name()),
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ...command.options.map(({ long }) => long ?? ""),
    "--help",
  ];
  return [...command.commands.flatMap((member) => branches(`${path} ${member.name()}`, member)), { path, words }];
}
