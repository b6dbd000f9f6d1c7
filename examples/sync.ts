/**
 * Keeps a copy of a fundfeed server's opportunities and their histories in step. An example to read and to start from: it has no dependencies
 * and runs on Bun, and on Node.js from 22.18 on. (`fundfeed mirror` does the same, and keeps up with catalogues that do not fit in memory.)
 *
 *   export FUNDFEED_KEY=ffk_live_…
 *   bun examples/sync.ts http://127.0.0.1:8080/v1 copy         brings the directory `copy` in step; run it every few minutes
 *   bun examples/sync.ts http://127.0.0.1:8080/v1 copy <id>    looks at one record again, at once
 *
 * The copy is two files with one JSON document a line: opportunities.ndjson and events.ndjson.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

type Opportunity = { id: string; updated_at: string; title: string };
type OpportunityEvent = { id: string; opportunity_id: string; type: string; detected_at: string };
type List<Item> = { data: Item[]; meta: { has_more: boolean; next_cursor: string | null } };
type Problem = { code?: string; detail?: string; request_id?: string };

const [baseUrl = "", directory = "", id] = process.argv.slice(2);
const key = process.env.FUNDFEED_KEY ?? ""; // Not from the command line: everybody on the machine can read that.

try {
  if (directory === "" || key === "") throw new Error("Usage: FUNDFEED_KEY=… sync.ts <base-url> <directory> [<id>]");
  await mkdir(directory, { recursive: true });
  say(id === undefined ? await sync() : await look(id));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/**
 * Everything that changed after the mark, which is the newest `updated_at` of the copy. The copy is saved only after a complete walk; whatever
 * ends us earlier, the next run begins with the same mark, and what comes twice replaces itself.
 */
async function sync(): Promise<string> {
  const opportunities = await load<Opportunity>("opportunities");
  const mark = [...opportunities.values()]
    .map(({ updated_at }) => updated_at)
    .sort()
    .at(-1);

  const changed: Opportunity[] = [];
  for await (const page of pages<Opportunity>("/opportunities", mark === undefined ? {} : { updated_since: mark })) {
    changed.push(...page);
    process.stderr.write(`${changed.length} new or changed records\n`);
  }
  if (changed.length === 0) return `Nothing changed since ${mark ?? "the beginning"}`;

  // The list says that a record changed; its history says what. All of it, so that nothing depends on when we last asked.
  const events = await load<OpportunityEvent>("events");
  for (const opportunity of changed) {
    opportunities.set(opportunity.id, opportunity);
    for await (const page of pages<OpportunityEvent>(`/opportunities/${opportunity.id}/events`, { include_insignificant: "true" }))
      for (const event of page) events.set(event.id, event);
  }
  await save("events", events.values());
  await save("opportunities", opportunities.values()); // Last: it holds the mark.
  return `${changed.length} new or changed of ${opportunities.size} records, ${events.size} events`;
}

/** One record, now. The ETag of our last look makes an unchanged one cost next to nothing: 304, without a body. */
async function look(id: string): Promise<string> {
  const path = `/opportunities/${encodeURIComponent(id)}`;
  const etags: Record<string, string> = JSON.parse(await read("etags.json", "{}"));
  const answer = await get(path, etags[id] === undefined ? {} : { "If-None-Match": etags[id] });
  if (answer.status === 304) return "Unchanged since we last looked";
  const { data } = (await answer.json()) as { data: Opportunity };
  await write("etags.json", JSON.stringify({ ...etags, [id]: answer.headers.get("etag") }));
  return JSON.stringify(data, null, 2);
}

/** The pages of a list. `links.next` is for people: the next request is the same one with the cursor. */
async function* pages<Item>(path: string, filters: Record<string, string>): AsyncGenerator<Item[]> {
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ ...filters, limit: "100", ...(cursor !== null && { cursor }) });
    const { data, meta } = (await (await get(`${path}?${query}`)).json()) as List<Item>;
    yield data;
    if (!meta.has_more) return;
    cursor = meta.next_cursor;
  }
}

/** Waits as long as a 429 says, tries again what may pass, and gives up at once on what would not. */
async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  for (let attempt = 1; ; ) {
    const answer = await fetch(baseUrl + path, {
      headers: { Accept: "application/json", Authorization: `Bearer ${key}`, ...headers },
      redirect: "error", // The key is for this address alone.
      signal: AbortSignal.timeout(60_000),
    }).catch((error: Error) => error);
    if (answer instanceof Response && (answer.status === 200 || answer.status === 304)) return answer;

    const reason = answer instanceof Error ? answer.message : await reasonOf(answer);
    const told = answer instanceof Error ? null : answer.headers.get("retry-after");
    const isLimit = answer instanceof Response && answer.status === 429 && told !== null; // Waiting always helps here.
    const mayPass = answer instanceof Error || answer.status === 429 || answer.status >= 500;
    if (!mayPass || (!isLimit && attempt++ === 5)) throw new Error(`Cannot read ${baseUrl}${path.split("?")[0]}: ${reason}`);
    const seconds = told === null ? 2 ** (attempt - 2) * (0.5 + Math.random() / 2) : Number(told);
    process.stderr.write(`waiting ${seconds.toFixed(1)} s: ${reason}\n`);
    await sleep(seconds * 1000);
  }
}

/** The `request_id` is what the operator of the server needs to help. */
async function reasonOf(answer: Response): Promise<string> {
  const { code, detail, request_id } = (await answer.json().catch(() => ({}))) as Problem;
  return `${answer.status} ${code ?? ""} ${detail ?? ""} (request ${request_id ?? "without id"})`;
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

/** Beside it first, on the disk, and then in its place: a reader, and a crash, meet the old file or the new one. */
async function write(name: string, text: string): Promise<void> {
  const path = join(directory, name);
  await writeFile(`${path}.new`, text, { flush: true, mode: 0o600 }); // The records hold names and addresses of people.
  await rename(`${path}.new`, path);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
