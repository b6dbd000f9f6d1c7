/** The texts of an opportunity in which words are searched, and the full-text table that holds them: one for search.db and for `matches()`. */
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { plainText } from "../text/plain-text.ts";
import { nameOfPlace, placeCodes } from "./places.ts";

/** The columns of the table `texts`, in this order, and how much a match in each weighs. */
export const textWeights = { number: 20, title: 10, agency: 5, place: 3, summary: 2, description: 1 };

const names = Object.keys(textWeights).join(", ");
const TOKENIZER = 'tokenize = "unicode61 remove_diacritics 2"';

/** Creates the table `texts`. `options` are further options of FTS5. */
export function createTexts(...options: readonly string[]): string {
  return `create virtual table texts using fts5 (${[names, TOKENIZER, ...options].join(", ")})`;
}

/** Inserts a row: its number, then what `textsOf` returns. */
export const INSERT_TEXTS = `insert into texts (rowid, ${names}) values (?, ${names.replaceAll(/\w+/g, "?")})`;

/** The values of the columns. */
export function textsOf({ source, title, summary, description, organization, program, eligibility, sidecar }: WholeOpportunity): string[] {
  const texts: Record<keyof typeof textWeights, string> = {
    number: lines(source.opportunity_id, program.solicitation_id),
    title: lines(title, program.solicitation_title),
    agency: lines(organization.agency, organization.sub_agency, organization.issuing_office),
    place: placeText(eligibility.geographic_scope, placeCodes(sidecar.place)),
    summary: summary ?? "",
    description: plainText(description ?? ""),
  };
  return Object.values(texts).map(withoutControls);
}

/** The place as published, with the name of its state or foreign country: upstreams publish codes. */
function placeText(published: string | null, codes: readonly string[]): string {
  return lines(published, ...codes.filter((code) => code !== "USA").map(nameOfPlace));
}

function lines(...texts: (string | null)[]): string {
  return [...new Set(texts)].filter((text) => text !== null).join("\n");
}

/** Line feeds become blanks too: a snippet is one line, and its markers are control characters. */
function withoutControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
}
