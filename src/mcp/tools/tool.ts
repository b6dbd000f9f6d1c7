/** What the tools are made of: how each is declared, and how lists are read page by page. */
import type { TObject, TSchema } from "@sinclair/typebox";
import type { EpochMs } from "../../text/instant.ts";
import type { JsonObject } from "../../text/json-value.ts";
import type { Arguments, Values } from "../arguments.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import type { Call, Page, Reader } from "../reader.ts";
import type { Result, Statement } from "../results.ts";

export type Tool = {
  name: string;
  title: string;
  /** What an error says cannot be done: "read the history". */
  action: string;
  description: string;
  inputSchema: TObject;
  outputSchema: TObject;
  /** Throws an Error with one sentence for the client. */
  call: (given: JsonObject, call: Call) => Promise<Result>;
};

export type Definition<T extends Arguments> = Omit<Tool, "inputSchema" | "outputSchema" | "call"> & {
  arguments: T;
  data: Record<string, TSchema>;
  run: (values: Values<T>, call: Call) => Promise<Result>;
};

export type Context = { reader: Reader; tool: <T extends Arguments>(definition: Definition<T>) => Tool };

type Paged<Item> = Page<Item> & { /** The time of the first page. */ now: EpochMs };

/** Reads the page after a cursor, with the time of the first page. `request` is what the cursor is bound to. */
export async function readPaged<Item>(
  request: unknown,
  limit: number,
  cursor: string | undefined,
  call: Call,
  read: (limit: number, cursor: string | undefined, call: Call) => Promise<Page<Item>>,
): Promise<Paged<Item>> {
  const place = cursor === undefined ? undefined : decodeCursor(request, cursor);
  const now = place?.now ?? call.now;
  const page = await read(limit, place?.after, { ...call, now });
  return { ...page, next: page.next === null ? null : encodeCursor(request, { now, after: page.next }), now };
}

export function listStatement(
  { items, total, next }: Page<unknown>,
  filters: Record<string, unknown>,
  words: string[],
  upstream: string[],
): Statement {
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

/** Without the members that are undefined. */
export function onlyGiven<T extends Record<string, unknown>>(given: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: NonNullable<T[Name]>;
  };
}
