/** `fundfeed show`: show one opportunity as a page of text. */
import { type Static, Type } from "@sinclair/typebox";
import type { CatalogDb } from "../../../db/engine.ts";
import { Failure } from "../../../db/reason.ts";
import {
  attachmentInWords,
  DatedAttachment,
  type DatedAttachments,
  datedAttachments,
  RemovedAttachment,
} from "../../events/attachments.ts";
import { insignificant, OpportunityEvent, type Severity } from "../../events/event.ts";
import { readHistory } from "../../events/history.ts";
import { changesInWords, fundingInWords } from "../../events/in-words.ts";
import { dueDateOf, undatedInWords } from "../../opportunities/clock.ts";
import { Opportunity, onlyExported, Sidecar, type WholeOpportunity } from "../../opportunities/opportunity.ts";
import { AlsoAt, alsoAt, type Belonging, readBelonging, readTwins } from "../../opportunities/related.ts";
import { statusInWords } from "../../opportunities/status.ts";
import { erasedInWords } from "../../past/in-words.ts";
import { readWholePast, type WholePast } from "../../past/whole.ts";
import { NO_BUDGET } from "../../search/budget.ts";
import { numberInWords, numberOf } from "../../search/number.ts";
import { findSimilar } from "../../search/similar.ts";
import { dateInWords, timeInWords } from "../../text/date-in-words.ts";
import { type EpochMs, formatInstant, parseStoredMs } from "../../text/instant.ts";
import { plainParagraphs, plainText } from "../../text/plain-text.ts";
import { relativeTime } from "../../text/relative-time.ts";
import { object } from "../../text/schema.ts";
import { oneLine } from "../../text/terminal-text.ts";
import type { Cli, CliCommand } from "../command.ts";
import { withCatalog } from "../databases.ts";
import { addIdArgument, ID_BEGINNING, requireOpportunity } from "../one-opportunity.ts";
import { formatCount, printResult, TERMINAL_WIDTH, wrapped } from "../output.ts";
import { addAsOfOption } from "../past-moment.ts";
import { plainStyle } from "../results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import { SimilarMembers, similarLines, similarMembers } from "../similar-lines.ts";

const LABEL_WIDTH = 13;
/** The most events of the history and items of a list that are shown. */
const [EVENTS_MAX, ITEMS_MAX] = [10, 12];
/** The most attachments that are shown, and the most similar opportunities. */
const [LINKS_MAX, SIMILAR] = [30, 5];

const { stated, status_until, archives_at, linked } = onlyExported;

/** What is printed as JSON. */
export const ShownOpportunity = Type.Composite(
  [
    Opportunity,
    object({
      sidecar: Type.Composite([Sidecar, Type.Partial(object({ stated, status_until, archives_at, linked }))], {
        additionalProperties: false,
        description: "What is stored with it and not served by the API.",
      }),
      attachments: Type.Array(DatedAttachment),
      removed_attachments: Type.Array(RemovedAttachment),
      history: Type.Array(OpportunityEvent, { description: "All its events, the oldest first." }),
      also_at: Type.Array(AlsoAt, { description: "Its records at other sources." }),
      parts: Type.Array(AlsoAt, { description: "The first of its parts and later stages." }),
      parts_total: Type.Integer({ description: "How many there are." }),
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

export function showCommand(showing: CliCommand, cli: Cli): CliCommand {
  addIdArgument(showing);
  addSearchOptions(showing)
    .option("--similar", "name opportunities like it, too, and other rounds of its call")
    .examples("fundfeed show PD-16-1271", "fundfeed show eb7863be --json", "fundfeed show PD-16-1271 --as-of 2026-03-01");
  return addAsOfOption(showing, cli).action(async (text: string, options: SearchOptions & { similar?: true; asOf?: EpochMs }) => {
    const { asOf } = options;
    if (asOf !== undefined && options.similar) showing.error("error: --similar looks among the opportunities of today; leave out --as-of");
    await withCatalog(cli, options, async (catalog) => {
      const found = await requireOpportunity(cli, options, catalog, text, "show");
      const at = asOf ?? cli.machine.now();
      const past = asOf === undefined ? undefined : await requirePast(catalog, found.id, text, asOf);
      const { opportunity, history, twins, belonging } = past ?? (await readPresent(catalog, found, at));
      const { attachments } = opportunity.sidecar;
      const json: Static<typeof ShownOpportunity> = {
        ...opportunity,
        ...(past && { as_of: formatInstant(at), unknown_fields: past.erased === null ? [] : ["contacts"] }),
        ...datedAttachments(attachments, history),
        history,
        also_at: alsoAt(twins),
        parts: alsoAt(belonging.parts),
        parts_total: belonging.total,
      };
      const lines = page(opportunity, { ...belonging, twins }, history, at);
      if (past !== undefined) lines.unshift(...pastLines(past, at), "");
      if (options.similar) {
        const found = await withSearchIndex(cli, options, catalog, (index) =>
          findSimilar(catalog, index, opportunity, SIMILAR, at, NO_BUDGET),
        );
        Object.assign(json, similarMembers(found));
        lines.push(...section("Similar", similarLines(found, at, TERMINAL_WIDTH, plainStyle)));
      }
      printResult(cli, options, json, lines.join("\n"));
    });
  });
}

type Shown = { opportunity: WholeOpportunity; history: OpportunityEvent[]; twins: WholeOpportunity[]; belonging: Belonging };

async function readPresent(catalog: CatalogDb, opportunity: WholeOpportunity, now: EpochMs): Promise<Shown> {
  const { id } = opportunity;
  const history = await readHistory(catalog, id);
  const twins = (await readTwins(catalog, [id], now)).get(id) ?? [];
  return { opportunity, history, twins, belonging: await readBelonging(catalog, opportunity, now) };
}

/** The opportunity as it was. Throws if it was not stored then. */
async function requirePast(catalog: CatalogDb, id: string, text: string, asOf: EpochMs): Promise<WholePast> {
  const read = await readWholePast(catalog, id, asOf);
  if ("unknown" in read) throw new Failure(`Cannot show ${text} as of ${formatInstant(asOf)}: ${read.unknown}`);
  return read.past;
}

/** "As of Mar 1, 2026, 12:00 PM UTC" */
function pastLines({ erased }: WholePast, asOf: EpochMs): string[] {
  return wrapped(`As of ${timeInWords(formatInstant(asOf))}${erased === null ? "" : `; ${erasedInWords(erased)}`}`, TERMINAL_WIDTH);
}

/** What it is and when it is due, then what changed, then the long texts. */
function page(opportunity: WholeOpportunity, related: Related, history: readonly OpportunityEvent[], now: EpochMs): string[] {
  const { title, description, summary, eligibility } = opportunity;
  return [
    ...wrapped(oneLine(title), TERMINAL_WIDTH),
    "",
    ...factsOf(opportunity, related, now).flatMap(([label, value]) =>
      value === null ? [] : beside(label, linesOf(value, TERMINAL_WIDTH - LABEL_WIDTH)),
    ),
    ...section("Parts and later stages", partLines(related)),
    ...section("Attachments and links", attachmentLines(datedAttachments(opportunity.sidecar.attachments, history))),
    ...section("History", historyLines(history)),
    ...section("Description", paragraphs(description ?? summary)),
    ...section("Eligibility", linesOf(eligibility.requirements ?? "", TERMINAL_WIDTH)),
  ];
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", heading, ...lines];
}

type Related = Belonging & { twins: readonly WholeOpportunity[] };

function factsOf(opportunity: WholeOpportunity, { twins, parent }: Related, now: EpochMs): [label: string, value: string | null][] {
  const { title, status, status_display, organization, program, funding, dates, classifications, eligibility, contacts, source, sidecar } =
    opportunity;
  const due = dueDateOf(dates, now);
  const number = numberOf(opportunity);
  const solicitationId = program.solicitation_id?.trim() === number ? null : program.solicitation_id;
  const solicitationTitle = program.solicitation_title === title ? null : program.solicitation_title;
  const inForce = statusInWords(status);
  return [
    ["status", status_display === null || isSame(status_display, inForce) ? inForce : `${inForce} (${status_display})`],
    ["due", due === null ? undatedInWords(opportunity) : dueInWords(due, now)],
    ["due dates", sidecar.due_dates.length < 2 ? null : sidecar.due_dates.map((each) => dueDateInWords(each, now)).join("\n")],
    ["closes", dates.closes_at === null || dates.closes_at === due ? null : dueInWords(dates.closes_at, now)],
    ["expires", sidecar.expires_at === null ? null : dateInWords(sidecar.expires_at)],
    ["opens", dates.opens_at === null ? null : dateInWords(dates.opens_at)],
    ["posted", dates.posted_at === null ? null : dateInWords(dates.posted_at)],
    ["number", number],
    ["solicitation", listed([solicitationId, solicitationTitle])],
    ["agency", listed([organization.agency, organization.sub_agency, organization.issuing_office])],
    ["program", listed([program.type, program.contract_class])],
    ["awards", funding === null ? null : (fundingInWords(funding) ?? null)],
    [
      "won by",
      sidecar.award && listed([sidecar.award.awardee, sidecar.award.number, sidecar.award.date && dateInWords(sidecar.award.date)]),
    ],
    ["NAICS", listed(classifications.naics_codes)],
    ["set-aside", listed(classifications.set_aside_types)],
    ["codes", listed(classifications.tech_taxonomy)],
    ["keywords", listed([...classifications.keywords, ...classifications.technology_areas])],
    ["place", eligibility.geographic_scope],
    ...contacts.map(({ name, email, phone, role }): [string, string | null] => ["contact", listed([name, role, email, phone])]),
    ["source", `${source.name}, ${source.opportunity_id}`],
    ["page", source.url],
    ["id", opportunity.id],
    ...twins.map((twin): [string, string] => [
      twin.id === opportunity.relationships.canonical_id ? "canonical" : "also at",
      `${twin.source.name}, ${recordInShort(twin)}${twin.source.url === null ? "" : `\n${twin.source.url}`}`,
    ]),
    ["belongs to", parent === undefined ? null : `${parent.title}\n${parent.source.name}, ${recordInShort(parent)}`],
  ];
}

/** "22-586, open, id f834149b" */
function recordInShort(record: WholeOpportunity): string {
  return `${numberInWords(record)}, ${statusInWords(record.status)}, id ${record.id.slice(0, ID_BEGINNING)}`;
}

/** The first parts, and how many more there are. */
function partLines({ parts, total }: Related): string[] {
  const more = total - parts.length;
  const lines = parts.flatMap((part) => wrapped(oneLine(`${recordInShort(part)}: ${part.title}`), TERMINAL_WIDTH));
  return more > 0 ? [...lines, `${formatCount(more)} more`] : lines;
}

/** "Feb 5, 2027, 11:59 PM ET (in 12 days)" */
function dueInWords(at: string, now: EpochMs): string {
  const ms = parseStoredMs(at);
  return ms === undefined ? at : `${timeInWords(at)} (${relativeTime(ms, now)})`;
}

/** "Jan 5, 2026: Step-1 (passed)" */
function dueDateInWords({ at, words }: WholeOpportunity["sidecar"]["due_dates"][number], now: EpochMs): string {
  const isPast = (parseStoredMs(at) ?? now) < now;
  return `${dateInWords(at)}${words === null ? "" : `: ${words}`}${isPast ? " (passed)" : ""}`;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Each text once, in whatever letter case: sources say "GRANT" and "Grant". */
function listed(texts: readonly (string | null)[]): string | null {
  const given = texts.filter((text) => text !== null).filter((text) => text !== "");
  const different = given.filter((text, n) => given.findIndex((each) => isSame(each, text)) === n);
  const more = different.length - ITEMS_MAX;
  if (different.length === 0) return null;
  return more <= 1 ? different.join(", ") : `${different.slice(0, ITEMS_MAX).join(", ")} and ${more} more`;
}

/** The lines of a text as plain text, wrapped. */
function linesOf(text: string, width: number): string[] {
  const lines = text.split("\n").map(plainText);
  return lines.filter((line) => line !== "").flatMap((line) => wrapped(oneLine(line), width));
}

/** Lines in a column of their own, with a label in front of the first one. */
function beside(label: string, lines: readonly string[]): string[] {
  return lines.map((line, n) => (n === 0 ? label : "").padEnd(LABEL_WIDTH) + line);
}

/** The paragraphs as plain text, with a blank line between them. */
function paragraphs(text: string | null): string[] {
  return plainParagraphs(text ?? "").flatMap((paragraph, n) => [...(n === 0 ? [] : [""]), ...wrapped(oneLine(paragraph), TERMINAL_WIDTH)]);
}

/** Each with its link, its kind and size, and since when it is there or gone, as far as that is known. */
function attachmentLines({ attachments, removed_attachments: removed }: DatedAttachments): string[] {
  const here = attachments.map((each) => ({ ...each, dated: each.since === null ? "" : `since ${dateInWords(each.since)}` }));
  const gone = removed.map((each) => ({ ...each, dated: `removed ${dateInWords(each.removed_at)}` }));
  const lines = [...here, ...gone].slice(0, LINKS_MAX).flatMap(({ name, url, dated, ...each }) => {
    const facts = [attachmentInWords(each), dated].filter((fact) => fact !== "").join("; ");
    const known = facts === "" ? "" : ` (${facts})`;
    return [
      ...wrapped(oneLine(`${name ?? url ?? ""}${known}`), TERMINAL_WIDTH),
      ...(name === null || url === null ? [] : [`  ${oneLine(url)}`]),
    ];
  });
  const more = attachments.length + removed.length - LINKS_MAX;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/** The newest changes first, and on which day they were detected. Earlier and cosmetic ones are only counted. */
function historyLines(history: readonly OpportunityEvent[]): string[] {
  const significant = history.filter(({ severity }) => !insignificant.includes(severity as Severity));
  const shown = significant.slice(-EVENTS_MAX).toReversed();
  const lines = shown.flatMap((event) =>
    beside(
      dateInWords(event.detected_at),
      changesInWords(event).flatMap(({ words }) => wrapped(oneLine(words), TERMINAL_WIDTH - LABEL_WIDTH)),
    ),
  );
  const omitted = [
    [significant.length - shown.length, "earlier change"],
    [history.length - significant.length, "cosmetic change"],
  ] as const;
  const counts = omitted.filter(([count]) => count > 0).map(([count, noun]) => formatCount(count, noun));
  return counts.length === 0 ? lines : [...lines, `Not shown: ${counts.join(", ")} (--json has all)`];
}
