/** The one opportunity that a tool is asked for. */
import { Failure } from "../../../db/reason.ts";
import { statuses, type WholeOpportunity } from "../../opportunities/opportunity.ts";
import { findByNumber } from "../../search/find.ts";
import { findNamed } from "../../search/named.ts";
import { requireSources } from "../../sources/source.ts";
import { quoted } from "../../text/quoted.ts";
import { codeInWords, knownOrQuoted } from "../upstream-text.ts";
import type { ToolCall } from "./tool.ts";

export const ID = "Its id, its number, or an id of its source, also a former one.";

const SAME_NUMBER_MAX = 20;

/** No opportunity has the id or number. */
export class NoOpportunity extends Failure {}

/** The one opportunity with this id or number. Throws a NoOpportunity if there is none, and an Error if there are several. */
export async function theOpportunity(
  action: string,
  id: string,
  source: string | undefined,
  { catalog, withIndex, now }: ToolCall,
): Promise<WholeOpportunity> {
  if (source !== undefined) await requireSources(catalog, [source], "get an opportunity of");
  const limit = SAME_NUMBER_MAX + 1; // One more shows that there are more.
  const numbered = () => withIndex(now, (index) => findByNumber(index, id, limit, source));
  const found = await findNamed(catalog, { text: id, source, limit, now }, numbered);
  const [opportunity] = found;
  if (opportunity === undefined)
    throw new NoOpportunity(
      `Cannot ${action}: no opportunity${source === undefined ? "" : ` of ${source}`} has the id or number ${quoted(id)}. Look for it with find`,
    );
  if (found.length === 1) return opportunity;
  const list = found
    .slice(0, SAME_NUMBER_MAX)
    .map((each) => `${each.id} (${codeInWords(each.source.code)}, ${quoted(each.title)}, ${knownOrQuoted(each.status, statuses)})`)
    .join("; ");
  const more = found.length > SAME_NUMBER_MAX ? "; and more: look for it with find" : "";
  throw new Failure(`Cannot ${action}: several opportunities have the number ${quoted(id)}. Give the id of one: ${list}${more}`);
}
