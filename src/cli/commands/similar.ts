/** `fundfeed similar`: opportunities like one, and the other rounds of the same call. */
import { statusInWords } from "../../events/in-words.ts";
import { type WholeOpportunity, withoutSidecar } from "../../opportunities/opportunity.ts";
import { numberInWords } from "../../search/number.ts";
import { findSimilar, type Round, type Similar } from "../../search/similar.ts";
import { dateInWords } from "../../text/date-in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { wholeNumber } from "../arguments.ts";
import type { Cli, CliCommand } from "../command.ts";
import { withCatalog } from "../databases.ts";
import { addIdArgument, ID_BEGINNING, requireOpportunity } from "../one-opportunity.ts";
import { cut, printResult, wrapped } from "../output.ts";
import { colorStyle, PLAIN_WIDTH, plainStyle, resultTable, type TableStyle } from "../results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";

export function similarCommand(finding: CliCommand, cli: Cli): CliCommand {
  addIdArgument(addSearchOptions(finding))
    .option("--limit <n>", "the most opportunities to show", wholeNumber(1, 50), 10)
    .examples("fundfeed similar PAR-25-270", "fundfeed similar eb7863be --json");
  return finding.action(async (text: string, options: SearchOptions & { limit: number }) => {
    await withCatalog(cli, options, async (catalog) => {
      const opportunity = await requireOpportunity(cli, options, catalog, text, "find what is like", "similar");
      const now = cli.machine.now();
      const found = await withSearchIndex(cli, options, catalog, (index) => findSimilar(catalog, index, opportunity, options.limit, now));
      const { columns, hasColors } = cli.machine.terminal() ?? { columns: PLAIN_WIDTH, hasColors: false };
      printResult(cli, options, jsonOf(opportunity, found), page(opportunity, found, now, columns, hasColors ? colorStyle : plainStyle));
    });
  });
}

function jsonOf(opportunity: WholeOpportunity, { words, similar, rounds }: Similar) {
  return {
    id: opportunity.id,
    words,
    similar: similar.map((each) => ({ ...withoutSidecar(each.opportunity), shared_words: each.shared })),
    rounds: rounds.map(({ opportunity: round, isEarlier, reason }) => ({ ...withoutSidecar(round), is_earlier: isEarlier, reason })),
  };
}

function page(opportunity: WholeOpportunity, { words, similar, rounds }: Similar, now: EpochMs, width: number, style: TableStyle): string {
  const rows = similar.map((each) => ({ opportunity: each.opportunity, below: [cut(`shared: ${each.shared.join(", ")}`, width - 2)] }));
  return [
    ...wrapped(`Like ${numberInWords(opportunity)}: ${oneLine(opportunity.title)}`, width),
    "",
    similar.length === 0 ? "Nothing is like it" : resultTable(rows, now, width, style),
    ...(rounds.length === 0 ? [] : ["", "Other rounds of the same call, by title, agency and number"]),
    ...rounds.flatMap((round) => roundLines(round, width)),
    "",
    ...wrapped(`Looked for: ${words.join(", ")}`, width),
  ].join("\n");
}

/** "earlier  PD-20-7236, posted Jun 6, 2025, due …, archived, id 1a2b3c4d". */
function roundLines({ opportunity, isEarlier }: Round, width: number): string[] {
  const { dates, status, id } = opportunity;
  const dated = [
    dates.posted_at === null ? [] : `posted ${dateInWords(dates.posted_at)}`,
    dates.closes_at === null ? [] : `due ${dateInWords(dates.closes_at)}`,
  ].flat();
  const facts = [numberInWords(opportunity), ...dated, statusInWords(status), `id ${id.slice(0, ID_BEGINNING)}`].join(", ");
  return wrapped(oneLine(facts), width - LABEL_WIDTH).map(
    (line, n) => (n > 0 ? "" : isEarlier ? "earlier" : "later").padEnd(LABEL_WIDTH) + line,
  );
}

const LABEL_WIDTH = 9;
