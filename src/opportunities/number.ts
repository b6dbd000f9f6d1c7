/** The number by which people know an opportunity. */
import type { Opportunity } from "./opportunity.ts";

/** Upstream ids that only machines use: numbers of a database, hexadecimal ids, addresses. */
const INTERNAL = /^(\d+|[0-9a-f-]{32,36}|https?:.*)$/i;

/** The upstream id if people use it, else the solicitation number; null if it has neither. */
export function numberOf({ source, program }: Pick<Opportunity, "source" | "program">): string | null {
  const upstreamId = source.opportunity_id.trim();
  return INTERNAL.test(upstreamId) ? program.solicitation_id?.trim() || null : upstreamId;
}

/** The number for tables and headings: "–" if there is none. */
export function numberInWords(opportunity: Pick<Opportunity, "source" | "program">): string {
  return numberOf(opportunity) ?? "–";
}

/** A number as it is compared: in upper case, and without anything but letters and digits. People write dashes or leave them out. */
export function numberKeyOf(number: string): string {
  return number.toUpperCase().replace(/[^0-9A-Z]/g, "");
}
