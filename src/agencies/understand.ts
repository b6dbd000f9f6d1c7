/** What a person means by an agency: an abbreviation, a code or a full name. (E-59) */
import { closest } from "../text/closest.ts";
import { normalForm, plainWords } from "./names.ts";
import {
  type Agency,
  agencyByCode,
  codeOfExactly,
  codesOfAbbreviation,
  codesOfName,
  hasParts,
  isWithin,
  levelOf,
  listAgencies,
  withParents,
} from "./table.ts";

/** Our codes of the agencies that a text means. Of several levels the highest: NEA is the Endowment, not a bureau of State. */
export function codesMeant(text: string): readonly string[] {
  const value = text.trim();
  const own = agencyByCode(value.toUpperCase())?.code;
  if (own !== undefined) return [own];
  const codes = codesWith(value);
  const upstream = codes.length > 0 ? undefined : codeOfExactly(value.toUpperCase());
  if (upstream !== undefined) return [upstream];
  return highest(codes.length > 0 ? codes : codesOfPartNamed(value));
}

/** Our codes of the agencies with this name, a department with or without its "Department of": "State Department", "Homeland Security". */
export function codesNamed(name: string): readonly string[] {
  const named = codesOfName(name);
  if (named.length > 0) return named;
  const form = normalForm(name);
  const bare = form.replace(/^department of | department$/, "");
  const department = codesOfName(`department of ${bare}`);
  if (department.length > 0 || bare === form) return department;
  return codesOfAbbreviation(bare).filter((code) => levelOf(code) === 1); // "Dept of Ed".
}

/** U.S.D.A., "USDA (Agriculture)", "the NIH", "US EPA". */
function codesWith(text: string): readonly string[] {
  const plain = text
    .replace(/\([^)]*\)?/g, " ")
    .replace(/\b(?:[A-Za-z]\.){2,}/g, (letters) => letters.replaceAll(".", ""))
    .trim();
  for (const each of [text, plain, plain.replace(/^(the |us |usa )+/i, "")]) {
    const codes = codesOfAbbreviation(each);
    if (codes.length > 0) return codes;
  }
  return codesNamed(text);
}

const PART_WORDS_MAX = 16;

/** "HHS/NIH", "DOE Office of Science". Commas stand between values. */
function codesOfPartNamed(text: string): readonly string[] {
  const words = text.split(/\s+[-–—]\s+|[\s/.:]+|-(?=[A-Z]{2})/).filter((word) => word !== "");
  if (text.includes(",") || words.length > PART_WORDS_MAX) return [];
  for (let length = words.length - 1; length > 0; length--) {
    const [whole, ...others] = highest(codesWith(words.slice(0, length).join(" ")));
    if (whole === undefined || others.length > 0) continue;
    const named = words.slice(length).join(" ");
    const parts = [named, `${named} District`].flatMap(codesWith).filter((code) => isWithin(code, whole)); // "USACE Tulsa".
    if (parts.length > 0) return parts;
  }
  return [];
}

function highest(codes: readonly string[]): readonly string[] {
  const level = Math.min(...codes.map(levelOf));
  return codes.filter((each) => levelOf(each) === level);
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

/** A shorter text without blanks is an abbreviation. One letter makes it that of another agency: CISA is not DISA. */
const WORD_LENGTH_MIN = 7;

/** "NIH (National Institutes of Health)": the agency that was probably meant; undefined if none is close. */
export function agencyMeantBy(text: string): string | undefined {
  const agencies = listAgencies();
  const value = text.trim();
  const isAbbreviation = value.length < WORD_LENGTH_MIN || /^[A-Z\d&-]+$/.test(value);
  const found = withSlip(agencies, value) ?? (isAbbreviation ? undefined : closestByName(agencies, value));
  if (found === undefined) return undefined;
  const [short] = found.abbreviations;
  return short === undefined ? found.name : `${short} (${found.name})`;
}

/** By an abbreviation with two neighboring letters in the wrong order, or with one of them twice. */
function withSlip(agencies: readonly Agency[], typed: string): Agency | undefined {
  const letters = typed.toUpperCase();
  const slips = [...letters].flatMap((letter, n) => {
    const [before, next, after] = [letters.slice(0, n), letters[n + 1] ?? "", letters.slice(n + 2)];
    return [before + next + letter + after, ...(letter === next ? [before + letter + after] : [])];
  });
  const meant = new Set(slips.filter((slip) => slip.length > 2));
  return agencies
    .filter(({ abbreviations }) => abbreviations.some((each) => meant.has(each.toUpperCase())))
    .sort((left, right) => levelOf(left.code) - levelOf(right.code))[0];
}

/** The highest agency with the text at the beginning of a word, else one spelt almost so. Region 4 is not Region V. */
function closestByName(agencies: readonly Agency[], text: string): Agency | undefined {
  if (/\d/.test(text)) return undefined;
  const words = ` ${plainWords(text)}`;
  const isNamed = ({ name }: Agency) => Number(` ${plainWords(name)}`.includes(words)); // And not only by another name.
  const [named] = agencies
    .filter(({ forms }) => forms.some((form) => ` ${form}`.includes(words)))
    .sort(
      (left, right) => levelOf(left.code) - levelOf(right.code) || isNamed(right) - isNamed(left) || left.name.length - right.name.length,
    );
  if (named !== undefined) return named;
  const known = new Map(agencies.toReversed().flatMap(({ code, name }) => [name, bareName(name)].map((each) => [each, code])));
  const name = closest(text.trim(), [...known.keys()]);
  return name === undefined ? undefined : agencyByCode(known.get(name) ?? "");
}

function bareName(name: string): string {
  return name.replace(/^Department of (?:the )?/, "");
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
