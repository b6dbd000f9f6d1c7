/** Resolves the agency of a record, by the codes of its upstream, then by the published names, then by words in the name of its office. (E-59) */
import { codesOfOffice } from "./offices.ts";
import { codeOfUpstream, codesOfAbbreviation, codesOfCutName, codesOfName, isWithin, levelOf } from "./table.ts";

/** What a record says about its agency. `codes` are those of its upstream, `numbers` those of the opportunity. */
export type PublishedAgency = {
  codes: readonly string[];
  agency: string | null;
  sub_agency: string | null;
  issuing_office: string | null;
  numbers?: readonly (string | null)[];
};

/** Records of one source repeat few agencies. */
const KEPT_MAX = 20_000;
const kept = new Map<string, string | null>();

/** Our code of the smallest agency that a record names; null if it is not in the table. */
export function resolveAgency({ codes, agency, sub_agency, issuing_office, numbers = [] }: PublishedAgency): string | null {
  const numbered = agencyOfNumber(numbers);
  const key = [agency, sub_agency, issuing_office, numbered, ...codes].join("\n");
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size === KEPT_MAX) kept.clear();
  const resolved = resolve(codes, [agency, sub_agency], issuing_office, numbered) ?? null;
  kept.set(key, resolved);
  return resolved;
}

function resolve(codes: readonly string[], names: readonly (string | null)[], office: string | null, numbered: string): string | undefined {
  let found = codes
    .map((code) => codeOfUpstream(code))
    .reduce((before, code) => (levelOf(code ?? "") >= levelOf(before ?? "") ? code : before), undefined);
  for (const name of names) if (name !== null) found = withName(found, name);
  if (found === undefined) return undefined;
  if (office !== null) {
    found = withName(found, office);
    for (const code of codesOfOffice(office)) found = narrowed(found, [code]);
  }
  return narrowed(found, [codeOfUpstream(numbered) ?? ""]);
}

/** The table's code for a number, or "": NIH:CA of RFA-CA-26-001, by its institute; DODAAC:M of M6785426R0001, by its service. */
function agencyOfNumber(numbers: readonly (string | null)[]): string {
  for (const number of numbers) {
    const [, institute, service] = /^(?:RFA|NOT|OTA)-([A-Z]{2})-\d|^(M)\d{5}-?\d{2}-?[A-Z]/.exec(number ?? "") ?? [];
    if (institute !== undefined) return `NIH:${institute}`;
    if (service !== undefined) return `DODAAC:${service}`;
  }
  return "";
}

/** Between the parts of a name: "Department of Homeland Security - FEMA", "DOT/Federal Motor Carrier Safety Administration". */
const BETWEEN = /\s+[-–—]+\s+|[–—]|--+|\/|[()]|[:;]/;
/** Grants.gov cut long names. */
const CUT_LENGTH = 45;

function withName(before: string | undefined, name: string): string | undefined {
  const whole = narrowed(before, codesOfName(name));
  if (whole !== before) return whole;
  let found = before;
  for (const part of name.split(BETWEEN)) {
    const pieces = codesOfPart(part).length > 0 ? [part] : part.split(/, |-/);
    for (const piece of pieces) found = narrowed(found, codesOfPart(piece));
  }
  if (found === undefined && name.length >= CUT_LENGTH) return narrowed(undefined, codesOfCutName(name));
  return found;
}

/** By its name, its abbreviation, or one that it begins or ends with. */
function codesOfPart(part: string): readonly string[] {
  const text = part.trim();
  if (text === "") return [];
  const named = codesOfName(text);
  if (named.length > 0) return named;
  const words = text.split(/\s+/);
  for (const word of [words.at(0) ?? "", words.at(-1) ?? ""]) {
    const codes = /^[A-Z][A-Za-z]*[A-Z]$/.test(word) ? codesOfAbbreviation(word) : [];
    if (codes.length > 0) return codes;
  }
  return [];
}

/** The agency of `codes` within `before` that has all others as its parts; `before` if there is none. */
function narrowed(before: string | undefined, codes: readonly string[]): string | undefined {
  const within = codes.filter((code) => code !== "" && (before === undefined || isWithin(code, before)));
  const [least] = within.toSorted((one, other) => one.length - other.length);
  if (least === undefined || !within.every((code) => isWithin(code, least))) return before;
  return least;
}
