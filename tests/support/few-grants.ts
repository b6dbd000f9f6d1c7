/** Real opportunities of Grants.gov, few of them: of each file the same ones. */
import { aFile } from "./imports.ts";
import { realFile, realJson } from "./real-data.ts";

/** Writes the extract of a day, such as 20260803, with those opportunities whose id `oneOf` divides. Returns its path. */
export function extractOfFew(day: string, oneOf: number): string {
  const text = realFile(`grants-gov/derived/GrantsDBExtract${day}v2.reconstructed.xml`).toString();
  return aFile(fewOf(text, oneOf), `extract-${day}-${oneOf}.xml`);
}

/** Returns an extract with those of its opportunities whose id `oneOf` divides. */
export function fewOf(extract: string, oneOf: number): string {
  const each = /<(Opportunity\w+_1_0)>\s*<OpportunityID>(\d+)<.*?<\/\1>\s*/gs;
  return extract.replace(each, (all, _, id) => (id % oneOf === 0 ? all : ""));
}

type Hits = { oppHits: { id: string }[] };

/** Writes a search's response with those of its hits whose id `oneOf` divides. Returns its path. */
export function hitsOfFew(name: string, oneOf: number): string {
  const found = realJson<Hits & { data?: Hits }>(name);
  return aFile(JSON.stringify({ oppHits: (found.data ?? found).oppHits.filter(({ id }) => Number(id) % oneOf === 0) }));
}
