/** All that the package exports. */
// biome-ignore-all lint/performance/noBarrelFile: a package has one entry.

export {
  type ApiClient,
  type ApiClientOptions,
  createClient,
  type EventPage,
  type ListEventsQuery,
  type TaggedOpportunity,
} from "./client.ts";
export { ConnectionError, FundfeedError, ProblemError, ResponseError } from "./errors.ts";
export { pages } from "./pages.ts";
export type * from "./schemas.ts";
export { type SyncedPage, type SyncedRecord, type SyncOptions, type SyncState, sync } from "./sync.ts";
