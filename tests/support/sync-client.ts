/** A client that knows the public interface and nothing else: it polls with the newest `updated_at` that it has seen. */

export type Mirrored = { id: string; updated_at: string; created_at: string; [field: string]: unknown };
export type SeenEvent = { type: string; changes: { field: string; current: unknown }[]; detected_at: string };

class Garbled extends Error {}

/** A minute of them, as a server that is killed may take long to be back on a busy machine. */
const ATTEMPTS_MAX = 6000;

type Answer<T> = { data: T[]; meta: { has_more: boolean; next_cursor: string | null } };

export type SyncClient = {
  /** The newest state of each record, as text to the byte, and the first that was ever seen of it. */
  mirror: Map<string, string>;
  first: Map<string, string>;
  requests: number;
  /** Statuses other than 200 that it was answered with. */
  refusals: number[];
  poll: () => Promise<void>;
  history: (id: string) => Promise<SeenEvent[]>;
};

/** `base` may differ from request to request; a request that fails is sent again. */
export function createSyncClient(key: string, base: () => string): SyncClient {
  let newest: string | undefined;
  const mirror = new Map<string, string>();
  const first = new Map<string, string>();

  async function get<T>(path: string): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        client.requests++;
        const response = await fetch(`${base()}${path}`, { headers: { Authorization: `Bearer ${key}` } });
        const text = await response.text();
        if (!response.ok) client.refusals.push(response.status);
        if (!response.ok) throw new Error(`${response.status} ${text}`);
        const answer = JSON.parse(text) as Answer<T>;
        if (!text.startsWith(`{"data":${JSON.stringify(answer.data)},`)) throw new Garbled("What was parsed is not what was sent");
        return answer;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || error instanceof Garbled) throw error;
        await Bun.sleep(10);
      }
    }
  }

  /** All pages: the same filters again, with the cursor. */
  async function* walk<T>(path: string): AsyncIterable<T> {
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { data, meta }: Answer<T> = await get<T>(cursor === "" ? path : `${path}&cursor=${cursor}`);
      yield* data;
      cursor = meta.next_cursor;
    }
  }

  const client: SyncClient = {
    mirror,
    first,
    requests: 0,
    refusals: [],
    async poll() {
      let newestNow = newest;
      let last = "~";
      for await (const record of walk<Mirrored>(`/opportunities?limit=100${newest === undefined ? "" : `&updated_since=${newest}`}`)) {
        newestNow ??= record.updated_at;
        if (record.updated_at > newestNow) newestNow = record.updated_at;
        const text = JSON.stringify(record);
        const place = `${record.updated_at} ${record.id}`;
        if (place >= last) throw new Garbled(`${place} is listed after ${last}`);
        last = place;
        if (record.updated_at < updatedAtOf(mirror.get(record.id))) throw new Garbled(`${record.id} is older than it was`);
        mirror.set(record.id, text);
        if (!first.has(record.id)) first.set(record.id, text);
      }
      newest = newestNow; // Only now: a walk that ended early would have skipped its older pages.
    },
    async history(id) {
      const events: SeenEvent[] = [];
      for await (const event of walk<SeenEvent>(`/opportunities/${id}/events?limit=100&include_insignificant=true`)) events.push(event);
      return events.reverse();
    },
  };
  return client;
}

function updatedAtOf(text: string | undefined): string {
  return text === undefined ? "" : (JSON.parse(text) as Mirrored).updated_at;
}
