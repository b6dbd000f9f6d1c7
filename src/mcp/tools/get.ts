/** The tool `get`: one opportunity, with all of its fields. */
import { type Static, Type } from "@sinclair/typebox";
import { type DatedAttachments, datedAttachments } from "../../events/attachments.ts";
import { Opportunity, statuses, type WholeOpportunity, withoutSidecar } from "../../opportunities/opportunity.ts";
import { AlsoAt } from "../../opportunities/related.ts";
import { numberOf } from "../../search/number.ts";
import type { Similar } from "../../search/similar.ts";
import { capitalized } from "../../text/capitalized.ts";
import { cutTo } from "../../text/cut.ts";
import { timeInWords } from "../../text/date-in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { cursorArgument, requiredText, sourceCode } from "../arguments.ts";
import { CutMember, LongText } from "../long-text.ts";
import type { EventConditions, ToolReader } from "../reader.ts";
import { DATA_BYTES_MAX } from "../results.ts";
import { OpportunityRow, rowOf } from "../rows.ts";
import { codeInWords, knownOrQuoted, quotedNumber, stateInWords, upstreamTexts } from "../upstream-text.ts";
import { longResult } from "./long-result.ts";
import { ID, theOpportunity } from "./the-opportunity.ts";
import { onlyGiven, type Tool, type ToolContext } from "./tool.ts";

export function getTool({ reader, tool }: ToolContext): Tool {
  return tool({
    name: "get",
    title: "Get one opportunity",
    action: "get",
    description:
      "Returns one opportunity with all its fields. What is too long for one result is cut and listed in `cut`; each of these has a cursor that returns the whole text in `piece`.",
    arguments: { id: requiredText(ID), source: sourceCode, cursor: cursorArgument },
    data: {
      opportunity: nullable(Opportunity),
      also_at: nullable(Type.Array(AlsoAt), "The records of the same opportunity at other sources; null next to a piece."),
      attachments: nullable(Type.Array(AttachmentRow), "Attachments and links; null next to a piece."),
      removed_attachments: nullable(Type.Array(RemovedAttachmentRow), "Those that are gone; null next to a piece."),
      similar: nullable(Type.Array(SimilarRow), "Other rounds of the same call, and what is most like it; null next to a piece."),
      cut: Type.Array(CutMember),
      piece: nullable(LongText),
    },
    run: async ({ id = "", source, cursor }, call) => {
      const opportunity = await theOpportunity(reader, "get", id, source, call);
      const also_at = await reader.twins(opportunity.id, call);
      const request = { tool: "get", id, source };
      const filters = onlyGiven({ id, source });
      const document = { opportunity: withoutSidecar(opportunity), ...(await attachmentsOf(reader, opportunity)) };
      const version = opportunity.updated_at;
      const empty = { opportunity: null, also_at: null, attachments: null, removed_attachments: null, similar: null };
      const similar = cursor === undefined ? similarRows(await reader.similar(opportunity, SIMILAR, call)) : [];
      return longResult({ call, request, filters, document, version, cursor }, empty, () => {
        const { value, cuts } = cutTo(document, DATA_BYTES_MAX);
        const lines = [...linesOf(opportunity, call.now), ...alsoAtLines(opportunity, also_at), ...similar.map(similarLine)];
        const upstream = [
          ...upstreamTexts(Opportunity, "opportunity"),
          ...upstreamTexts(AlsoAt, "also_at[]"),
          ...upstreamTexts(AttachmentRow, "attachments[]"),
          ...upstreamTexts(RemovedAttachmentRow, "removed_attachments[]"),
          ...upstreamTexts(SimilarRow, "similar[]"),
        ];
        return { data: { ...value, also_at, similar }, cuts, lines, upstream };
      });
    },
  });
}

const attachmentMembers = {
  name: nullable(Type.String()),
  url: nullable(Type.String()),
  kind: nullable(Type.String(), "In the upstream's words."),
  size: nullable(Type.Integer(), "Bytes."),
};
const RemovedAttachmentRow = object({ ...attachmentMembers, removed_at: Type.String({ format: "date-time" }) });
const AttachmentRow = object({
  ...attachmentMembers,
  /** Since when it is there; null if ever since the record was first stored. */
  since: nullable(Type.String({ format: "date-time" })),
});

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

async function attachmentsOf(reader: ToolReader, { id, sidecar }: WholeOpportunity): Promise<DatedAttachments> {
  const conditions = {
    types: ["attachments_changed"],
    atLeast: "noise" as const,
    since: undefined,
    until: undefined,
  } satisfies EventConditions;
  const { items } = await reader.history({ id, limit: CHANGES_MAX, after: [], ...conditions });
  return datedAttachments(sidecar.attachments, items.toReversed());
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
    ["Awards", [funding?.amount_min ?? null, funding?.amount_max ?? null, funding?.display ?? null]],
    ["Won by", [sidecar.award?.awardee ?? null, sidecar.award?.number ?? null, sidecar.award?.date ?? null]],
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
