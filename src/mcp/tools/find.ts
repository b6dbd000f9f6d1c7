/** The tool `find`: opportunities by words and filters, a page at a time. */
import { type Static, Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import { describeFilter } from "../../filter/filter.ts";
import { AlsoAt } from "../../opportunities/related.ts";
import { contactsErasedInWords } from "../../past/in-words.ts";
import { NoSuchPast, PastNotReady } from "../../past/kept-past.ts";
import { ENDED_EARLY } from "../../search/budget.ts";
import { dropInWords, resultCountsInWords } from "../../search/result-counts.ts";
import { defaultSort, sorts } from "../../search/search.ts";
import { understoodInWords } from "../../search/understood.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { allSourcesArgument, choice, cursorArgument, filterAmong, filterArguments, limit, past, pastInstant } from "../arguments.ts";
import type { FoundMatches, ToolCall, ToolQueries } from "../queries.ts";
import { OpportunityRow, rowOf } from "../rows.ts";
import { quotedNumber, stateInWords, upstreamTexts } from "../upstream-text.ts";
import { listStatement, onlyGiven, readPaged, type Tool, type ToolContext } from "./tool.ts";
import { alsoAtInLine, TWINS, twinLines } from "./twins.ts";

const [FOUND_DEFAULT, FOUND_MAX] = [10, 50];

const FoundRow = Type.Composite(
  [
    OpportunityRow,
    object({
      match: nullable(Type.String()),
      missing_words: Type.Array(Type.String()),
      also_at: Type.Array(AlsoAt),
    }),
  ],
  { additionalProperties: false },
);

export function findTool({ queries, tool }: ToolContext): Tool {
  return tool({
    name: "find",
    title: "Find opportunities",
    action: "find",
    description:
      "Finds US federal funding opportunities (grants, contracts, SBIR/STTR topics, prizes) by words and filters. Ask in plain words: those that have most of them come first, " +
      "and `missing_words` says what a result lacks. All filters must hold; of a list, one value. " +
      "Every status is found unless `status` is given. A time is `30d` (30 days from now), `-7d`, a date or a timestamp: closing within 60 days is " +
      '`closes_after: "0d"` and `closes_before: "60d"`. One that states no date or amount does not meet a filter on it. Long texts are cut; `get` has them whole.',
    arguments: {
      ...filterArguments,
      all_sources: allSourcesArgument,
      sort: choice(sorts, "Default: relevance with words, else updated. In another order, every word must occur."),
      limit: limit(FOUND_DEFAULT, FOUND_MAX),
      as_of: past("As found then: 7d, a date."),
      cursor: cursorArgument,
    },
    data: {
      results: Type.Array(FoundRow),
      twins: Type.Integer({ description: TWINS }),
      as_of: nullable(Type.String({ format: "date-time" })),
      notes: Type.Array(Type.String(), { description: "How the words were read, what was found, and what to try if nothing was." }),
    },
    run: async (values, call) => {
      const { as_of } = values;
      const instantOf = (now: EpochMs) => pastInstant(as_of, now);
      const filter = filterAmong("find", values, instantOf(call.now) ?? call.now);
      const sort = values.sort ?? defaultSort(filter);
      const { all_sources } = values;
      const allSources = all_sources ?? false;
      const applied = { ...filter, ...onlyGiven({ all_sources, as_of }), sort, limit: values.limit ?? FOUND_DEFAULT };
      const told = new Set<string>();
      const paged = await readPaged({ tool: "find", filter, sort, allSources, as_of }, applied.limit, values.cursor, call, {
        read: async (limit, after, call) => {
          const asOf = instantOf(call.now);
          const page = await pageOf(queries, { filter, sort, allSources, limit, after }, asOf, call);
          for (const sentence of toldOf(page)) told.add(sentence);
          return page;
        },
        show: ({ opportunity, match, missing, alsoAt }) => ({
          ...rowOf(opportunity),
          match,
          missing_words: [...missing],
          also_at: alsoAt,
        }),
      });
      const { items, now, twins = 0 } = paged;
      const asOf = instantOf(now);
      const said = listStatement(
        paged,
        applied,
        [...describeFilter(filter, asOf ?? now), `sorted by ${sort}`],
        upstreamTexts(FoundRow, "results[]"),
      );
      const lines = items.map((row, n) => `${n + 1}. ${lineOf(row, asOf ?? call.now)}`);
      const notes = [...told];
      const instant = asOf === undefined ? null : formatInstant(asOf);
      const data = { results: items, twins, as_of: instant, notes };
      if (instant !== null) lines.unshift(`As of ${instant}`);
      return { data, lines: [...lines, ...notes, ...twinLines(twins, "record")], said };
    },
  });
}

/** Throws a Failure that says why what was found at an instant is not known. */
async function pageOf(
  queries: ToolQueries,
  request: Parameters<ToolQueries["find"]>[0],
  asOf: EpochMs | undefined,
  call: ToolCall,
): Promise<FoundMatches> {
  if (asOf === undefined) return queries.find(request, call);
  const cannot = `Cannot find as of ${formatInstant(asOf)}`;
  if (asOf > call.now) throw new Failure(`${cannot}: that is still to come`);
  try {
    return await queries.findPast(request, asOf, call);
  } catch (error) {
    if (error instanceof NoSuchPast) throw new Failure(`${cannot}: ${error.message}`);
    if (error instanceof PastNotReady)
      throw new Failure(`${cannot} yet: ${error.message}. Call again in a few seconds, with as_of "${formatInstant(asOf)}"`);
    throw error;
  }
}

/** How the question was understood, what the results are, and what to try if there are none. */
function toldOf({ understood, counts, drop, isWhole, erased = 0 }: FoundMatches): string[] {
  return [
    ...(isWhole ? [] : [ENDED_EARLY]),
    ...(understood === null ? [] : understoodInWords(understood)),
    ...(counts === null ? [] : [resultCountsInWords(counts)]),
    ...dropInWords(drop),
    ...(erased === 0 ? [] : [contactsErasedInWords(erased)]),
  ].filter((sentence) => sentence !== "");
}

function lineOf({ id, title, number, agency, also_at, ...row }: Static<typeof FoundRow>, now: EpochMs): string {
  const by = agency === null ? "no agency stated" : quoted(agency);
  return `${quoted(title)}; ${quotedNumber(number)}; ${by}; ${stateInWords(row, now)}; ${alsoAtInLine(also_at, row.status)}id ${id}`;
}
