/** The filter on agencies: each value means an agency with its parts, or is a text in the published names. (E-59) */
import { Type } from "@sinclair/typebox";
import { plainWords } from "../agencies/names.ts";
import { isWithin } from "../agencies/table.ts";
import { agencyInWords, codesMeant, valuesIn } from "../agencies/understand.ts";
import { BadValue, ITEMS_MAX } from "../text/read-value.ts";
import { agencyCodeOf, publishedWords } from "./columns.ts";
import { type Condition, type Field, readPlain } from "./kinds.ts";

const HELP = "agency by abbreviation, code or name, its parts included: NIH, DOE; else a text in names";

const NAMED_MAX = 3;

/** One value of a list with commas must match. A name may have commas itself. */
export const agencyField: Field<string[]> = {
  label: "Agency",
  value: "<agencies>",
  help: HELP,
  schema: Type.Array(Type.String(), { description: HELP }),
  read: (given) => {
    const texts = typeof given === "string" ? valuesIn(given) : given;
    if (!Array.isArray(texts) || texts.length === 0) throw new BadValue("must be a list of agencies");
    if (texts.length > ITEMS_MAX) throw new BadValue(`must have at most ${ITEMS_MAX} values`);
    return [...new Set(texts.map(readAgency))];
  },
  words: (values) => `agency: ${values.map(meaningInWords).join(" or ")}`,
  matches: (values, opportunity) => {
    const code = agencyCodeOf(opportunity);
    return values.some((value) => {
      const codes = codesMeant(value);
      if (codes.length === 0) return publishedWords(opportunity).includes(needleOf(value));
      return code !== null && codes.some((each) => isWithin(code, each));
    });
  },
  condition: (values) => {
    const conditions = values.flatMap((value): Condition[] => {
      const codes = codesMeant(value);
      if (codes.length === 0)
        return [{ sql: "agency in (select row from agency_names where instr(words, ?) > 0)", values: [needleOf(value)] }];
      // The codes of parts begin with "HHS." and so lie before "HHS/".
      return codes.map((code) => ({
        sql: "agency_code = ? or (agency_code > ? and agency_code < ?)",
        values: [code, `${code}.`, `${code}/`],
      }));
    });
    return { sql: conditions.map(({ sql }) => sql).join(" or "), values: conditions.flatMap(({ values }) => values) };
  },
};

function readAgency(given: unknown): string {
  const value = readPlain(given).trim();
  if (plainWords(value) === "") throw new BadValue(`must have letters or digits; not "${value}"`);
  return value;
}

/** "National Institutes of Health (NIH) and its institutes"; a text that means no agency is in quotes. */
function meaningInWords(value: string): string {
  const codes = codesMeant(value);
  if (codes.length === 0) return `a name with "${value}"`;
  return codes.length > NAMED_MAX ? `${value}, which ${codes.length} agencies have` : codes.map(agencyInWords).join(" or ");
}

/** What `publishedWords` contains if a word begins so. */
export function needleOf(text: string): string {
  return ` ${plainWords(text)}`;
}
