/** The tool `get`: one opportunity, with all of its fields. */
import { type Static, Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import {
  attachmentInWords,
  DatedAttachment,
  type DatedAttachments,
  datedAttachments,
  RemovedAttachment,
} from "../../events/attachments.ts";
import { fundingInWords } from "../../events/in-words.ts";
import { Opportunity, statuses, type WholeOpportunity, withoutSidecar } from "../../opportunities/opportunity.ts";
import { AlsoAt, alsoAt } from "../../opportunities/related.ts";
import { erasedInWords } from "../../past/in-words.ts";
import type { WholePast } from "../../past/whole.ts";
import { SIMILAR_ENDED_EARLY } from "../../search/budget.ts";
import { numberOf } from "../../search/number.ts";
import type { Similar } from "../../search/similar.ts";
import { capitalized } from "../../text/capitalized.ts";
import { cutTo } from "../../text/cut.ts";
import { dateInWords, timeInWords } from "../../text/date-in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { AS_OF, readMoment } from "../../text/moment.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { momentText } from "../../text/value.ts";
import { cursorArgument, requiredText, sourceCode } from "../arguments.ts";
import { CutMember, LongText } from "../long-text.ts";
import type { EventConditions, ToolQueries } from "../queries.ts";
import { DATA_BYTES_MAX } from "../results.ts";
import { OpportunityRow, rowOf } from "../rows.ts";
import { codeInWords, knownOrQuoted, quotedNumber, stateInWords, upstreamTexts } from "../upstream-text.ts";
import { longResult } from "./long-result.ts";
import { ID, theOpportunity } from "./the-opportunity.ts";
import { onlyGiven, type Tool, type ToolContext } from "./tool.ts";

export function getTool({ queries, tool }: ToolContext): Tool {
  return tool({
    name: "get",
    title: "Get one opportunity",
    action: "get",
    description:
      "Returns one opportunity with all its fields. What is too long is cut and listed in `cut`, with a cursor that returns the whole text in `piece`.",
    arguments: {
      id: requiredText(ID),
      source: sourceCode,
      as_of: momentText(AS_OF, "As it was then: 7d, a date."),
      cursor: cursorArgument,
    },
    data: {
      opportunity: nullable(Opportunity),
      /** Those that are not known as of then: contacts that were erased since. */
      unknown_fields: Type.Array(Type.String()),
      also_at: nullable(Type.Array(AlsoAt), "Other records of the opportunity. Null next to a piece, as the next three."),
      attachments: nullable(Type.Array(DatedAttachment), "Attachments and links."),
      removed_attachments: nullable(Type.Array(RemovedAttachment), "Those that are gone."),
      similar: nullable(Type.Array(SimilarRow), "Other rounds of the call, and what is most like it."),
      cut: Type.Array(CutMember),
      piece: nullable(LongText),
    },
    run: async ({ id = "", source, as_of, cursor }, call) => {
      const found = await theOpportunity(queries, "get", id, source, call);
      const asOf = as_of === undefined ? undefined : readMoment(as_of, call.now, AS_OF);
      const then = asOf === undefined ? undefined : await thePast(queries, found, asOf);
      const opportunity = then?.opportunity ?? found;
      const also_at = then === undefined ? await queries.twins(opportunity.id, call) : alsoAt(then.twins);
      const request = { tool: "get", id, source, as_of };
      const filters = onlyGiven({ id, source, as_of });
      const attachments =
        then === undefined ? await attachmentsOf(queries, opportunity) : datedAttachments(opportunity.sidecar.attachments, then.history);
      const document = { opportunity: withoutSidecar(opportunity), ...attachments };
      const version = opportunity.updated_at;
      const unknown_fields = (then?.erased ?? null) === null ? [] : ["contacts"];
      const empty = { opportunity: null, also_at: null, attachments: null, removed_attachments: null, similar: null, unknown_fields };
      const isWithSimilar = cursor === undefined && then === undefined;
      const like = isWithSimilar ? await queries.similar(opportunity, SIMILAR, call) : undefined;
      const similar = like === undefined ? [] : similarRows(like);
      return longResult({ call, request, filters, document, version, cursor }, empty, () => {
        const { value, cuts } = cutTo(document, DATA_BYTES_MAX);
        const related = [...alsoAtLines(opportunity, also_at), ...attachmentLines(attachments), ...similar.map(similarLine)];
        const lines = [...linesOf(opportunity, asOf ?? call.now), ...related];
        if (like?.isWhole === false) lines.push(SIMILAR_ENDED_EARLY);
        if (asOf !== undefined) lines.unshift(`As of ${formatInstant(asOf)}`);
        if (then !== undefined && then.erased !== null) lines.push(erasedInWords(then.erased));
        const upstream = [
          ...upstreamTexts(Opportunity, "opportunity"),
          ...upstreamTexts(AlsoAt, "also_at[]"),
          ...upstreamTexts(DatedAttachment, "attachments[]"),
          ...upstreamTexts(RemovedAttachment, "removed_attachments[]"),
          ...upstreamTexts(SimilarRow, "similar[]"),
        ];
        return { data: { ...value, also_at, similar, unknown_fields }, cuts, lines, upstream };
      });
    },
  });
}

/** The opportunity as it was. Throws a Failure that says why it is not known. */
async function thePast(queries: ToolQueries, { id }: WholeOpportunity, asOf: EpochMs): Promise<WholePast> {
  const cannot = `Cannot get the opportunity as of ${formatInstant(asOf)}`;
  const read = await queries.past(id, asOf);
  if ("unknown" in read) throw new Failure(`${cannot}: ${read.unknown}`);
  return read.past;
}

/** The most opportunities that are named as similar. */
const SIMILAR = 5;

const { id, number, title, status, closes_at } = OpportunityRow.properties;
const SimilarRow = object({
  id,
  number,
  title,
  status,
  closes_at,
  relation: Type.Union([Type.Literal("earlier_round"), Type.Literal("later_round"), Type.Literal("similar")]),
  why: Type.String(),
});
type SimilarRow = Static<typeof SimilarRow>;

function similarRows({ similar, rounds }: Similar): SimilarRow[] {
  const row = (opportunity: WholeOpportunity, relation: SimilarRow["relation"], why: string) => {
    const { id, number, title, status, closes_at } = rowOf(opportunity);
    return { id, number, title, status, closes_at, relation, why };
  };
  return [
    ...rounds.map(({ opportunity, isEarlier, reason }) => row(opportunity, isEarlier ? "earlier_round" : "later_round", reason)),
    ...similar.map(({ opportunity, shared }) => row(opportunity, "similar", `shared words: ${shared.join(", ")}`)),
  ];
}

function similarLine({ id, number, title, status, relation, why }: SimilarRow): string {
  const kind = capitalized(relation.replace("_", " "));
  return `${kind}: ${quoted(title)}; ${quotedNumber(number)}; ${knownOrQuoted(status, statuses)}; ${quoted(why)}; id ${id}`;
}

/** The most changes of attachments that are read. */
const CHANGES_MAX = 1000;

async function attachmentsOf(queries: ToolQueries, { id, sidecar }: WholeOpportunity): Promise<DatedAttachments> {
  const conditions = {
    types: ["attachments_changed"],
    atLeast: "noise" as const,
    since: undefined,
    until: undefined,
  } satisfies EventConditions;
  const { items } = await queries.history({ id, limit: CHANGES_MAX, after: [], ...conditions });
  return datedAttachments(sidecar.attachments, items.toReversed());
}

/** The most attachments that the text of a result has. */
const ATTACHMENT_LINES = 10;

function attachmentLines({ attachments, removed_attachments }: DatedAttachments): string[] {
  const here = attachments.map((each) => ({ ...each, what: "Attachment", dated: each.since === null ? "" : `since ${each.since}` }));
  const gone = removed_attachments.map((each) => ({ ...each, what: "Removed attachment", dated: `removed at ${each.removed_at}` }));
  const lines = [...here, ...gone].map(({ what, dated, name, url, ...each }) => {
    const facts = [name, url, attachmentInWords(each)].filter((text) => text !== null && text !== "").map((text) => quoted(text ?? ""));
    return `${what}: ${[...facts, dated].filter((fact) => fact !== "").join(", ")}`;
  });
  const more = lines.length - ATTACHMENT_LINES;
  return more > 0 ? [...lines.slice(0, ATTACHMENT_LINES), `${more} more in attachments and removed_attachments`] : lines;
}

/** A line for each record of the same opportunity; the one that stands for all of them is called canonical. */
function alsoAtLines({ relationships }: Opportunity, alsoAt: readonly AlsoAt[]): string[] {
  return alsoAt.map(({ id, source, status }) => {
    const kind = id === relationships.canonical_id ? "Canonical record" : "Also";
    return `${kind} at ${codeInWords(source)}: ${knownOrQuoted(status, statuses)}; id ${id}`;
  });
}

/** The most characters of the summary and the eligibility in the text of a result. */
const LONG_LINE = 600;

function linesOf(opportunity: WholeOpportunity, now: EpochMs): string[] {
  const { id, title, summary, organization, program, funding, dates, classifications, eligibility, source, sidecar } = opportunity;
  const facts: [string, (string | null)[]][] = [
    ["Agency", [organization.agency, organization.sub_agency, organization.issuing_office]],
    ["Program", [program.type, program.contract_class]],
    ["Posted", [dates.posted_at === null ? null : timeInWords(dates.posted_at)]],
    ["Opens", [dates.opens_at === null ? null : timeInWords(dates.opens_at)]],
    ["Awards", [funding === null ? null : (fundingInWords(funding) ?? null)]],
    [
      "Won by",
      [sidecar.award?.awardee ?? null, sidecar.award?.number ?? null, sidecar.award?.date ? dateInWords(sidecar.award.date) : null],
    ],
    ["NAICS", classifications.naics_codes],
    ["Set-aside", classifications.set_aside_types],
    ["Eligibility", [eligibility.requirements]],
    ["Summary", [summary]],
    ["Source", [source.code, source.url]],
  ];
  return [
    `${quoted(title)}; ${quotedNumber(numberOf(opportunity))}; ${stateInWords({ status: opportunity.status, ...dates }, now)}; id ${id}`,
    ...facts.flatMap(([label, texts]) => {
      const given = texts.filter((text) => text !== null && text !== "").slice(0, 10);
      return given.length === 0 ? [] : [`${label}: ${given.map((text) => quoted(text ?? "", LONG_LINE)).join(", ")}`];
    }),
  ];
}
