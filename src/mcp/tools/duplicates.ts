/** What the tools say of several records of one opportunity. */
import { type AlsoAt, statusThere } from "../../opportunities/related.ts";
import { counted } from "../../text/counted.ts";
import { codeInWords } from "../upstream-text.ts";

export const DUPLICATES = "Other records of these, left out without `all_sources`.";

/** "also at NSF (closed there) (id f834149b-…); ", next to a record of that status; "" without duplicates. */
export function alsoAtInLine(alsoAt: readonly AlsoAt[], shown: string): string {
  const others = alsoAt.map(({ source, id, status }) => `${codeInWords(source)}${statusThere(status, shown)} (id ${id})`);
  return others.length === 0 ? "" : `also at ${others.join(", ")}; `;
}

/** What was left out, so that nobody takes the list for complete. */
export function duplicateLines(duplicates: number, noun: string): string[] {
  return duplicates === 0 ? [] : [`${counted(duplicates, `more ${noun}`)} of the same opportunities: all_sources returns each.`];
}
