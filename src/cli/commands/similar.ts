/** `fundfeed similar`: opportunities like one, and the other rounds of the same call. `show --similar` prints them, too. */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { dueOf, dueOnDay } from "../../opportunities/due.ts";
import { numberInWords, Opportunity, withoutSidecar } from "../../opportunities/opportunity.ts";
import { statusInWords } from "../../opportunities/status.ts";
import { UNLIMITED } from "../../search/budget.ts";
import { findSimilar, type Round, type Similar } from "../../search/similar.ts";
import { dateInWords } from "../../text/date-in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import { object } from "../../text/schema.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
import { addIdArgument, ID_BEGINNING, requireOpportunity } from "../one-opportunity.ts";
import { cut, indented, wrapped } from "../output.ts";
import { colorStyle, PLAIN_WIDTH, plainStyle, resultTable, type TableStyle } from "../results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";

export function similarCommand(finding: CliCommand): CliCommand {
  addIdArgument(addSearchOptions(finding))
    .option("--limit <n>", "the most opportunities to show", wholeNumber(1, 50), 10)
    .examples("fundfeed similar PAR-25-270", "fundfeed similar eb7863be --json");
  return finding.action(async (text: string, options: SearchOptions & { limit: number }) => {
    await finding.withCatalog(async (catalog) => {
      const opportunity = await requireOpportunity(finding, catalog, text, "find what is like", "similar");
      const now = finding.machine.now();
      const { limit } = options;
      const found = await withSearchIndex(finding, catalog, (index) => findSimilar(catalog, index, opportunity, limit, now, UNLIMITED));
      const { columns, hasColors } = finding.machine.terminal() ?? { columns: PLAIN_WIDTH, hasColors: false };
      const heading = wrapped(`Like ${numberInWords(opportunity)}: ${oneLine(opportunity.title)}`, columns);
      const lines = [...heading, "", ...similarLines(found, now, columns, hasColors ? colorStyle : plainStyle)];
      finding.print({ id: opportunity.id, ...similarMembers(found) }, lines.join("\n"));
    });
  });
}

const LABEL_WIDTH = 9;

export const SimilarMembers = object({
  words: Type.Array(Type.String(), { description: "The words that were looked for." }),
  similar: Type.Array(like({ shared_words: Type.Array(Type.String(), { description: "The distinctive words that both have." }) })),
  rounds: Type.Array(
    like({ is_earlier: Type.Boolean(), reason: Type.String({ description: "Why it is taken for another round of the same call." }) }),
  ),
});

function like<T extends TProperties>(members: T) {
  return Type.Composite([Opportunity, object(members)], { additionalProperties: false });
}

/** As members of JSON. */
export function similarMembers({ words, similar, rounds }: Similar): Static<typeof SimilarMembers> {
  return {
    words,
    similar: similar.map(({ opportunity, shared }) => ({ ...withoutSidecar(opportunity), shared_words: shared })),
    rounds: rounds.map(({ opportunity, isEarlier, reason }) => ({ ...withoutSidecar(opportunity), is_earlier: isEarlier, reason })),
  };
}

/** A table with the shared words below each line, the rounds, and the words that were looked for. */
export function similarLines({ words, similar, rounds }: Similar, now: EpochMs, width: number, style: TableStyle): string[] {
  const rows = similar.map(({ shared, ...other }) => ({ ...other, below: [cut(`shared: ${shared.join(", ")}`, width - 2)] }));
  return [
    similar.length === 0 ? "Nothing is like it" : resultTable(rows, now, width, style),
    ...(rounds.length === 0 ? [] : ["", "Other rounds of the same call, by title, agency and number"]),
    ...rounds.flatMap((round) => roundLines(round, now, width)),
    "",
    ...wrapped(`Looked for: ${words.join(", ")}`, width),
  ];
}

/** "earlier  PD-20-7236, posted Jun 6, 2025, due …, archived, id 1a2b3c4d". */
function roundLines({ opportunity, duplicates, isEarlier }: Round, now: EpochMs, width: number): string[] {
  const { dates, status, id } = opportunity;
  const dated = [
    dates.posted_at === null ? [] : `posted ${dateInWords(dates.posted_at)}`,
    dates.closes_at === null ? [] : dueOnDay(dueOf(opportunity, now, duplicates)),
  ].flat();
  const facts = [numberInWords(opportunity), ...dated, statusInWords(status), `id ${id.slice(0, ID_BEGINNING)}`].join(", ");
  return indented(oneLine(facts), "".padEnd(LABEL_WIDTH), (isEarlier ? "earlier" : "later").padEnd(LABEL_WIDTH), width);
}
