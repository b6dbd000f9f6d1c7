/** The addresses of the pages. */

export type UrlQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A path with a query. Lists are joined with commas; what is empty is left out. */
export function addressOf(path: string, query: UrlQuery): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    const text = typeof value === "string" ? value : (value ?? []).join(",");
    return text === "" ? [] : [[name, text]];
  });
  const text = new URLSearchParams(given).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return text === "" ? path : `${path}?${text}`;
}

/** The page of one opportunity, as of an earlier instant if there is one in the address that leads there. */
export function opportunityAddress(id: string, asOf = ""): string {
  return addressOf(`/opportunities/${encodeURIComponent(id)}`, { as_of: asOf });
}

/** The description of the searches for other programs. */
export const DESCRIPTION_PATH = "/find.openapi.json";

/** The header in which a front says where a request was sent to. */
export const ADDRESS_HEADER = "x-fundfeed-address";
