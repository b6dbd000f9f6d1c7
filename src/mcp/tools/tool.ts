/** What the tools are made of: how each is declared, and how lists are read page by page. */
import type { TObject, TSchema } from "@sinclair/typebox";
import type { CatalogDb } from "../../../db/engine.ts";
import { Failure } from "../../../db/reason.ts";
import { BadCursor, type CursorKey, type CursorPlace, decodePlace, encodePlace } from "../../search/cursor.ts";
import type { SearchFile } from "../../search/search-file.ts";
import { counted } from "../../text/in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import type { JsonObject } from "../../text/json-value.ts";
import { object } from "../../text/schema.ts";
import { inputSchema, readArguments, type ToolArguments, type Values } from "../arguments.ts";
import { type ResultStatement, readFitting, resultOf, statement, type ToolAnswer, type ToolPage, type ToolResult } from "../results.ts";

export type Tool = {
  name: string;
  title: string;
  /** What an error says cannot be done: "read the history". */
  action: string;
  description: string;
  inputSchema: TObject;
  outputSchema: TObject;
  call: (given: JsonObject, data: ToolData, request: ToolRequest) => Promise<ToolResult>;
};

type Definition<T extends ToolArguments> = Omit<Tool, "inputSchema" | "outputSchema" | "call"> & {
  arguments: T;
  data: Record<string, TSchema>;
  run: (values: Values<T>, call: ToolCall) => Promise<ToolAnswer>;
};

/** A tool of its definition. */
export function tool<T extends ToolArguments>({ arguments: table, data: members, run, ...about }: Definition<T>): Tool {
  return {
    ...about,
    inputSchema: inputSchema(table),
    outputSchema: object({ ...statement, ...members }),
    call: async (given, data, request) => {
      const values = readArguments(about.action, table, given, request.now);
      return data.withCatalog(async (catalog) => {
        const withIndex: ToolCall["withIndex"] = (now, work) => data.withIndex(catalog, { ...request, now }, work);
        const answer = await run(values, { ...request, catalog, withIndex });
        return resultOf(answer, catalog, request.now);
      });
    },
  };
}

type Paged<Item> = ToolPage<Item, string> & { now: EpochMs };

/** The place of a cursor. Throws a Failure that says what to do. */
export function placeAt(request: unknown, cursor: string): CursorPlace {
  try {
    return decodePlace(request, cursor);
  } catch (error) {
    if (!(error instanceof BadCursor)) throw error;
    throw new Failure(
      error.isOfOther
        ? "Cannot continue: the cursor belongs to a request with other arguments. Repeat them, or start again without it"
        : "Cannot continue: this is not a cursor that a tool returned. Start again without it",
    );
  }
}

/** What a list is read by. `read` gets the time of the first page, and `show` makes a row of an item. */
type ListSource<Item, Row> = {
  read: (limit: number, after: readonly CursorKey[], call: ToolCall) => Promise<ToolPage<Item>>;
  show: (item: Item) => Row;
};

/** Reads the page after a cursor, as much of it as fits into a result. `request` is what the cursor is bound to. */
export async function readPaged<Item, Row>(
  request: unknown,
  limit: number,
  cursor: string | undefined,
  call: ToolCall,
  { read, show }: ListSource<Item, Row>,
): Promise<Paged<Row>> {
  const { now, keys } = cursor === undefined ? { now: call.now, keys: [] } : placeAt(request, cursor);
  const page = await readFitting(limit, (most) => read(most, keys, { ...call, now }), show);
  return { ...page, next: page.next === null ? null : encodePlace(request, { now, keys: page.next }), now };
}

export function listStatement(
  { items, total, next }: ToolPage<unknown, string>,
  filters: Record<string, unknown>,
  words: string[],
  upstream: string[],
): ResultStatement {
  return {
    filters,
    filters_in_words: words,
    returned: items.length,
    total,
    complete: next === null,
    next_cursor: next,
    upstream_text: upstream,
  };
}

export const DUPLICATES = "Other records of these, left out without `all_sources`.";

/** What was left out, so that nobody takes the list for complete. */
export function duplicateLines(duplicates: number, noun: string): string[] {
  return duplicates === 0 ? [] : [`${counted(duplicates, `more ${noun}`)} of the same opportunities: all_sources returns each.`];
}

/** Without the members that are undefined. */
export function onlyGiven<T extends Record<string, unknown>>(given: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: NonNullable<T[Name]>;
  };
}

export type ToolRequest = { now: EpochMs; signal: AbortSignal; progress: (done: number, total: number, message: string) => void };

/** The databases. Each function throws an Error with one sentence about what failed and what to do. */
export type ToolData = {
  place: string;
  /** Opens the catalog for one call, so that a restored or replaced one is noticed. */
  withCatalog: <T>(work: (catalog: CatalogDb) => Promise<T>) => Promise<T>;
  withIndex: <T>(catalog: CatalogDb, request: ToolRequest, work: (index: SearchFile) => T | Promise<T>) => Promise<T>;
};

/** A request with what it reads. A later page of a list reads the index as of the first one. */
export type ToolCall = ToolRequest & {
  catalog: CatalogDb;
  withIndex: <T>(now: EpochMs, work: (index: SearchFile) => T | Promise<T>) => Promise<T>;
};
