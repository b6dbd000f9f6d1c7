/** A catalog with its search index, watch.db and a receiver, all within the test's own process. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import { fileNames, openState, openWatchFile } from "../../db/sqlite/open.ts";
import { allowMembers, signInMember } from "../../src/accounts/members.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { matchesAtEnd } from "../../src/watch/matching.ts";
import { Message } from "../../src/watch/message.ts";
import { type RunContext, runWatches } from "../../src/watch/run.ts";
import type { Watch, WatchDefinition } from "../../src/watch/watch.ts";
import { addWatch, requireWatch } from "../../src/watch/watches.ts";
import { aCatalog, aDirectory } from "../support/imports.ts";

/** A definition of a watch of everything on standard output, with the given fields in place of its own. */
export function aDefinition(fields: Partial<WatchDefinition> = {}): WatchDefinition {
  return { filter: {}, at_least: "material", receiver: { to: "stdout" }, zone: "America/New_York", ...fields };
}

/** A member who is signed in, and the state that has her. */
export async function aSignedInMember(clock: { now: number }) {
  const state = openState(aDirectory(), clock.now);
  await allowMembers(state, ["ann@uni.example"], clock.now);
  const owner = (await signInMember(state, "ann@uni.example", 0, { randomBytes, now: () => clock.now })) ?? "";
  return { state, owner };
}

export type Send = RunContext["send"];

const isMessage = addFormats(new Ajv({ strict: false, allErrors: true })).compile(Message);

/** `received` has all accepted messages in order, unless a test replaces `receiver.send`. */
export async function aWatched(given?: CatalogDb) {
  const catalog = await aCatalog(given);
  const { db, clock } = catalog;
  const directory = aDirectory();
  const index = openSearchFile(directory);
  const file = openWatchFile(directory, clock.now);
  const received: Message[] = [];
  const receiver: { send: Send } = {
    send: async (_, { body }) => {
      const message = JSON.parse(body);
      if (!isMessage(message)) expect([message, isMessage.errors]).toEqual([]);
      received.push(message);
    },
  };
  const machine = { now: () => clock.now, randomBytes, env: {} };
  const stop = new AbortController();
  const context = (): RunContext => ({
    machine,
    catalog: db,
    index,
    db: file,
    send: (...sent) => receiver.send(...sent),
    sendToMember: async (parts) => {
      for (const { watch, message } of parts) await receiver.send(watch, message, stop.signal);
    },
    setupFault: () => null,
    stop: stop.signal,
  });
  return {
    ...catalog,
    directory,
    index,
    file,
    received,
    receiver,
    stop,
    context,
    add: async (name: string, fields: Partial<WatchDefinition> = {}) => {
      const definition = aDefinition(fields);
      const { matching, position } = await matchesAtEnd(db, index, definition, clock.now);
      await addWatch(file, name, [definition], { at: clock.now, feed: position, matched: matching });
      return theWatch(file, name);
    },
    run: async () => {
      await catchUp(db, index);
      return runWatches(context());
    },
    /** The items received so far, by kind and upstream id, and of changes the type. */
    items: () => received.flatMap(({ data }) => data.events.map(itemText)),
  };
}

/** The watch as its first receiver has it. */
export async function theWatch(file: WatchDb, name: string): Promise<Watch> {
  return (await requireWatch(file, name))[0];
}

export type Watched = Awaited<ReturnType<typeof aWatched>>;

function itemText(item: Message["data"]["events"][number]): string {
  const id = item.opportunity.source.opportunity_id;
  return item.kind === "changed" ? `changed ${id} ${item.event.type}` : `${item.kind} ${id}`;
}

/** Everything in watch.db as text, to look for what must not be there. */
export function textOfWatchFile(directory: string): string {
  const sqlite = new Database(join(directory, fileNames.watch), { readonly: true });
  const tables = sqlite.query<{ name: string }, []>("select name from sqlite_master where type = 'table'").all();
  const rows = tables.flatMap(({ name }) => sqlite.query(`select * from ${name}`).all());
  sqlite.close();
  return JSON.stringify(rows);
}
