/**
 * Keeps a copy of a fundfeed server's opportunities and their histories in sync. It is an example to read and adapt: it needs the client
 * alone, and runs on Bun, and on Node.js 22.18 or newer. (`fundfeed mirror` does the same, also for catalogs that do not fit in memory.)
 *
 *   export FUNDFEED_KEY=ffk_live_…
 *   bun examples/sync.ts http://127.0.0.1:8080/v1 copy         updates the copy in the directory `copy`; run it every few minutes
 *   bun examples/sync.ts http://127.0.0.1:8080/v1 copy <id>    checks one record now
 *
 * The copy is two files with one JSON document per line, opportunities.ndjson and events.ndjson, and the state of the sync.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
// With the package installed: from "@fundfeed/client".
import {
  type ApiClient,
  createClient,
  type Opportunity,
  type OpportunityEvent,
  type SyncState,
  sync,
} from "../clients/typescript/src/fundfeed.ts";

const [baseUrl = "", directory = "", id] = process.argv.slice(2);
const key = process.env.FUNDFEED_KEY ?? ""; // Not an argument: every user of the machine can read command lines.

try {
  if (directory === "" || key === "") throw new Error("Usage: FUNDFEED_KEY=… sync.ts <base-url> <directory> [<id>]");
  await mkdir(directory, { recursive: true });
  const onWait = (ms: number, { message }: Error) => void process.stderr.write(`waiting ${(ms / 1000).toFixed(1)} s: ${message}\n`);
  const client = createClient({ baseUrl, key, onWait, waitMaxMs: 86_400_000 });
  process.stdout.write(`${id === undefined ? await update(client) : await check(client, id)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/**
 * Fetches what changed since the last update, and saves it after the last page, the state at the end. If the program ends earlier, the next
 * run starts from the same state; a record that comes twice replaces itself. Returns a summary.
 */
async function update(client: ApiClient): Promise<string> {
  const opportunities = await load<Opportunity>("opportunities");
  const events = await load<OpportunityEvent>("events");
  const before = await read("state.json", "null");
  let state: SyncState | undefined = JSON.parse(before) ?? undefined;
  let changed = 0;
  for await (const page of sync(client, { from: state, events: true })) {
    for (const { opportunity, events: history } of page.records) {
      opportunities.set(opportunity.id, opportunity);
      for (const event of history) events.set(event.id, event);
    }
    for (const event of page.added) if (opportunities.has(event.opportunity_id)) events.set(event.id, event);
    state = page.state;
    changed += page.records.length;
    process.stderr.write(`${changed} new or changed records\n`);
  }
  if (JSON.stringify(state) === before) return `Nothing changed since ${state?.since ?? "the beginning"}`;
  await save("events", events.values());
  await save("opportunities", opportunities.values());
  await write("state.json", JSON.stringify(state));
  return `${changed} new or changed of ${opportunities.size} records, ${events.size} events`;
}

/** Fetches one record now. Its last ETag makes this cheap while it is unchanged: the response is 304 without a body. */
async function check(client: ApiClient, id: string): Promise<string> {
  const etags: Record<string, string | null> = JSON.parse(await read("etags.json", "{}"));
  const etag = etags[id];
  const found = etag ? await client.getOpportunityIfChanged(id, etag) : await client.getOpportunity(id);
  if (found === undefined) return "Unchanged since the last check";
  await write("etags.json", JSON.stringify({ ...etags, [id]: found.etag }));
  return JSON.stringify(found.data, null, 2);
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
