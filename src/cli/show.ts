import type { Command } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { insignificant, type OpportunityEvent, type Severity } from "../events/event.ts";
import { changesInWords } from "../events/in-words.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { findByNumber } from "../search/find.ts";
import { numberOf } from "../search/number.ts";
import { findByUpstreamId, readHistory, readOpportunities } from "../search/records.ts";
import { plainParagraphs, plainText } from "../text/plain-text.ts";
import { oneLine } from "../text/terminal-text.ts";
import { nonBlank } from "./arguments.ts";
import type { Cli } from "./command.ts";
import { withCatalog } from "./databases.ts";
import { examples, formatCount, printResult } from "./output.ts";
import { dueInWords } from "./results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "./search-options.ts";
import { wrapped } from "./wrap.ts";

/** So many columns that a terminal of 80 has room. */
const WIDTH = 79;
const LABEL_WIDTH = 13;
/** The most opportunities of one number that an error lists. */
const LISTED = 10;

export function showCommand(showing: Command, cli: Cli): Command {
  showing.argument("<id>", "its id or the beginning of it, its number, or an id that its source has or had for it", nonBlank);
  addSearchOptions(showing).addHelpText("after", examples("fundfeed show PD-16-1271", "fundfeed show eb7863be --json"));
  return showing.action(async (text: string, options: SearchOptions) => {
    await withCatalog(cli, options, async (catalog) => {
      const opportunities = await findOpportunities(cli, options, catalog, text.trim());
      const [opportunity] = opportunities;
      if (opportunity === undefined)
        throw new Error(`Cannot show ${text}: no opportunity has this id or number; look for it with fundfeed find`);
      if (opportunities.length > 1) throw new Error(severalOf(text, opportunities));
      const history = await readHistory(catalog, opportunity.id);
      printResult(cli, options, { ...opportunity, history }, page(opportunity, history, cli.machine.now()));
    });
  });
}

/** By the catalog alone if it has the id. Only a number needs the search index. */
async function findOpportunities(cli: Cli, options: SearchOptions, catalog: CatalogDb, text: string): Promise<Opportunity[]> {
  const byId = await readOpportunities(catalog, [text.toLowerCase()]);
  if (byId.length > 0) return byId;
  const ids = await findByUpstreamId(catalog, text);
  const found = ids.length > 0 ? ids : await withSearchIndex(cli, options, catalog, async (index) => findByNumber(index, text, LISTED));
  return readOpportunities(catalog, found.slice(0, LISTED));
}

function severalOf(text: string, opportunities: readonly Opportunity[]): string {
  const lines = opportunities.map(({ id, source, title }) => `${id} (${source.code}, ${title})`);
  return `Cannot show ${text}: several opportunities have this number; give the id of one: ${lines.join("; ")}`;
}

function page(opportunity: Opportunity, history: readonly OpportunityEvent[], now: number): string {
  const { title, status, status_display, organization, program, funding, dates, classifications, eligibility, contacts, source } =
    opportunity;
  const facts: [string, string | null][] = [
    ["status", status_display === null ? status : `${status} (${status_display})`],
    ["due", dates.closes_at === null ? null : `${dues(dates.closes_at, now)}`],
    ["number", numberOf(opportunity)],
    ["agency", listed([organization.agency, organization.sub_agency, organization.issuing_office])],
    ["program", listed([program.type, program.contract_class])],
    ["solicitation", listed([program.solicitation_id, program.solicitation_title === title ? null : program.solicitation_title])],
    ["awards", funding === null ? null : (funding.display ?? listed([funding.amount_min, funding.amount_max]))],
    ["posted", dates.posted_at],
    ["opens", dates.opens_at],
    ["responses", dates.response_at === dates.closes_at ? null : dates.response_at],
    ["NAICS", listed(classifications.naics_codes)],
    ["set-aside", listed(classifications.set_aside_types)],
    ["codes", listed(classifications.tech_taxonomy)],
    ["keywords", listed([...classifications.keywords, ...classifications.technology_areas])],
    ["eligibility", eligibility.requirements],
    ["place", eligibility.geographic_scope],
    ...contacts.map(({ name, email, phone, role }): [string, string | null] => ["contact", listed([name, role, email, phone])]),
    ["source", `${source.name}, ${source.opportunity_id}`],
    ["page", source.url],
    ["id", opportunity.id],
  ];
  const lines = [
    ...wrapped(oneLine(title), WIDTH),
    "",
    ...facts.flatMap(([label, value]) => (value === null ? [] : factLines(label, value))),
    "",
    ...paragraphs(opportunity.description ?? opportunity.summary),
    "History",
    ...historyLines(history),
  ];
  return lines.join("\n");
}

function dues(closesAt: string, now: number): string {
  return `${dueInWords(closesAt, now)}, ${closesAt}`;
}

function listed(texts: readonly (string | null)[]): string | null {
  const given = [...new Set(texts)].filter((text) => text !== null && text !== "");
  return given.length === 0 ? null : given.join(", ");
}

function factLines(label: string, value: string): string[] {
  const lines = value.split("\n").flatMap((line) => wrapped(oneLine(plainText(line)), WIDTH - LABEL_WIDTH));
  return lines.map((line, n) => (n === 0 ? label : "").padEnd(LABEL_WIDTH) + line);
}

/** The paragraphs as plain text, with a blank line after each. */
function paragraphs(text: string | null): string[] {
  return plainParagraphs(text ?? "").flatMap((paragraph) => [...wrapped(oneLine(paragraph), WIDTH), ""]);
}

/** What changed, on which day. Cosmetic changes are only counted. */
function historyLines(history: readonly OpportunityEvent[]): string[] {
  const shown = history.filter(({ severity }) => !insignificant.includes(severity as Severity));
  const lines = shown.flatMap((event) => {
    const day = event.detected_at.slice(0, 10);
    return changesInWords(event).flatMap(({ words }, n) =>
      wrapped(oneLine(words), WIDTH - LABEL_WIDTH).map((line, m) => (n + m === 0 ? day : "").padEnd(LABEL_WIDTH) + line),
    );
  });
  const omitted = history.length - shown.length;
  return omitted === 0 ? lines : [...lines, `${formatCount(omitted, "more change")} of no importance`];
}
