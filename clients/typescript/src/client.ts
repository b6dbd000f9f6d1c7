/** The five endpoints of the API as functions with the types of the API. */
import { ResponseError, TooLongError } from "./errors.ts";
import { type Answer, isJsonObject, type JsonMembers, type RequestOptions, request } from "./request.ts";
import type {
  ListOpportunitiesQuery,
  ListOpportunityEventsQuery,
  OpportunityDetail,
  OpportunityEvent,
  OpportunityEventPage,
  OpportunityPage,
  ServiceMetadataDetail,
  SourceList,
} from "./schemas.ts";

/** The bodies of responses by the names of their schemas. */
type Bodies = {
  OpportunityPage: OpportunityPage;
  OpportunityDetail: OpportunityDetail;
  OpportunityEventPage: OpportunityEventPage;
  SourceList: SourceList;
  ServiceMetadataDetail: ServiceMetadataDetail;
  EventPage: EventPage;
};

/** Where to send requests, and how. */
export type ApiClientOptions = RequestOptions & {
  /** Looks at each response: returns the path of the first member that its schema does not allow, or `undefined`. */
  check?: (schema: keyof Bodies, body: unknown) => string | undefined;
};

/** An opportunity with the entity tag that `getOpportunityIfChanged` takes; `null` if there was none. */
export type TaggedOpportunity = OpportunityDetail & { etag: string | null };

/**
 * Which events of many records to list: the whole histories of at most 100 records, or what was stored after the cursor of an earlier page.
 * `after: "latest"` returns no events, and the cursor of what will be stored next.
 */
export type ListEventsQuery = { opportunity?: readonly string[] | undefined; after?: string | undefined; limit?: number | undefined };

/** Events of many records, and the cursor to continue from; null at the end of histories. */
export type EventPage = { data: OpportunityEvent[]; meta: { has_more: boolean; next_cursor: string | null } };

/** Functions named after the operations of the API. Each throws a FundfeedError if there is no such response. */
export type ApiClient = {
  /** One page of the opportunities that match, the most recently changed first. */
  listOpportunities: (query?: ListOpportunitiesQuery) => Promise<OpportunityPage>;
  getOpportunity: (id: string) => Promise<TaggedOpportunity>;
  /** Returns `undefined` if the opportunity is still the one with this entity tag. Such a response is small. */
  getOpportunityIfChanged: (id: string, etag: string) => Promise<TaggedOpportunity | undefined>;
  /** One page of the history of an opportunity, the newest event first. */
  listOpportunityEvents: (id: string, query?: ListOpportunityEventsQuery) => Promise<OpportunityEventPage>;
  /** One page of `/events.json`, which `fundfeed up` has beside `/v1`. Where it is not, as on `fundfeed serve`, throws a ProblemError with 404. */
  listEvents: (query?: ListEventsQuery) => Promise<EventPage>;
  listSources: () => Promise<SourceList>;
  /** Needs no key. */
  getMeta: () => Promise<ServiceMetadataDetail>;
};

/** The page size of a list that is asked for without one. */
const LIMIT = 25;

/** A client of the API. Throws a TypeError if the key is none. */
export function createClient(options: ApiClientOptions): ApiClient {
  // Otherwise `Headers` would throw, with the key in the message.
  if (options.key !== undefined && !/^[\x21-\x7e]+$/.test(options.key)) throw new TypeError("the key has characters that no key has");

  const checked = <Name extends keyof Bodies>(schema: Name, body: unknown): Bodies[Name] => {
    const wrong = wrongMember(body) ?? options.check?.(schema, body);
    if (wrong === undefined) return body as Bodies[Name];
    throw new ResponseError(`the response is not what the API returns: ${wrong} is missing or wrong`, false);
  };
  const get = async <Name extends keyof Bodies>(schema: Name, path: string) => checked(schema, (await request(options, path)).body);

  /** Asks for half as many items if the response is too long. */
  const list = async <Name extends keyof Bodies>(
    schema: Name,
    path: string,
    query: { limit?: number | undefined },
  ): Promise<Bodies[Name]> => {
    try {
      return await get(schema, path + queryText(query));
    } catch (error) {
      const limit = query.limit ?? LIMIT;
      if (!(error instanceof TooLongError) || limit === 1) throw error;
      return list(schema, path, { ...query, limit: Math.floor(limit / 2) });
    }
  };
  const tagged = ({ body, headers }: Answer): TaggedOpportunity => ({
    ...checked("OpportunityDetail", body),
    etag: headers.get("etag"),
  });
  return {
    listOpportunities: (query = {}) => list("OpportunityPage", "/opportunities", query),
    getOpportunity: async (id) => tagged(await request(options, pathOf(id))),
    getOpportunityIfChanged: async (id, etag) => {
      const answer = await request(options, pathOf(id), { "If-None-Match": etag });
      return answer.body === undefined ? undefined : tagged(answer);
    },
    listOpportunityEvents: (id, query = {}) => list("OpportunityEventPage", `${pathOf(id)}/events`, query),
    listEvents: async (query = {}) => {
      const besides = { ...options, baseUrl: options.baseUrl.replace(/\/v1\/*$/, "") };
      return checked("EventPage", (await request(besides, `/events.json${queryText(query)}`)).body);
    },
    listSources: () => get("SourceList", "/sources"),
    getMeta: () => get("ServiceMetadataDetail", "/meta"),
  };
}

function pathOf(id: string): string {
  return `/opportunities/${encodeURIComponent(id)}`;
}

/** The query with its question mark. Leaves out what is undefined, and empty lists. */
function queryText(query: object): string {
  const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value ?? "")]);
  const text = new URLSearchParams(given.filter(([, value]) => value !== "")).toString();
  return text === "" ? "" : `?${text}`;
}

/** The path of a member that every response has, and this one does not. */
function wrongMember(body: unknown): string | undefined {
  const { data, meta } = isJsonObject(body) ? body : ({} as JsonMembers);
  if (typeof data !== "object" || data === null) return "data";
  return isJsonObject(meta) ? undefined : "meta";
}
