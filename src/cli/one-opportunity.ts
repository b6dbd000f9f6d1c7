/** Finds the one opportunity that a person names. */
import type { CatalogDb } from "../../db/engine.ts";
import { Failure } from "../../db/reason.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { statusInWords } from "../opportunities/status.ts";
import { findByNumber } from "../search/find.ts";
import { findNamed } from "../search/named.ts";
import { quoted } from "../text/quoted.ts";
import type { CliCommand } from "./command.ts";
import { withSearchIndex } from "./search-options.ts";

const LISTED = 10;
/** Enough characters of an id to find it again. */
export const ID_BEGINNING = 8;

export function addIdArgument(command: CliCommand): CliCommand {
  return command.argument("<id>", "its id or the beginning of it, its number, or an id that its source has or had for it");
}

/** The opportunity with this id or number; of records of one opportunity, the canonical one. Throws if there is none, or if there are several. */
export async function requireOpportunity(
  command: CliCommand,
  catalog: CatalogDb,
  text: string,
  verb: string,
  words = verb,
): Promise<WholeOpportunity> {
  const named = { text: text.trim(), limit: LISTED + 1, now: command.machine.now() };
  const opportunities = await findNamed(catalog, named, () =>
    withSearchIndex(command, catalog, async (index) => findByNumber(index, named.text, named.limit)),
  );
  const [opportunity] = opportunities;
  if (opportunity === undefined)
    throw new Failure(`Cannot ${verb} ${text}: no opportunity has this id or number; look for it with fundfeed find`);
  if (opportunities.length === 1) return opportunity;
  const lines = opportunities.slice(0, LISTED).map(({ id, source, title, status }) => {
    return `${source.code}, ${quoted(title)}, ${statusInWords(status)}: fundfeed ${words} ${id.slice(0, ID_BEGINNING)}`;
  });
  const more = opportunities.length > LISTED ? `; and more: fundfeed find ${quoted(text)}` : "";
  throw new Failure(`Cannot ${verb} ${text}: several opportunities have this number; ${verb} one of them: ${lines.join("; ")}${more}`);
}
