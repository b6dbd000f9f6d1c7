/** What a person means by an agency: an abbreviation, a code or a full name. (E-60) */
import { closest } from "../text/closest.ts";
import { plainWords } from "./names.ts";
import {
  type Agency,
  agencyByCode,
  codeOfExactly,
  codesOfAbbreviation,
  codesOfName,
  hasParts,
  listAgencies,
  withParents,
} from "./table.ts";

/**
 * Our codes of the agencies that a text means; none if it is no abbreviation, code or full name. If agencies of several levels have it, the
 * highest of them are meant: NEA is the Endowment, and not a bureau of the Department of State.
 */
export function codesMeant(text: string): readonly string[] {
  const value = text.trim();
  const code = agencyByCode(value.toUpperCase())?.code ?? codeOfExactly(value.toUpperCase());
  if (code !== undefined) return [code];
  const abbreviated = codesOfAbbreviation(value);
  const codes = abbreviated.length > 0 ? abbreviated : codesOfName(value);
  const level = Math.min(...codes.map(levelOf));
  return codes.filter((each) => levelOf(each) === level);
}

function levelOf(code: string): number {
  return code.split(".").length;
}

/** "National Institutes of Health (NIH) and its institutes". */
export function agencyInWords(code: string): string {
  const agency = agencyByCode(code);
  if (agency === undefined) return code;
  const parts = /\bInstitutes\b/.test(agency.name)
    ? "institutes"
    : /^Department\b/.test(agency.name) && levelOf(code) === 1
      ? "agencies"
      : "offices";
  return `${nameWithAbbreviation(agency)}${hasParts(code) ? ` and its ${parts}` : ""}`;
}

function nameWithAbbreviation({ name, abbreviations: [short] }: Agency): string {
  return short === undefined || short === name ? name : `${name} (${short})`;
}

/** "NCI", "Army": the short name of an agency, or of the nearest one above it that has one; undefined if none has. */
export function agencyInShort(code: string | null): string | undefined {
  const above = code === null ? [] : withParents(code).toReversed();
  for (const each of above) {
    const { name = "", abbreviations: [short] = [] } = agencyByCode(each) ?? {};
    const found = /^Department of the (Army|Navy|Air Force)$/.exec(name)?.[1] ?? short;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The shortest text that means this agency and no other. */
export function shortNameOf(agency: Agency): string {
  const [short] = agency.abbreviations;
  return short !== undefined && codesMeant(short).join() === agency.code ? short : agency.code;
}

/** "NIH (National Institutes of Health)": the agency that was probably meant; undefined if none is close. */
export function agencyMeantBy(text: string): string | undefined {
  const agencies = listAgencies();
  const letters = sorted(text.trim().toUpperCase());
  const byShort = agencies.filter(({ abbreviations }) => abbreviations.some((each) => sorted(each.toUpperCase()) === letters));
  const found = byShort.sort((left, right) => levelOf(left.code) - levelOf(right.code))[0] ?? closestByName(agencies, text);
  if (found === undefined) return undefined;
  const [short] = found.abbreviations;
  return short === undefined ? found.name : `${short} (${found.name})`;
}

/** The highest agency whose name has the text at the beginning of a word, else the one with a name that is spelt almost so. */
function closestByName(agencies: readonly Agency[], text: string): Agency | undefined {
  const words = ` ${plainWords(text)}`;
  const [named] = agencies
    .filter(({ forms }) => forms.some((form) => ` ${form}`.includes(words)))
    .sort((left, right) => levelOf(left.code) - levelOf(right.code) || left.name.length - right.name.length);
  if (named !== undefined) return named;
  const known = new Map(agencies.toReversed().flatMap((agency) => [agency.name, ...agency.abbreviations].map((each) => [each, agency])));
  const name = closest(text.trim(), [...known.keys()]);
  return name === undefined ? undefined : known.get(name);
}

function sorted(text: string): string {
  return [...text].sort().join("");
}

/** The values of a list with commas. A name with commas is one value: "ENERGY, DEPARTMENT OF,NIH" are two. */
export function valuesIn(list: string): string[] {
  const pieces = list.split(",");
  const values: string[] = [];
  for (let first = 0; first < pieces.length; ) {
    let last = pieces.length;
    while (last > first + 1 && codesMeant(pieces.slice(first, last).join(",")).length === 0) last--;
    values.push(pieces.slice(first, last).join(",").trim());
    first = last;
  }
  return values;
}
