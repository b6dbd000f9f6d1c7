/** The texts of an opportunity in which words are searched, and the full-text table that holds them: one for search.db and for `matches()`. */
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { plainText } from "../text/plain-text.ts";
import { plainCharacters } from "../text/words-of.ts";
import { nameOfPlace, placeCodes } from "./places.ts";

/** In this order, and how much a match in each weighs. */
export const textWeights = { number: 6, title: 5, agency: 1.5, place: 1.5, keywords: 2, text: 1 };

type TextColumn = keyof typeof textWeights;

export const textColumns = Object.keys(textWeights) as TextColumn[];

const TOKENIZER = 'tokenize = "unicode61 remove_diacritics 2"';

/** Creates the table `texts`, which keeps no text. `tags` has words that no text has, for what is sought besides words. */
export const CREATE_TEXTS = `create virtual table texts using fts5 (${[...textColumns, "tags", TOKENIZER, "content = ''", "contentless_delete = 1"].join(", ")})`;

export const INSERT_TEXTS = `insert into texts (rowid, ${[...textColumns, "tags"].join(", ")}) values (?, ${textColumns.map(() => "?").join(", ")}, ?)`;

/** The values of the columns but the tags. Of a description longer than `charactersMax`, only the beginning is read. */
export function textsOf(opportunity: WholeOpportunity, charactersMax = Number.POSITIVE_INFINITY): string[] {
  const { source, title, summary, description, organization, program, classifications, eligibility, sidecar } = opportunity;
  const whole = plainText((description ?? "").slice(0, charactersMax));
  // A summary that is the beginning of the description would count twice.
  const isRepeated = summary === null || whole.startsWith(summary.slice(0, SUMMARY_COMPARED));
  const texts: Record<TextColumn, string> = {
    number: lines(source.opportunity_id, program.solicitation_id).replace(/https?:\S+/g, ""), // An address is no number.
    title: lines(title, program.solicitation_title),
    agency: lines(organization.agency, organization.sub_agency, organization.issuing_office),
    place: placeText(eligibility.geographic_scope, placeCodes(sidecar.place)),
    keywords: lines(...classifications.keywords, ...classifications.technology_areas),
    text: isRepeated ? whole : lines(summary, whole),
  };
  return textColumns.map((column) => withoutPrivate(texts[column]));
}

/** What `textsOf` returns, as the index has it: FTS5 leaves ligatures and fractions as they are. */
export function indexedTexts(opportunity: WholeOpportunity): string[] {
  return textsOf(opportunity).map(plainCharacters);
}

const SUMMARY_COMPARED = 100;

/** Of what `textsOf` returns, the title and the text: a snippet of anything else says little. */
export function titleAndText(texts: readonly string[]): string[] {
  return [texts[textColumns.indexOf("title")] ?? "", texts[textColumns.indexOf("text")] ?? ""];
}

/** With the name of its state or foreign country: upstreams publish codes. */
function placeText(published: string | null, codes: readonly string[]): string {
  return lines(published, ...codes.filter((code) => code !== "USA").map(nameOfPlace));
}

function lines(...texts: (string | null)[]): string {
  return [...new Set(texts)].filter((text) => text !== null).join("\n");
}

/** Control characters mark matches, and characters for private use begin tags. */
function withoutPrivate(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]+/g, " ");
}
