/** What the tools read from: the databases of this machine (local.ts), or a server (remote.ts). */
import { type Static, Type } from "@sinclair/typebox";
import type { OpportunityEvent, Severity } from "../events/event.ts";
import type { FieldName, Filter } from "../filter/filter.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import type { AlsoAt } from "../opportunities/related.ts";
import type { CursorKey } from "../search/cursor.ts";
import type { SearchPage, Sort } from "../search/search.ts";
import type { EpochMs } from "../text/instant.ts";

/**
 * Part of a list. `total` is null if it is not known or counting would cost too much, `next` is null on the last page. `twins` is how many
 * records or events were left out because those of another record of their opportunity are shown.
 */
export type ToolPage<Item, Next = readonly CursorKey[]> = { items: Item[]; total: number | null; next: Next | null; twins?: number };

/** `match` is the words around a match, `missing` the words of the question that it does not have. */
type Match = { opportunity: WholeOpportunity; match: string | null; missing: readonly string[]; alsoAt: AlsoAt[] };

export type FoundMatches = ToolPage<Match> & Pick<SearchPage, "understood" | "counts" | "drop">;
export type ToolChange = { event: OpportunityEvent; opportunity: WholeOpportunity; at: string | null; alsoAt: AlsoAt[] };

/** `after` is the `next` of an earlier page of the same request at the same `now`; empty for the first page. */
type Paging = { limit: number; after: readonly CursorKey[] };
export type FindRequest = Paging & { filter: Filter; sort: Sort; allSources: boolean };
/** `since` is exclusive and `until` inclusive, as in the feed of events. */
export type EventConditions = { types: string[] | undefined; atLeast: Severity; since: EpochMs | undefined; until: EpochMs | undefined };
export type HistoryRequest = Paging & EventConditions & { id: string };
export type ChangesRequest = Paging & EventConditions & { filter: Filter; allSources: boolean; since: EpochMs; until: EpochMs };

export const ToolFreshness = Type.Object({
  source: Type.String({ description: "Source code." }),
  as_of: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "How old the data are; null if that is not known.",
  }),
  age_seconds: Type.Union([Type.Integer(), Type.Null()]),
  basis: Type.Union([Type.Literal("last_import"), Type.Literal("newest_change")], {
    description:
      "What `as_of` is: when an import of the source last finished, or, over a server, when a record of it last changed. The data can be newer than the newest change.",
  }),
});
export type ToolFreshness = Static<typeof ToolFreshness>;

/** What is stored of one source. Null is what a server does not say. */
export type SourceFacts = {
  code: string;
  name: string | null;
  records: number | null;
  open: number | null;
  not_archived: number | null;
  newest_posted_on: string | null;
};

/** Why an event has its type and severity, and what brought it. */
export type ToolExplanation = {
  event: OpportunityEvent;
  opportunity: WholeOpportunity;
  rules: { field: string | null; type: string; severity: string; when: string }[];
  /** `detected` here, or `imported` from a history that another system kept. */
  origin: "detected" | "imported";
  import: { id: number; format: string; files: string[]; started_at: string; as_of: string | null } | null;
};

/** Clock, abort signal and progress callback of one request. */
export type ToolCall = { now: EpochMs; signal: AbortSignal; progress: (done: number, total: number, message: string) => void };

/** Every function throws an Error with one sentence about what failed and what to do. */
export type ToolReader = {
  /** Where the data are, for people. */
  place: string;
  /** The filters and sort orders that it serves. */
  filters: readonly FieldName[];
  sorts: readonly Sort[];
  /** How its `find` differs from what the filters say; "" if it does not. */
  findNote: string;
  find: (request: FindRequest, call: ToolCall) => Promise<FoundMatches>;
  /** The other records of the same opportunity. `null` if it does not know them; then lists show every record. */
  twins: ((id: string, call: ToolCall) => Promise<AlsoAt[]>) | null;
  /** The opportunities with this id or number; of one source, if it is given. */
  get: (id: string, source: string | undefined, call: ToolCall) => Promise<WholeOpportunity[]>;
  /** The events of one opportunity, newest first. */
  history: (request: HistoryRequest, call: ToolCall) => Promise<ToolPage<OpportunityEvent>>;
  /** The events of all opportunities, newest first. `null` if it does not serve them. */
  changes: ((request: ChangesRequest, call: ToolCall) => Promise<ToolPage<ToolChange>>) | null;
  /** `undefined` if there is no such event. `null` if it does not serve explanations. */
  explain: ((eventId: string, call: ToolCall) => Promise<ToolExplanation | undefined>) | null;
  sources: (call: ToolCall) => Promise<SourceFacts[]>;
  /** How old the data of each source are; `null` if that cannot be read now. */
  freshness: (call: ToolCall) => Promise<ToolFreshness[] | null>;
  close: () => Promise<void>;
};
