/** The stores of a mirror: each keeps the copied documents, and how far the copy has come. */
import { existsSync } from "node:fs";
import type { SyncState } from "../../clients/typescript/src/fundfeed.ts";
import { arrayOf, objectOf, parseJson } from "../text/json-value.ts";

/** What is copied. A mark is valid for one scope only, so a copy keeps the scope that it was started with. */
export type Scope = { baseUrl: string; source: readonly string[]; events: boolean };

/** A document as it was served. `at` is its `updated_at` or `detected_at`. */
export type MirrorDocument = { id: string; at: string; text: string };

export type MirrorEntry = MirrorDocument & { history: readonly MirrorDocument[] };

/** What a page of a walk brings: records, or events that were added to the record with the id `of`, which the copy may not have. */
export type MirrorPage = { entries: readonly MirrorEntry[]; added: readonly (MirrorDocument & { of: string })[] };

export type Store = {
  /** Returns the state of the walk to continue. With `restart`, the walk starts over from its mark. */
  begin: (restart: boolean) => Promise<SyncState>;
  /** Saves a page and the walk's state, both or neither, without events of unknown records, which come later. Returns how many were new. */
  save: (page: MirrorPage, walk: SyncState) => Promise<number>;
  /** Leaves no file behind if the store created it and saved nothing. */
  close: () => Promise<void>;
};

/** Prints each record and its history. Keeps only the mark, in memory, and so does not know which added events were printed before. */
export function openPrintingStore(print: (line: string) => void): Store {
  let since: string | null = null;
  let events: string | null = null;
  return {
    begin: async () => ({ since, newest: null, cursor: null, events }),
    save: async ({ entries }, walk) => {
      // One document a line. A later line replaces an earlier one with the same `id`.
      for (const { text, history } of entries) for (const each of [text, ...history.map((event) => event.text)]) print(each);
      if (walk.cursor === null) ({ since, events } = walk);
      return 0;
    },
    close: async () => undefined,
  };
}

export function scopeText({ baseUrl, source, events }: Scope): string {
  return JSON.stringify({ base_url: baseUrl, source, events });
}

/** Throws if the stored scope `found` is not `scope`. */
export function requireScope(found: string, scope: Scope): void {
  if (found !== scopeText(scope))
    throw new Error(`it is a copy of ${inWords(found)}, not of ${inWords(scopeText(scope))}; use another file`);
}

function inWords(scope: string): string {
  const { base_url, source, events } = objectOf(parseJson(scope));
  const sources = arrayOf(source).map(String);
  return `${base_url ?? "another server"} (${sources.length === 0 ? "all sources" : `only ${sources.join(", ")}`}; ${events === true ? "with" : "without"} events)`;
}

/** Says what happens after the file of a copy was removed or replaced. */
export function goneMessage(path: string): string {
  return `${path} was ${existsSync(path) ? "replaced; the file that is there now is continued" : "removed; a new copy begins"}`;
}
