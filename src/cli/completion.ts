import type { Command } from "commander";
import type { Cli } from "./command.ts";
import { examples, type OutputOptions, printResult } from "./output.ts";

export function completionCommand(command: Command, cli: Cli): Command {
  return command
    .addHelpText(
      "after",
      examples(
        "source <(fundfeed completion)                  now; in ~/.bashrc from then on",
        "autoload -U +X bashcompinit && bashcompinit    first, in zsh",
      ),
    )
    .action((options: OutputOptions, self: Command) => {
      const bash = bashScript(self.parent ?? self);
      printResult(cli, options, { bash }, bash);
    });
}

/** The words before the cursor that are not options select the completions. */
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

/** The longest paths first, because the shell takes the first pattern that matches. */
function branches(path: string, command: Command): { path: string; words: string[] }[] {
  const words = [
    ...command.commands.map((member) => member.name()),
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ...command.options.map(({ long }) => long ?? ""),
    "--help",
  ];
  return [...command.commands.flatMap((member) => branches(`${path} ${member.name()}`, member)), { path, words }];
}
