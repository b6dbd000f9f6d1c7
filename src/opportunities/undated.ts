/** What is said of an opportunity that has no due date. */
import type { Opportunity } from "./opportunity.ts";

/** "no date stated, posted 2016" */
export function undatedInWords({ dates: { posted_at } }: { dates: Pick<Opportunity["dates"], "posted_at"> }): string {
  return `no date stated${posted_at === null ? "" : `, posted ${posted_at.slice(0, 4)}`}`;
}
