/** `/events.json`: the events of many records at once, for copies. */
import { Type } from "@sinclair/typebox";
import type { CatalogDb } from "../../db/engine.ts";
import { OpportunityEvent } from "../events/event.ts";
import { type FeedPosition, LostPositionError, latestPosition } from "../events/feed.ts";
import { type BulkPage, type HistoryPosition, readHistories, readStored } from "../events/in-bulk.ts";
import { BadCursor, type CursorKey, decodePlace, encodePlace } from "../search/cursor.ts";
import { BadValue } from "../text/read-value.ts";
import { nullable, object } from "../text/schema.ts";
import { UUID } from "../text/uuid.ts";
import { integer } from "../text/value.ts";
import { refused, unlessKnown } from "./outputs.ts";
import { listedIn, type OwnFields, readFields } from "./search-form.tsx";

const [EVENTS_MAX, IDS_MAX] = [1000, 100];
const LATEST = "latest";

const fields = {
  opportunity: {
    schema: Type.Array(Type.String({ format: "uuid" }), {
      ...{ minItems: 1, maxItems: IDS_MAX },
      description: "The whole histories of these records, by id, each with its newest event first. Without it: all events.",
    }),
    read: (given) => {
      const ids = listedIn(`${given}`);
      if (ids.length <= IDS_MAX && ids.every((id) => UUID.test(id))) return `${given}`;
      throw new BadValue(`must be at most ${IDS_MAX} ids, with commas between them`);
    },
  },
  after: {
    schema: Type.String({
      description: `\`meta.next_cursor\` of the page before, with the same \`opportunity\`. Without \`opportunity\`, it is never null: send the last one later for what was stored since. \`${LATEST}\` returns no events and the cursor of what will be stored next.`,
    }),
    read: (given) => `${given}`,
  },
  limit: integer(1, EVENTS_MAX, EVENTS_MAX, "The most events. A page of long ones has fewer, about 4 MiB."),
} satisfies OwnFields;

export const eventsOutput = {
  path: "/events.json",
  contentType: "application/json",
  operationId: "listEvents",
  summary: "The events of many records at once, for copies",
  description:
    "Every event as `/v1` returns it, also those of severity `noise` and `cosmetic`, of each source's record, and those that were imported from an earlier history. In the order in which they were stored, so that a walk misses none; with `opportunity`, whole histories.",
  own: fields,
  schema: object({
    data: Type.Array(OpportunityEvent),
    meta: object({
      has_more: Type.Boolean({ description: "Whether another page follows now." }),
      next_cursor: nullable(Type.String(), "Send it as `after`; null at the end of histories."),
    }),
  }),
};

/** The page of events that an address asks for, or a problem that names every parameter that was refused. */
export async function eventsResponse(request: Request, catalog: CatalogDb): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const { given, errors } = readFields(searchParams, fields, "parameter", 0);
  for (const [name, text] of searchParams) if (text.trim() === "") errors.set(name, "It must not be empty."); // Not taken for all events.
  if (errors.size > 0) return refused(errors);
  const { opportunity, after } = given;
  const limit = Number(given.limit ?? EVENTS_MAX);
  try {
    if (opportunity !== undefined) return respond(request, await historiesPage(catalog, listedIn(opportunity), after, limit));
    return respond(request, await storedPage(catalog, after, limit));
  } catch (error) {
    if (error instanceof BadCursor) return refused([["after", "It must be a cursor that the same request returned."]]);
    if (error instanceof LostPositionError) return refused([["after", `${error.message}.`]]);
    throw error;
  }
}

type Page = { documents: readonly Uint8Array[]; hasMore: boolean; next: string | null };

async function storedPage(catalog: CatalogDb, cursor: string | undefined, limit: number): Promise<Page> {
  const page: BulkPage<FeedPosition> =
    cursor === LATEST
      ? { documents: [], position: await latestPosition(catalog), hasMore: false }
      : await readStored(catalog, storedPosition(cursor), limit);
  const { position } = page;
  return { ...page, next: encodePlace(eventsOutput.path, { now: 0, keys: [position?.seq ?? 0, position?.id ?? ""] }) };
}

function storedPosition(cursor: string | undefined): FeedPosition {
  if (cursor === undefined) return null;
  const [seq, id] = keysOf(eventsOutput.path, cursor, ["number", "string"]);
  return seq === 0 ? null : { seq: Number(seq), id: String(id) };
}

async function historiesPage(catalog: CatalogDb, ids: readonly string[], cursor: string | undefined, limit: number): Promise<Page> {
  const lower = ids.map((id) => id.toLowerCase());
  const scope = [...lower].sort();
  let after: HistoryPosition = null;
  if (cursor !== undefined) {
    const [record, time, id] = keysOf(scope, cursor, ["number", "number", "string"]);
    after = { record: Number(record), time: Number(time), id: String(id) };
  }
  const { documents, position, hasMore } = await readHistories(catalog, lower, after, limit);
  const next = hasMore && position !== null ? encodePlace(scope, { now: 0, keys: [position.record, position.time, position.id] }) : null;
  return { documents, hasMore, next };
}

function keysOf(scope: unknown, cursor: string, types: readonly string[]): readonly CursorKey[] {
  const { keys } = decodePlace(scope, cursor);
  if (
    keys.length !== types.length ||
    keys.some((key, n) => typeof key !== types[n] || (typeof key === "number" && !Number.isSafeInteger(key)))
  )
    throw new BadCursor(false);
  return keys;
}

function respond(request: Request, { documents, hasMore, next }: Page): Response {
  const data = documents.map((document) => Buffer.from(document).toString()).join(",");
  const text = `{"data":[${data}],"meta":${JSON.stringify({ has_more: hasMore, next_cursor: next })}}`;
  return unlessKnown(request, text, { "Content-Type": eventsOutput.contentType });
}
