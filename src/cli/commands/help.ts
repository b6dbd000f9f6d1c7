/** `fundfeed help`: a page of the manual, or the help of a command. */
import { INDEX, topicAsText, topicNamed, topics } from "../../manual/topics.ts";
import type { CliCommand } from "../command.ts";

const COLUMNS = 80;

export function helpCommand(command: CliCommand): CliCommand {
  return command
    .argument("[topic...]", "a topic, or a command such as watch add")
    .addHelpText(
      "after",
      "\nfundfeed help topics lists the pages of the manual, which match this version. up shows\nthem at /help. A word that is both is a topic: find --help has the options of find.",
    )
    .examples("fundfeed help topics", "fundfeed help find", "fundfeed help watch add")
    .action((words: string[], { json }: { json?: true }) => {
      const name = words.length === 1 && words[0] === "topics" ? INDEX : words.join(" ");
      const topic = topicNamed(name);
      if (topic !== undefined) {
        const { columns = COLUMNS, hasColors = false } = command.machine.terminal() ?? {};
        const body = { ...topic, ...(topic.name === INDEX && { topics: topics.map((each) => ({ name: each.name, title: each.title })) }) };
        if (json) command.print(body, "");
        else command.machine.printText(topicAsText(topic, Math.min(columns, COLUMNS), hasColors));
        return;
      }
      let described = command.parent ?? command;
      for (const word of words) {
        const next = described.commands.find((each) => each.name() === word);
        if (next === undefined)
          command.error(`error: no topic or command "${name}"; fundfeed help topics lists the topics, fundfeed --help the commands`);
        described = next;
      }
      described.outputHelp();
    });
}
