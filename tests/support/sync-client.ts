/** A model of a client that keeps a copy in sync as docs/guides/sync.md describes: it polls with the newest `updated_at` it has stored. */

export type ClientRecord = { id: string; updated_at: string; created_at: string; [field: string]: unknown };
type ClientEvent = { type: string; changes: { field: string; current: unknown }[]; detected_at: string };

/** A response that breaks a promise of the API. The client does not retry it. */
class WrongResponse extends Error {}

/** Attempts for a minute: on a busy machine, a killed server may take that long to be back. */
const ATTEMPTS_MAX = 6000;
const PAUSE_MS = 10;

type ListResponse<T> = { data: T[]; meta: { has_more: boolean; next_cursor: string | null } };

export type SyncClient = {
  copy: Map<string, string>;
  /** The first JSON text that the client got of each record, by id. */
  first: Map<string, string>;
  /** How many requests it has sent. */
  requests: number;
  /** Statuses other than 200 that it got. */
  errorStatuses: number[];
  /** Reads all pages of what is new since the last poll. Throws if a record is older than its copy or out of order. */
  poll: () => Promise<void>;
  /** Returns all events of a record, the oldest first. */
  history: (id: string) => Promise<ClientEvent[]>;
};

/** Returns a client with an empty copy. It asks `baseUrl` before each request, so each can go to another server, and repeats failed requests. */
export function createSyncClient(key: string, baseUrl: () => string): SyncClient {
  let newest: string | undefined;
  const copy = new Map<string, string>();
  const first = new Map<string, string>();

  async function get<T>(path: string): Promise<ListResponse<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        client.requests++;
        const response = await fetch(`${baseUrl()}${path}`, { headers: { Authorization: `Bearer ${key}` } });
        const text = await response.text();
        if (!response.ok) client.errorStatuses.push(response.status);
        if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${text}`);
        const body = JSON.parse(text) as ListResponse<T>;
        if (!text.startsWith(`{"data":${JSON.stringify(body.data)},`))
          throw new WrongResponse(`GET ${path}: the JSON text changes when it is parsed and written again`);
        return body;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || error instanceof WrongResponse) throw error;
        await Bun.sleep(PAUSE_MS);
      }
    }
  }

  async function* allPages<T>(path: string): AsyncIterable<T> {
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { data, meta }: ListResponse<T> = await get<T>(cursor === "" ? path : `${path}&cursor=${cursor}`);
      yield* data;
      cursor = meta.next_cursor;
    }
  }

  const client: SyncClient = {
    copy,
    first,
    requests: 0,
    errorStatuses: [],
    async poll() {
      let newestOfPoll = newest;
      let previous = "~";
      for await (const record of allPages<ClientRecord>(
        `/opportunities?limit=100${newest === undefined ? "" : `&updated_since=${newest}`}`,
      )) {
        newestOfPoll ??= record.updated_at;
        if (record.updated_at > newestOfPoll) newestOfPoll = record.updated_at;
        const position = `${record.updated_at} ${record.id}`;
        if (position >= previous) throw new WrongResponse(`${position} is listed after ${previous}`);
        previous = position;
        if (record.updated_at < updatedAtOf(copy.get(record.id))) throw new WrongResponse(`${record.id} is older than the client's copy`);
        const text = JSON.stringify(record);
        copy.set(record.id, text);
        if (!first.has(record.id)) first.set(record.id, text);
      }
      newest = newestOfPoll; // Only after the last page: a poll that failed before has not read the older pages.
    },
    async history(id) {
      const events: ClientEvent[] = [];
      for await (const event of allPages<ClientEvent>(`/opportunities/${id}/events?limit=100&include_insignificant=true`))
        events.push(event);
      return events.reverse();
    },
  };
  return client;
}

function updatedAtOf(text: string | undefined): string {
  return text === undefined ? "" : (JSON.parse(text) as ClientRecord).updated_at;
}
