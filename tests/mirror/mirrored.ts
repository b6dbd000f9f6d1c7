/** Copies of a catalog, kept through the real app: what was served, what the copy has, and a network that can end a client anywhere. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { eventsOutput, eventsResponse } from "../../src/browse/events-output.ts";
import type { ServerOptions } from "../../src/mirror/client.ts";
import { openSqliteStore } from "../../src/mirror/sqlite-store.ts";
import type { Scope, Store } from "../../src/mirror/store.ts";
import type { TestApi } from "../support/api.ts";
import { aDirectory } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";
import { expectInStep } from "../support/sql-file.ts";

/** Any origin: the app answers in this process. */
const ORIGIN = "http://localhost";
export const BASE = `${ORIGIN}/v1`;
export const everything: Scope = { baseUrl: BASE, source: [], events: true };

/** Documents by id, as they were served. */
export type Contents = { opportunities: Record<string, string>; events: Record<string, string> };

/** A place for a copy that outlives the stores on it, as a file outlives processes. */
export type Place = { path: string; open: (scope?: Scope) => Store; contents: () => Contents };

export function aPlace(): Place {
  const path = join(aDirectory(), "copy.sqlite");
  return { path, open: (scope = everything) => openSqliteStore(path, scope), contents: () => contentsOfDatabase(path) };
}

/** Also checks that the views and the full-text index follow the documents. */
export function contentsOfDatabase(path: string): Contents {
  expectInStep(path);
  const sqlite = new Database(path, { readonly: true });
  const all = (table: string) =>
    Object.fromEntries(sqlite.query<[string, string], []>(`select id, document from ${table} order by id`).values() as [string, string][]);
  const contents = { opportunities: all("opportunities"), events: all("events") };
  sqlite.close(true);
  return contents;
}

/** Of printed lines, in which no document may be twice. */
export function contentsOfLines(text: string): Contents {
  const contents: Contents = { opportunities: {}, events: {} };
  for (const line of text.split("\n").slice(0, -1)) {
    const { id, opportunity_id } = JSON.parse(line);
    const kind = opportunity_id === undefined ? "opportunities" : "events";
    if (contents[kind][id] !== undefined) throw new Error(`${id} is there twice`);
    contents[kind][id] = line;
  }
  return contents;
}

/** What the server has, byte for byte. */
export async function served({ model: { db } }: TestApi): Promise<Contents> {
  const all = async (table: string) => {
    const rows = await db.all(rawSql<{ id: string; document: Uint8Array }>(`select id, document from ${table} order by id`));
    return Object.fromEntries(rows.map(({ id, document }) => [id, Buffer.from(document).toString()]));
  };
  return { opportunities: await all("opportunities"), events: await all("events") };
}

/** Stores records N<from> to N<to>, in transactions of 40, each with this title. */
export async function publish({ model, clock }: TestApi, from: number, to: number, title: string): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  for (let at = 0; at < numbers.length; at += 40) {
    const records = numbers
      .slice(at, at + 40)
      .map((n) => anOpportunity({ source: { code: n % 2 ? "SAM" : "SBIR", opportunity_id: `N${n}` }, title: `${title} ${n}\u2028` }));
    await storeRecords(model.db, records, clock.now);
  }
}

export type Client = ServerOptions & { now: () => number; asked: string[]; waits: number[] };

/** A client of that server in this process. Waiting moves the server's clock. */
export function aClient(api: TestApi, fetch: (request: Request) => Response | Promise<Response> = api.fetch): Client {
  const asked: string[] = [];
  const waits: number[] = [];
  return {
    baseUrl: BASE,
    key: api.key,
    now: () => api.clock.now,
    asked,
    waits,
    fetch: async (request) => {
      asked.push(request.url.replace(BASE, "").replace(ORIGIN, ""));
      return fetch(request);
    },
    wait: async (ms) => {
      waits.push(ms);
      api.clock.now += ms;
    },
    random: () => 0.5,
  };
}

/** Responds as `up` does: with the API, and beside it with the events of many records. */
export function withEvents({ fetch, model }: TestApi): (request: Request) => Promise<Response> {
  return (request) => (new URL(request.url).pathname === eventsOutput.path ? eventsResponse(request, model.db) : fetch(request));
}

/** Ends as if its process were killed: nothing that it does from the n-th request on comes to anything. */
export function aClientKilledAt(api: TestApi, n: number, fetch: (request: Request) => Promise<Response> = api.fetch): Client {
  let count = 0;
  const killed = () => Promise.reject(new Error("killed"));
  return { ...aClient(api, (request) => (++count >= n ? killed() : fetch(request))), wait: killed };
}
