/** What the tools say of several records of one opportunity. */
import type { AlsoAt } from "../../opportunities/related.ts";
import { counted } from "../../text/counted.ts";
import { codeInWords } from "../upstream-text.ts";

export const TWINS = "How many others of the same opportunities were left out: `all_sources` returns each.";

/** "also at NSF (id f834149b-…); "; "" without twins. */
export function alsoAtInLine(alsoAt: readonly AlsoAt[]): string {
  const others = alsoAt.map(({ source, id }) => `${codeInWords(source)} (id ${id})`);
  return others.length === 0 ? "" : `also at ${others.join(", ")}; `;
}

/** What was left out, so that nobody takes the list for complete. */
export function twinLines(twins: number, noun: string): string[] {
  return twins === 0 ? [] : [`${counted(twins, `more ${noun}`)} of the same opportunities: all_sources returns each.`];
}
