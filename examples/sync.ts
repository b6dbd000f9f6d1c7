/**
 * Keeps a copy of a fundfeed server's opportunities and their histories in sync. It is an example to read and adapt: it has no dependencies
 * and runs on Bun, and on Node.js 22.18 or newer. (`fundfeed mirror` does the same, also for catalogs that do not fit in memory.)
 *
 *   export FUNDFEED_KEY=ffk_live_…
 *   bun examples/sync.ts http://127.0.0.1:8080/v1 copy         updates the copy in the directory `copy`; run it every few minutes
 *   bun examples/sync.ts http://127.0.0.1:8080/v1 copy <id>    checks one record now
 *
 * The copy is two files with one JSON document per line: opportunities.ndjson and events.ndjson.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

type Opportunity = { id: string; updated_at: string; title: string };
type OpportunityEvent = { id: string; opportunity_id: string; type: string; detected_at: string };
type List<Item> = { data: Item[]; meta: { has_more: boolean; next_cursor: string | null } };
type Problem = { code?: string; detail?: string; request_id?: string };

const [baseUrl = "", directory = "", id] = process.argv.slice(2);
const key = process.env.FUNDFEED_KEY ?? ""; // Not an argument: every user of the machine can read command lines.

try {
  if (directory === "" || key === "") throw new Error("Usage: FUNDFEED_KEY=… sync.ts <base-url> <directory> [<id>]");
  await mkdir(directory, { recursive: true });
  print(id === undefined ? await sync() : await check(id));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/**
 * Fetches what changed since the newest `updated_at` of the copy, and saves it after the last page. If the program ends earlier, the next run
 * starts from the same instant; a record that comes twice replaces itself. Returns a summary.
 */
async function sync(): Promise<string> {
  const opportunities = await load<Opportunity>("opportunities");
  const newest = [...opportunities.values()]
    .map(({ updated_at }) => updated_at)
    .sort()
    .at(-1);

  const changed: Opportunity[] = [];
  for await (const page of pages<Opportunity>("/opportunities", newest === undefined ? {} : { updated_since: newest })) {
    changed.push(...page);
    process.stderr.write(`${changed.length} new or changed records\n`);
  }
  if (changed.length === 0) return `Nothing changed since ${newest ?? "the beginning"}`;

  // The list shows that a record changed, its history what changed. Fetch all of it, so that nothing depends on the time of the last run.
  const events = await load<OpportunityEvent>("events");
  for (const opportunity of changed) {
    opportunities.set(opportunity.id, opportunity);
    for await (const page of pages<OpportunityEvent>(`/opportunities/${opportunity.id}/events`, { include_insignificant: "true" }))
      for (const event of page) events.set(event.id, event);
  }
  await save("events", events.values());
  await save("opportunities", opportunities.values()); // Last: the next run starts from its newest `updated_at`.
  return `${changed.length} new or changed of ${opportunities.size} records, ${events.size} events`;
}

/** Fetches one record now. Its last ETag makes this cheap while it is unchanged: the response is 304 without a body. */
async function check(id: string): Promise<string> {
  const path = `/opportunities/${encodeURIComponent(id)}`;
  const etags: Record<string, string> = JSON.parse(await read("etags.json", "{}"));
  const response = await get(path, etags[id] === undefined ? {} : { "If-None-Match": etags[id] });
  if (response.status === 304) return "Unchanged since the last check";
  const { data } = (await response.json()) as { data: Opportunity };
  await write("etags.json", JSON.stringify({ ...etags, [id]: response.headers.get("etag") }));
  return JSON.stringify(data, null, 2);
}

/** Yields the pages of a list. The next request repeats the first one with the cursor; `links.next` is for people. */
async function* pages<Item>(path: string, filters: Record<string, string>): AsyncGenerator<Item[]> {
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ ...filters, limit: "100", ...(cursor !== null && { cursor }) });
    const { data, meta } = (await (await get(`${path}?${query}`)).json()) as List<Item>;
    yield data;
    if (!meta.has_more) return;
    cursor = meta.next_cursor;
  }
}

/** Sends a request. Waits as long as a 429 requires, retries temporary failures, and throws an Error at once on all others. */
async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  for (let attempt = 1; ; ) {
    const response = await fetch(baseUrl + path, {
      headers: { Accept: "application/json", Authorization: `Bearer ${key}`, ...headers },
      redirect: "error", // Never send the key to another address.
      signal: AbortSignal.timeout(60_000),
    }).catch((error: Error) => error);
    if (response instanceof Response && (response.status === 200 || response.status === 304)) return response;

    const reason = response instanceof Error ? response.message : await reasonOf(response);
    const retryAfter = response instanceof Error ? null : response.headers.get("retry-after");
    const isLimit = response instanceof Response && response.status === 429 && retryAfter !== null; // Waiting always helps here.
    const isTemporary = response instanceof Error || response.status === 429 || response.status >= 500;
    if (!isTemporary || (!isLimit && attempt++ === 5)) throw new Error(`Cannot read ${baseUrl}${path.split("?")[0]}: ${reason}`);
    const seconds = retryAfter === null ? 2 ** (attempt - 2) * (0.5 + Math.random() / 2) : Number(retryAfter);
    process.stderr.write(`waiting ${seconds.toFixed(1)} s: ${reason}\n`);
    await sleep(seconds * 1000);
  }
}

/** Describes a problem. The server's operator needs the `request_id` to help. */
async function reasonOf(response: Response): Promise<string> {
  const { code, detail, request_id } = (await response.json().catch(() => ({}))) as Problem;
  return `${response.status} ${code ?? ""} ${detail ?? ""} (request ${request_id ?? "without id"})`;
}

/* Files */

async function load<Item extends { id: string }>(name: string): Promise<Map<string, Item>> {
  const lines = (await read(`${name}.ndjson`, "")).split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => JSON.parse(line) as Item).map((item) => [item.id, item]));
}

async function save(name: string, items: Iterable<unknown>): Promise<void> {
  await write(`${name}.ndjson`, [...items].map((item) => `${JSON.stringify(item)}\n`).join(""));
}

async function read(name: string, absent: string): Promise<string> {
  return readFile(join(directory, name), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return absent;
    throw error;
  });
}

/** Writes a new file to disk and then renames it, so that readers, and a crash, find either the old file or the new one. */
async function write(name: string, text: string): Promise<void> {
  const path = join(directory, name);
  await writeFile(`${path}.new`, text, { flush: true, mode: 0o600 }); // The records contain names and addresses of people.
  await rename(`${path}.new`, path);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
