/** The number by which people know an opportunity. */
import type { Opportunity } from "../opportunities/opportunity.ts";

/** Upstream ids that only machines use: numbers of a database, hexadecimal ids, addresses. */
const INTERNAL = /^(\d+|[0-9a-f-]{32,36}|https?:.*)$/i;

/** As many digits of the service id as name a record in a catalog. */
const ID_DIGITS = 8;

/** The upstream id if people use it, else the solicitation number, else the beginning of the service id. */
export function numberOf({ id, source, program }: Pick<Opportunity, "id" | "source" | "program">): string {
  const upstreamId = source.opportunity_id.trim();
  return INTERNAL.test(upstreamId) ? program.solicitation_id?.trim() || id.slice(0, ID_DIGITS) : upstreamId;
}
