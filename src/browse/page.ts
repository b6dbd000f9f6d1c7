/** The parts of a page, the context for making it, and the addresses of all pages. */
import type { Child } from "hono/jsx";
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";

export type BrowseSection = "find" | "changes" | "deadlines" | "sources" | "watches" | "following";

export type BrowsePage =
  | {
      title: string;
      description?: string;
      section?: BrowseSection;
      status?: number;
      /** Whether it has buttons that copy: they need a script, and the page does not. */
      hasCopyButtons?: true;
      body: Child;
    }
  | { location: string };

export type PageContext = {
  catalog: CatalogDb;
  index: SearchFile;
  now: EpochMs;
  member?: { id: string; watches: WatchDb } | undefined;
  query: URLSearchParams;
};

export type UrlQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A path with a query. Lists are joined with commas; empty values are left out. */
export function addressOf(path: string, query: UrlQuery): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    const text = typeof value === "string" ? value : (value ?? []).join(",");
    return text === "" ? [] : [[name, text]];
  });
  const text = new URLSearchParams(given).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return text === "" ? path : `${path}?${text}`;
}

export function omit(query: UrlQuery, ...names: readonly string[]): UrlQuery {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !names.includes(name)));
}

/** The page of one opportunity, as of an instant that its address has, and from a cursor of its history on. */
export function opportunityAddress(id: string, asOf = "", after = ""): string {
  return addressOf(`/opportunities/${encodeURIComponent(id)}`, { as_of: asOf, after });
}

export const DESCRIPTION_PATH = "/find.openapi.json";

/** The header in which `up` tells the reader which member asks. A request from outside cannot have it: `up` passes on named headers only. */
export const MEMBER_HEADER = "x-fundfeed-member";

/** The header in which `up` sends the reader the form of a member that was refused, so that its page shows it again. */
export const FORM_HEADER = "x-fundfeed-form";

/** The header in which `up` tells the reader the public address of a request, or its beginning if the path is that of the request. */
export const ADDRESS_HEADER = "x-fundfeed-address";
