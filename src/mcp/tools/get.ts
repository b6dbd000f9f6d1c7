/** The tool `get`: one opportunity, with all of its fields. */
import { type Static, Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import {
  attachmentsInWords,
  DatedAttachment,
  type DatedAttachments,
  datedAttachments,
  RemovedAttachment,
} from "../../events/attachments.ts";
import { factsOf } from "../../facts/facts.ts";
import { dueInWords, dueOf } from "../../opportunities/due.ts";
import { EarlierAward } from "../../opportunities/earlier-awards.ts";
import { numberOf, Opportunity, type WholeOpportunity, withoutSidecar } from "../../opportunities/opportunity.ts";
import { AlsoAt, alsoAt } from "../../opportunities/related.ts";
import { erasedInWords } from "../../past/as-of.ts";
import { readShown, type ShownRecord } from "../../past/whole.ts";
import { SIMILAR_ENDED_EARLY, searchBudget } from "../../search/budget.ts";
import { findSimilar, relations, relationsIn, type Similar } from "../../search/similar.ts";
import { cutTo } from "../../text/cut.ts";
import { capitalized } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { AS_OF, readMoment } from "../../text/moment.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { momentText } from "../../text/value.ts";
import { cursorArgument, requiredText, sourceCode } from "../arguments.ts";
import { DATA_BYTES_MAX } from "../results.ts";
import { OpportunityRow, rowOf } from "../rows.ts";
import { quotedNumber, stateInWords, upstreamTexts } from "../upstream-text.ts";
import { CutMember, LongText, longResult } from "./long-result.ts";
import { ID, theOpportunity } from "./the-opportunity.ts";
import { onlyGiven, tool } from "./tool.ts";

const SIMILAR = 5;

const { id, number, title, status, closes_at, due } = OpportunityRow.properties;
const SimilarRow = object({
  id,
  number,
  title,
  status,
  closes_at,
  due,
  relation: Type.Unsafe<(typeof relations)[number]>({ type: "string", enum: [...relations] }),
  why: Type.String(),
});
type SimilarRow = Static<typeof SimilarRow>;

/** The data next to a piece. */
const NOTHING = { opportunity: null, also_at: null, attachments: null, removed_attachments: null, similar: null, earlier_awards: null };

export const getTool = tool({
  name: "get",
  title: "Get one opportunity",
  action: "get",
  description:
    "Returns one opportunity with all its fields. What is too long is cut and listed in `cut`, with a cursor for the whole text in `piece`.",
  arguments: {
    id: requiredText(ID),
    source: sourceCode,
    as_of: momentText(AS_OF, "As it was then: 7d, a date."),
    cursor: cursorArgument,
  },
  data: {
    opportunity: nullable(Opportunity),
    unknown_fields: Type.Array(Type.String()),
    also_at: nullable(Type.Array(AlsoAt), "Its other records. Null next to a piece, as the next four."),
    attachments: nullable(Type.Array(DatedAttachment), "Attachments and links."),
    removed_attachments: nullable(Type.Array(RemovedAttachment), "Gone ones."),
    similar: nullable(Type.Array(SimilarRow), "Other rounds, and what is most like it."),
    earlier_awards: nullable(Type.Array(EarlierAward), "Who won before."),
    cut: Type.Array(CutMember),
    piece: nullable(LongText),
  },
  run: async ({ id = "", source, as_of, cursor }, call) => {
    const found = await theOpportunity("get", id, source, call);
    const asOf = as_of === undefined ? undefined : readMoment(as_of, call.now, AS_OF);
    const { catalog, now } = call;
    const read = await readShown(catalog, found, { now, asOf });
    if ("unknown" in read) throw new Failure(`Cannot get the opportunity as of ${formatInstant(asOf ?? now)}: ${read.unknown}`);
    const { record } = read;
    const { opportunity, erased, history, duplicates, earlierAwards: earlier_awards } = record;
    const also_at = alsoAt(duplicates);
    const request = { tool: "get", id, source, as_of };
    const filters = onlyGiven({ id, source, as_of });
    const attachments = datedAttachments(opportunity.sidecar.attachments, history);
    const document = { opportunity: withoutSidecar(opportunity), ...attachments };
    const version = opportunity.updated_at;
    const unknown_fields = erased === null ? [] : ["contacts"];
    const isWithSimilar = cursor === undefined && asOf === undefined;
    const like = isWithSimilar
      ? await call.withIndex(now, (index) => findSimilar(catalog, index, opportunity, SIMILAR, now, searchBudget()))
      : undefined;
    const similar = like === undefined ? [] : similarRows(like, call.now);
    return longResult({ call, request, filters, document, version, cursor }, { ...NOTHING, unknown_fields }, () => {
      const { value, cuts } = cutTo(document, DATA_BYTES_MAX);
      const lines = [
        ...linesOf(record, asOf ?? call.now),
        ...attachmentLines(attachments),
        ...questionLines(opportunity),
        ...similar.map(similarLine),
      ];
      if (like?.isWhole === false) lines.push(SIMILAR_ENDED_EARLY);
      if (asOf !== undefined) lines.unshift(`As of ${formatInstant(asOf)}`);
      if (erased !== null) lines.push(erasedInWords(erased));
      const upstream = [
        ...upstreamTexts(Opportunity, "opportunity"),
        ...upstreamTexts(AlsoAt, "also_at[]"),
        ...upstreamTexts(DatedAttachment, "attachments[]"),
        ...upstreamTexts(RemovedAttachment, "removed_attachments[]"),
        ...upstreamTexts(SimilarRow, "similar[]"),
        ...upstreamTexts(EarlierAward, "earlier_awards[]"),
      ];
      return { data: { ...value, also_at, similar, earlier_awards, unknown_fields }, cuts, lines, upstream };
    });
  },
});

function similarRows(found: Similar, now: EpochMs): SimilarRow[] {
  return relationsIn(found).map(({ opportunity, duplicates, relation, why }) => {
    const { id, number, title, status, closes_at, due } = rowOf(opportunity, now, duplicates);
    return { id, number, title, status, closes_at, due, relation, why };
  });
}

function similarLine({ id, number, title, relation, why, ...row }: SimilarRow): string {
  const kind = capitalized(relation.replace("_", " "));
  return `${kind}: ${quoted(title)}; ${quotedNumber(number)}; ${stateInWords(row)}; ${quoted(why)}; id ${id}`;
}

const ATTACHMENT_LINES = 10;

function attachmentLines(dated: DatedAttachments): string[] {
  const lines = attachmentsInWords(dated).map(({ name, url, about, dated, isRemoved }) => {
    const facts = [name, name === url ? null : url, about].filter((text) => text !== null && text !== "").map((text) => quoted(text ?? ""));
    return `${isRemoved ? "Removed attachment" : "Attachment"}: ${[...facts, dated].filter((fact) => fact !== "").join(", ")}`;
  });
  const more = lines.length - ATTACHMENT_LINES;
  return more > 0 ? [...lines.slice(0, ATTACHMENT_LINES), `${more} more in attachments and removed_attachments`] : lines;
}

function questionLines({ sidecar: { questions } }: WholeOpportunity): string[] {
  const shown = questions.slice(0, ATTACHMENT_LINES).map(({ question, answer }) => {
    return `Question: ${quoted(question ?? "", LONG_LINE)}; ${answer === null ? "no answer yet" : `answer: ${quoted(answer, LONG_LINE)}`}`;
  });
  const more = questions.length - shown.length;
  return more > 0 ? [...shown, `${more} more questions`] : shown;
}

const [LONG_LINE, VALUES_MAX] = [600, 10];
const IN_FIRST_LINE = ["status", "due", "number", "id"];

function linesOf({ opportunity, duplicates, belonging, earlierAwards }: ShownRecord, now: EpochMs): string[] {
  const { id, title, summary, status, eligibility } = opportunity;
  const isInFirstLine = (id: string) => IN_FIRST_LINE.includes(id) && (id !== "status" || opportunity.status_display === null);
  const facts = factsOf(opportunity, { ...belonging, duplicates, earlierAwards }, now).filter((fact) => !isInFirstLine(fact.id));
  const due = dueInWords(dueOf(opportunity, now, duplicates), now, { quote: quoted });
  const line = (label: string, texts: readonly string[]) => `${label}: ${texts.map((text) => quoted(text, LONG_LINE)).join(", ")}`;
  return [
    `${quoted(title)}; ${quotedNumber(numberOf(opportunity))}; ${stateInWords({ status, due })}; id ${id}`,
    ...facts.map(({ label, values }) => {
      const ids = values.flatMap(({ record }) => (record === undefined ? [] : `; id ${record}`)).join("");
      return (
        line(
          label,
          values.slice(0, VALUES_MAX).map(({ text }) => text),
        ) + ids
      );
    }),
    ...(eligibility.requirements === null ? [] : [line("Eligibility", [eligibility.requirements])]),
    ...(summary === null ? [] : [line("Summary", [summary])]),
  ];
}
