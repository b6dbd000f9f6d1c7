/** The tool `find`: opportunities by words and filters, a page at a time. */
import { type Static, Type } from "@sinclair/typebox";
import { describeFilter, type Filter } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { AlsoAt, alsoAt, statusThere } from "../../opportunities/related.ts";
import { ENDED_EARLY } from "../../search/budget.ts";
import { COUNTED_MAX } from "../../search/candidates.ts";
import { hinderedSentence } from "../../search/hindered.ts";
import { applicantsSentence } from "../../search/in-words.ts";
import { dropInWords, resultCountsInWords } from "../../search/result-counts.ts";
import { defaultSort, type SearchPage, type Sort, searchFrom, sorts } from "../../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../../search/snippet.ts";
import { matchedElsewhere, preferencesInWords, readingInWords } from "../../search/understood.ts";
import type { EpochMs } from "../../text/instant.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { choice, integer } from "../../text/value.ts";
import { allSourcesArgument, cursorArgument, filterAmong, filterArguments } from "../arguments.ts";
import { OpportunityRow, rowOf } from "../rows.ts";
import { codeInWords, quotedNumber, stateInWords, upstreamTexts } from "../upstream-text.ts";
import { DUPLICATES, duplicateLines, listStatement, onlyGiven, readPaged, tool } from "./tool.ts";

const [FOUND_DEFAULT, FOUND_MAX] = [10, 50];

const FoundRow = Type.Composite(
  [
    OpportunityRow,
    object({
      match: nullable(Type.String()),
      missing_words: Type.Array(Type.String()),
      is_match: Type.Boolean(),
      also_at: Type.Array(AlsoAt),
    }),
  ],
  { additionalProperties: false },
);

export const findTool = tool({
  name: "find",
  title: "Find opportunities",
  action: "find",
  description:
    "Finds US federal funding opportunities (grants, contracts, SBIR/STTR topics, prizes). What has all `words` comes first, " +
    "then what has most; `missing_words` says what it lacks. All filters must hold; of a list, one value. " +
    "Every status is found unless `status` is given. A time is `30d` (30 days from now), `-7d`, a date or a timestamp: closing within 60 days is " +
    '`closes_after: "0d"` and `closes_before: "60d"`. One that states no date or amount does not meet a filter on it. Long texts are cut; `get` has them whole.',
  arguments: {
    ...filterArguments,
    all_sources: allSourcesArgument,
    sort: choice(sorts, "Default: relevance with words, else updated. Another order has only what matches."),
    limit: integer(1, FOUND_MAX, FOUND_DEFAULT),
    cursor: cursorArgument,
  },
  data: {
    results: Type.Array(FoundRow),
    matching: Type.Integer(),
    partial: Type.Integer(),
    duplicates: Type.Integer({ description: DUPLICATES }),
    notes: Type.Array(Type.String(), { description: "How the words were read, and arguments to try." }),
  },
  run: async (values, call) => {
    const filter = filterAmong("find", values, call.now);
    const sort = values.sort ?? defaultSort(filter);
    const { all_sources } = values;
    const allSources = all_sources ?? false;
    const applied = { ...filter, ...onlyGiven({ all_sources }), sort, limit: values.limit ?? FOUND_DEFAULT };
    const resolved = await resolveFilter(call.catalog, filter, "find opportunities of");
    const found = new Set<string>();
    let matched = { matching: 0, partial: 0 };
    const paged = await readPaged({ tool: "find", filter, sort, allSources }, applied.limit, values.cursor, call, {
      read: async (limit, after, call) => {
        const request = { filter: resolved, sort, allSources, limit, countAtMost: COUNTED_MAX + 1 };
        const place = { now: Math.trunc(call.now), keys: after };
        const page = await call.withIndex(call.now, (index) => searchFrom(call.catalog, index, request, place));
        for (const sentence of notesOf(page, sort, call.now)) found.add(sentence);
        matched = { matching: page.matching, partial: page.partial };
        return { ...page, items: page.results, total: page.isWhole && page.total <= COUNTED_MAX ? page.total : null };
      },
      show: ({ opportunity, snippet, isMatch, missing, duplicates }) => ({
        ...rowOf(opportunity, call.now, duplicates),
        match: snippet?.replaceAll(MATCH_BEGIN, "[").replaceAll(MATCH_END, "]") ?? null,
        missing_words: [...missing],
        is_match: isMatch,
        also_at: alsoAt(duplicates),
      }),
    });
    const { items, now, duplicates = 0 } = paged;
    const statement = listStatement(
      paged,
      applied,
      [...describeFilter(filter, now), `sorted by ${sort}`],
      upstreamTexts(FoundRow, "results[]"),
    );
    const lines = items.map((row, n) => `${n + 1}. ${lineOf(row)}`);
    const notes = [...found];
    return {
      data: { results: items, ...matched, duplicates, notes },
      lines: [...lines, ...notes, ...duplicateLines(duplicates, "record")],
      statement,
    };
  },
});

function notesOf(
  { understood, isWeak, counts, hindered, agencyNotes, inWords, drop, isWhole, ...matched }: Omit<SearchPage, "results" | "next">,
  sort: Sort,
  now: EpochMs,
): string[] {
  return [
    ...(isWhole ? [] : [ENDED_EARLY]),
    ...(understood === null ? [] : [...readingInWords(understood), ...preferencesInWords(understood, now, argumentsOf)]),
    ...(isWeak ? ["Nothing has most of these words; the nearest are listed"] : []),
    ...matchedElsewhere(matched, sort === "relevance" ? "" : ", listed with sort relevance"),
    ...(counts === null ? [] : [resultCountsInWords(counts)]),
    ...agencyNotes,
    hinderedSentence(hindered),
    applicantsSentence(inWords, 'with "other" among applicant'),
    ...dropInWords(drop),
  ].filter((sentence) => sentence !== "");
}

function argumentsOf({ words, ...filter }: Filter): string {
  if (words !== undefined) return `${words} among words`;
  return Object.entries(filter)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(", ");
}

function lineOf({ id, title, number, agency, sub_agency, open_to, also_at, ...row }: Static<typeof FoundRow>): string {
  const named = sub_agency ?? agency;
  const by = named === null ? "no agency stated" : quoted(named);
  const to = open_to === null ? "" : `open to ${open_to}; `;
  return `${quoted(title)}; ${quotedNumber(number)}; ${by}; ${stateInWords(row)}; ${to}${alsoAtInLine(also_at, row.status)}id ${id}`;
}

/** "also at NSF (closed there) (id f834149b-…); ", next to a record of that status; "" without duplicates. */
export function alsoAtInLine(alsoAt: readonly AlsoAt[], shown: string): string {
  const others = alsoAt.map(({ source, id, status }) => `${codeInWords(source)}${statusThere(status, shown)} (id ${id})`);
  return others.length === 0 ? "" : `also at ${others.join(", ")}; `;
}
