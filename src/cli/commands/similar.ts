/** `fundfeed similar`: opportunities like one, and the other rounds of the same call. */

import { numberInWords } from "../../opportunities/number.ts";
import { UNLIMITED } from "../../search/budget.ts";
import { findSimilar } from "../../search/similar.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { wholeNumber } from "../arguments.ts";
import type { Cli, CliCommand } from "../command.ts";
import { withCatalog } from "../databases.ts";
import { addIdArgument, requireOpportunity } from "../one-opportunity.ts";
import { printResult, wrapped } from "../output.ts";
import { colorStyle, PLAIN_WIDTH, plainStyle } from "../results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import { similarLines, similarMembers } from "../similar-lines.ts";

export function similarCommand(finding: CliCommand, cli: Cli): CliCommand {
  addIdArgument(addSearchOptions(finding))
    .option("--limit <n>", "the most opportunities to show", wholeNumber(1, 50), 10)
    .examples("fundfeed similar PAR-25-270", "fundfeed similar eb7863be --json");
  return finding.action(async (text: string, options: SearchOptions & { limit: number }) => {
    await withCatalog(cli, options, async (catalog) => {
      const opportunity = await requireOpportunity(cli, options, catalog, text, "find what is like", "similar");
      const now = cli.machine.now();
      const found = await withSearchIndex(cli, options, catalog, (index) =>
        findSimilar(catalog, index, opportunity, options.limit, now, UNLIMITED),
      );
      const { columns, hasColors } = cli.machine.terminal() ?? { columns: PLAIN_WIDTH, hasColors: false };
      const heading = wrapped(`Like ${numberInWords(opportunity)}: ${oneLine(opportunity.title)}`, columns);
      const lines = [...heading, "", ...similarLines(found, now, columns, hasColors ? colorStyle : plainStyle)];
      printResult(cli, options, { id: opportunity.id, ...similarMembers(found) }, lines.join("\n"));
    });
  });
}
