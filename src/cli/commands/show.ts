/** `fundfeed show`: show one opportunity as a page of text. */
import { type Static, Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import {
  attachmentsInWords,
  DatedAttachment,
  type DatedAttachments,
  datedAttachments,
  RemovedAttachment,
} from "../../events/attachments.ts";
import { insignificant, OpportunityEvent, type Severity } from "../../events/event.ts";
import { changesInWords } from "../../events/in-words.ts";
import { type FactValue, factsOf, type OpportunityFact, recordInWords } from "../../facts/facts.ts";
import { Due, dueOf } from "../../opportunities/due.ts";
import { EarlierAward } from "../../opportunities/earlier-awards.ts";
import { Opportunity, onlyExported, Sidecar } from "../../opportunities/opportunity.ts";
import { AlsoAt, alsoAt, type Belonging } from "../../opportunities/related.ts";
import { erasedInWords } from "../../past/as-of.ts";
import { readShown, type ShownRecord } from "../../past/whole.ts";
import { UNLIMITED } from "../../search/budget.ts";
import { findSimilar } from "../../search/similar.ts";
import { dateInWords, timeInWords } from "../../text/date-in-words.ts";
import { counted, withCommas } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { plainParagraphs, plainText } from "../../text/plain-text.ts";
import { object } from "../../text/schema.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { addAsOfOption, type CliCommand } from "../command.ts";
import { addIdArgument, ID_BEGINNING, requireOpportunity } from "../one-opportunity.ts";
import { TERMINAL_WIDTH, wrapped } from "../output.ts";
import { plainStyle } from "../results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import { SimilarMembers, similarLines, similarMembers } from "./similar.ts";

const LABEL_WIDTH = 13;
const [EVENTS_MAX, ITEMS_MAX] = [10, 12];
const [LINKS_MAX, SIMILAR] = [30, 5];

const { stated, status_until, archives_at, linked } = onlyExported;

export const ShownOpportunity = Type.Composite(
  [
    Opportunity,
    object({
      sidecar: Type.Composite([Sidecar, Type.Partial(object({ stated, status_until, archives_at, linked }))], {
        additionalProperties: false,
        description: "What is stored with it and not served by the API.",
      }),
      due: Due,
      attachments: Type.Array(DatedAttachment),
      removed_attachments: Type.Array(RemovedAttachment),
      history: Type.Array(OpportunityEvent, { description: "All its events, the oldest first." }),
      also_at: Type.Array(AlsoAt, { description: "Its records at other sources." }),
      parts: Type.Array(AlsoAt, { description: "The first of its parts and later stages." }),
      parts_total: Type.Integer({ description: "How many there are." }),
      earlier_awards: Type.Array(EarlierAward, { description: "Who won earlier rounds of the same call, the latest first." }),
    }),
    Type.Partial(
      object({
        as_of: Type.String({ format: "date-time", description: "With `--as-of`: the instant." }),
        unknown_fields: Type.Array(Type.String(), { description: "With `--as-of`: what is not known of that time." }),
        ...SimilarMembers.properties,
      }),
    ),
  ],
  { additionalProperties: false },
);

export function showCommand(showing: CliCommand): CliCommand {
  addIdArgument(showing);
  addSearchOptions(showing)
    .option("--similar", "name opportunities like it, too, and other rounds of its call")
    .examples("fundfeed show PD-16-1271", "fundfeed show eb7863be --json", "fundfeed show PD-16-1271 --as-of 2026-03-01");
  return addAsOfOption(showing).action(async (text: string, options: SearchOptions & { similar?: true; asOf?: EpochMs }) => {
    const { asOf } = options;
    if (asOf !== undefined && options.similar) showing.error("error: --similar looks among the opportunities of today; leave out --as-of");
    await showing.withCatalog(async (catalog) => {
      const found = await requireOpportunity(showing, catalog, text, "show");
      const at = asOf ?? showing.machine.now();
      const shown = await readShown(catalog, found, { now: at, asOf });
      if ("unknown" in shown) throw new Failure(`Cannot show ${text} as of ${formatInstant(at)}: ${shown.unknown}`);
      const { opportunity, history, duplicates, belonging, earlierAwards, erased } = shown.record;
      const { last_seen: _, silent_since: __, ...shownFields } = opportunity;
      const { attachments } = opportunity.sidecar;
      const json: Static<typeof ShownOpportunity> = {
        ...shownFields,
        ...(asOf !== undefined && { as_of: formatInstant(at), unknown_fields: erased === null ? [] : ["contacts"] }),
        due: dueOf(opportunity, at, duplicates),
        ...datedAttachments(attachments, history),
        history,
        also_at: alsoAt(duplicates),
        parts: alsoAt(belonging.parts),
        parts_total: belonging.total,
        earlier_awards: earlierAwards,
      };
      const lines = page(shown.record, at);
      const past = `As of ${timeInWords(formatInstant(at))}${erased === null ? "" : `; ${erasedInWords(erased)}`}`;
      if (asOf !== undefined) lines.unshift(...wrapped(past, TERMINAL_WIDTH), "");
      if (options.similar) {
        const found = await withSearchIndex(showing, catalog, (index) => findSimilar(catalog, index, opportunity, SIMILAR, at, UNLIMITED));
        Object.assign(json, similarMembers(found));
        lines.push(...section("Similar", similarLines(found, at, TERMINAL_WIDTH, plainStyle)));
      }
      showing.print(json, lines.join("\n"));
    });
  });
}

function page({ opportunity, history, duplicates, belonging, earlierAwards }: ShownRecord, now: EpochMs): string[] {
  const { title, description, summary, eligibility } = opportunity;
  const paragraphs = plainParagraphs(description ?? summary ?? "").map((each) => wrapped(oneLine(each), TERMINAL_WIDTH).join("\n"));
  return [
    ...wrapped(oneLine(title), TERMINAL_WIDTH),
    "",
    ...factsOf(opportunity, { ...belonging, duplicates, earlierAwards }, now).flatMap(factLines),
    ...section("Parts and later stages", partLines(belonging)),
    ...section("Attachments and links", attachmentLines(datedAttachments(opportunity.sidecar.attachments, history))),
    ...section("Questions and answers", questionLines(opportunity.sidecar.questions)),
    ...section("History", historyLines(history)),
    ...section("Description", paragraphs.length === 0 ? [] : [paragraphs.join("\n\n")]),
    ...section("Eligibility", linesOf(eligibility.requirements ?? "", TERMINAL_WIDTH)),
  ];
}

/** The values behind the label: facts of their own and other records on a line each, the first items of a long list. */
function factLines({ label, values, isEach }: OpportunityFact): string[] {
  const name = /^[A-Z]+$/.test(label) ? label : label.toLowerCase();
  const isListed = isEach || values.some(({ record }) => record !== undefined);
  const more = isListed ? 0 : values.length - ITEMS_MAX;
  const shown = more <= 1 ? values : values.slice(0, ITEMS_MAX);
  const texts = shown.map(valueText);
  const lines = isListed ? texts : [texts.join(", ") + (more > 1 ? ` and ${more} more` : "")];
  return beside(
    name,
    lines.flatMap((line) => linesOf(line, TERMINAL_WIDTH - LABEL_WIDTH)),
  );
}

function valueText({ text, record, url }: FactValue): string {
  return record === undefined ? text : `${text}, id ${record.slice(0, ID_BEGINNING)}${url === undefined ? "" : `\n${url}`}`;
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", heading, ...lines];
}

function partLines({ parts, total }: Belonging): string[] {
  const more = total - parts.length;
  const lines = parts.flatMap((part) =>
    wrapped(oneLine(`${valueText({ text: recordInWords(part), record: part.id })}: ${part.title}`), TERMINAL_WIDTH),
  );
  return more > 0 ? [...lines, `${withCommas(more)} more`] : lines;
}

function linesOf(text: string, width: number): string[] {
  const lines = text.split("\n").map(plainText);
  return lines.filter((line) => line !== "").flatMap((line) => wrapped(oneLine(line), width));
}

/** Lines in a column of their own, with a label in front of the first one, or above it if it is too long. */
function beside(label: string, lines: readonly string[]): string[] {
  if (label.length >= LABEL_WIDTH) return [label, ...beside("", lines)];
  return lines.map((line, n) => (n === 0 ? label : "").padEnd(LABEL_WIDTH) + line);
}

function attachmentLines(dated: DatedAttachments): string[] {
  const all = attachmentsInWords(dated);
  const lines = all.slice(0, LINKS_MAX).flatMap(({ name, url, about, dated }) => {
    const facts = [about, dated].filter((fact) => fact !== "").join("; ");
    return [
      ...wrapped(oneLine(`${name}${facts === "" ? "" : ` (${facts})`}`), TERMINAL_WIDTH),
      ...(name === url || url === null ? [] : [`  ${oneLine(url)}`]),
    ];
  });
  const more = all.length - LINKS_MAX;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

function questionLines(questions: Sidecar["questions"]): string[] {
  const lines = questions
    .slice(0, LINKS_MAX)
    .flatMap(({ question, answer }, n) => [
      ...(n === 0 ? [] : [""]),
      ...beside("question", linesOf(question ?? "", TERMINAL_WIDTH - LABEL_WIDTH)),
      ...beside("answer", linesOf(answer ?? "none yet", TERMINAL_WIDTH - LABEL_WIDTH)),
    ]);
  const more = questions.length - LINKS_MAX;
  return more > 0 ? [...lines, "", `and ${more} more (--json has all)`] : lines;
}

/** The newest changes first, and on which day they were detected. Earlier and cosmetic ones are only counted. */
function historyLines(history: readonly OpportunityEvent[]): string[] {
  const significant = history.filter(({ severity }) => !insignificant.includes(severity as Severity));
  const shown = significant.slice(-EVENTS_MAX).toReversed();
  const lines = shown.flatMap((event) =>
    beside(
      dateInWords(event.detected_at),
      changesInWords(event).flatMap((words) => wrapped(oneLine(words), TERMINAL_WIDTH - LABEL_WIDTH)),
    ),
  );
  const omitted = [
    [significant.length - shown.length, "earlier change"],
    [history.length - significant.length, "cosmetic change"],
  ] as const;
  const counts = omitted.filter(([count]) => count > 0).map(([count, noun]) => counted(count, noun));
  return counts.length === 0 ? lines : [...lines, `Not shown: ${counts.join(", ")} (--json has all)`];
}
