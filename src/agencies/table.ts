/** The federal agencies, made by `tests/support/agencies-table.ts`. Our code begins with the parent's: `HHS.NIH.NCI`. (E-59) */
import { normalForm } from "./names.ts";
import text from "./table.tsv" with { type: "text" };

/** `forms` are the normal forms of its names in all styles. */
export type Agency = { code: string; name: string; abbreviations: readonly string[]; forms: readonly string[] };

/** Changes with the table: what was resolved by another one is resolved again. */
export const tableVersion = Bun.hash.crc32(text);

let read: ReturnType<typeof readTable> | undefined;

function table() {
  read ??= readTable(text);
  return read;
}

function readTable(lines: string) {
  const made = {
    rows: new Map<string, readonly string[]>(),
    byUpstreamCode: new Map<string, string>(),
    /** By abbreviation in upper case, and by the normal form of a name. */
    byAbbreviation: new Map<string, string[]>(),
    byName: new Map<string, string[]>(),
    /** Normal forms of names that go on: "mission to" of "U.S. Mission to *". */
    beginnings: [] as [string, string][],
    parents: new Set<string>(),
  };
  for (const line of lines.trimEnd().split("\n")) {
    const row = line.split("\t");
    const [code = "", , abbreviations = "", forms = "", upstreamCodes = ""] = row;
    made.rows.set(code, row);
    if (code.includes(".")) made.parents.add(code.slice(0, code.lastIndexOf(".")));
    if (upstreamCodes !== "") for (const each of upstreamCodes.split("|")) made.byUpstreamCode.set(each, code);
    if (abbreviations !== "") for (const each of abbreviations.split("|")) push(made.byAbbreviation, each.toUpperCase(), code);
    for (const form of forms.split("|")) {
      if (form.endsWith(" *")) made.beginnings.push([form.slice(0, -1), code]);
      else push(made.byName, form, code);
    }
  }
  return made;
}

function push(map: Map<string, string[]>, key: string, code: string): void {
  const codes = map.getOrInsert(key, []);
  if (!codes.includes(code)) codes.push(code);
}

/** The agency with this code of ours. */
export function agencyByCode(code: string): Agency | undefined {
  const row = table().rows.get(code);
  return row && agencyOf(row);
}

/** Our code for exactly this code of an upstream. */
export function codeOfExactly(code: string): string | undefined {
  return table().byUpstreamCode.get(code);
}

/** Our code for a code of an upstream: `7529` of SAM.gov, `HHS-NIH11` of Grants.gov. An unknown code of Grants.gov belongs to the one it begins with. */
export function codeOfUpstream(code: string): string | undefined {
  for (let part = code; part !== ""; part = part.slice(0, Math.max(0, part.lastIndexOf("-")))) {
    const found = codeOfExactly(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Our codes of all agencies with this abbreviation, in any letter case. */
export function codesOfAbbreviation(abbreviation: string): readonly string[] {
  return table().byAbbreviation.get(abbreviation.toUpperCase()) ?? [];
}

/** Our codes of all agencies with this name, in any style. */
export function codesOfName(name: string): readonly string[] {
  const sought = normalForm(name);
  const found = table().byName.get(sought);
  if (found !== undefined) return found;
  const { beginnings } = table();
  return beginnings.filter(([beginning]) => sought.startsWith(beginning)).map(([, code]) => code);
}

/** Our codes of the agencies whose name begins so. */
export function codesOfCutName(beginning: string): readonly string[] {
  const sought = normalForm(beginning);
  return [...new Set([...table().byName].flatMap(([name, codes]) => (name.startsWith(sought) ? codes : [])))];
}

/** Whether an agency is another one or a part of it. */
export function isWithin(code: string, parent: string): boolean {
  return code === parent || code.startsWith(`${parent}.`);
}

/** 1 for a department, 0 for no code. */
export function levelOf(code: string): number {
  return code === "" ? 0 : code.split(".").length;
}

/** The code of an agency after those of all that it is a part of: DOD, DOD.NAVY, DOD.NAVY.ONR. */
export function withParents(code: string): string[] {
  const parts = code.split(".");
  return parts.map((_, n) => parts.slice(0, n + 1).join("."));
}

/** Whether an agency has parts. */
export function hasParts(code: string): boolean {
  return table().parents.has(code);
}

/** All agencies. */
export function listAgencies(): Agency[] {
  return [...table().rows.values()].map(agencyOf);
}

function agencyOf([code = "", name = "", abbreviations = "", forms = ""]: readonly string[]): Agency {
  return { code, name, abbreviations: abbreviations === "" ? [] : abbreviations.split("|"), forms: forms.split("|") };
}
