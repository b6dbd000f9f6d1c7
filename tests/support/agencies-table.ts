/**
 * Makes `src/agencies/table.tsv` of published lists and of `additions.tsv` there, which is written by hand:
 *
 *   bun tests/support/agencies-table.ts usaspending-agencies.csv grants-gov-codes.csv > src/agencies/table.tsv
 *
 * The first file has nine columns of USAspending's list (github.com/fedspendingtransparency/usaspending-api, authoritative_agency_list.csv
 * at commit 6ae1d70 of June 2019, CC0). The second one has codes of Grants.gov with their names: those of api/tests/lib/seed_agencies.py of
 * github.com/HHS/simpler-grants-gov, and those of the extracts that PROVENANCE.tsv of the tests names. (E-59)
 */
import { join } from "node:path";
import { normalForm } from "../../src/agencies/names.ts";

type Row = { code: string; name: string; abbreviations: Set<string>; names: Set<string>; codes: Set<string> };

/** The beginnings of sub-tier codes that belong to a part of the Department of Defense. */
const MILITARY: Readonly<Record<string, string>> = { "17": "DOD.NAVY", "21": "DOD.ARMY", "57": "DOD.USAF" };
/** The State Department pays to these. They are no agencies of the United States, but for the first one. */
const INTERNATIONAL = /^19(?!BM)[A-Z]/;

/** The table as text. `additions` come first: what they say of a code holds. */
export function makeTable(usaspending: string, grantsGov: string, additions: string): string {
  const rows = new Map<string, Row>();
  const homes = new Map<string, string>();
  const dropped = new Set<string>();
  const byHand = new Set<string>();
  const add = (code: string, name: string, abbreviations: readonly string[], names: readonly string[], codes: readonly string[]) => {
    const row = rows.get(code) ?? { code, name, abbreviations: new Set(), names: new Set(), codes: new Set() };
    rows.set(code, row);
    if (!byHand.has(code)) for (const each of abbreviations) if (each !== "") row.abbreviations.add(each);
    for (const each of [name, ...names]) if (each !== "") row.names.add(each);
    for (const each of codes) {
      row.codes.add(each);
      homes.set(each, code);
    }
  };

  for (const [code = "", name = "", abbreviations = "", names = "", codes = ""] of linesOf(additions, "\t")) {
    if (code === "-") for (const each of codes.split("|")) dropped.add(each);
    else add(code, name, listOf(abbreviations), listOf(names), listOf(codes));
    byHand.add(code);
  }

  const [, ...published] = linesOf(usaspending, ",");
  const tops = new Map<string, string>();
  for (const [cgac = "", , agency = "", short = "", subtier = "", , , original = ""] of published) {
    if (tops.has(cgac) || dropped.has(cgac)) continue;
    const code = homes.get(cgac) ?? labelOf(short, subtier);
    tops.set(cgac, code);
    add(code, agency, [short], [original], [cgac]);
  }
  for (const [cgac = "", , , , subtier = "", name = "", short = "", , original = ""] of published) {
    const top = tops.get(cgac);
    if (top === undefined || !/^\w{4}$/.test(subtier) || dropped.has(subtier) || INTERNATIONAL.test(subtier)) continue;
    const parent = top === "DOD" ? (MILITARY[subtier.slice(0, 2)] ?? top) : top;
    const known = homes.get(subtier) ?? sameName(rows, parent, name);
    const label = labelOf(short, subtier);
    const isTaken = rows.has(`${parent}.${label}`);
    add(known ?? `${parent}.${isTaken ? subtier : label}`, name, [short], [original.startsWith("[") ? "" : original], [subtier]);
  }

  const [, ...pairs] = linesOf(grantsGov, ",");
  for (const [code = "", name = ""] of pairs.sort(([left = ""], [right = ""]) => (left < right ? -1 : 1))) {
    if (dropped.has(code)) continue;
    const parent = parentOf(homes, code);
    if (parent === undefined) continue;
    const known = homes.get(code) ?? sameName(rows, parent, name) ?? (code.includes("-") ? undefined : parent);
    add(known ?? `${parent}.${labelOf(code.split("-").at(-1) ?? "", code)}`, name.replace("&amp;", "&"), [], [], [code]);
  }
  return [...rows.values()]
    .sort((left, right) => (left.code < right.code ? -1 : 1))
    .map(({ code, name, ...lists }) => {
      const forms = new Set([name, ...lists.names].map((each) => normalForm(each) + (each.endsWith(" *") ? " *" : "")));
      return [code, name, ...[lists.abbreviations, forms, lists.codes].map((list) => [...list].join("|"))].join("\t");
    })
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

/** The agency below `parent` whose name is the same, the nearest first. */
function sameName(rows: ReadonlyMap<string, Row>, parent: string, name: string): string | undefined {
  const sought = normalForm(name);
  const isSame = (row: Row) => [row.name, ...row.names].some((each) => normalForm(each) === sought);
  return [...rows.values()]
    .filter((row) => (row.code === parent || row.code.startsWith(`${parent}.`)) && isSame(row))
    .map(({ code }) => code)
    .sort((left, right) => left.split(".").length - right.split(".").length)[0];
}

/** The home of the longest beginning of a code of Grants.gov that is known. */
function parentOf(homes: ReadonlyMap<string, string>, code: string): string | undefined {
  for (let part = code; part !== ""; part = part.includes("-") ? part.slice(0, part.lastIndexOf("-")) : "") {
    const home = homes.get(part);
    if (home !== undefined && part !== code) return home;
    if (home !== undefined && !code.includes("-")) return home;
  }
  return undefined;
}

/** The last part of our code: the abbreviation, or an upstream code if there is none that is short and plain. */
function labelOf(abbreviation: string, fallback: string): string {
  const plain = abbreviation.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
  return /^[A-Z][A-Z0-9]{1,9}$/.test(plain) ? plain : fallback;
}

function listOf(cell: string): string[] {
  return cell === "" ? [] : cell.split("|");
}

/** The cells of each line. Lines that begin with # are comments; quoted cells have no line breaks. */
function linesOf(text: string, separator: "\t" | ","): string[][] {
  const lines = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (separator === "\t") return lines.map((line) => line.split("\t"));
  return lines.map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain = ""]) =>
      (quoted?.replaceAll('""', '"') ?? plain).trim(),
    ),
  );
}

if (import.meta.main) {
  const [, , usaspending = "", grantsGov = ""] = process.argv;
  const additions = join(import.meta.dir, "../../src/agencies/additions.tsv");
  const [first = "", second = "", third = ""] = await Promise.all([usaspending, grantsGov, additions].map((path) => Bun.file(path).text()));
  process.stdout.write(makeTable(first, second, third));
}
