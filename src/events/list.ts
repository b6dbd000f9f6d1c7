/** One page of an opportunity's history. */
import type { CatalogDb } from "../../db/engine.ts";
import type { Catalog } from "../catalog.ts";
import type { Instant } from "../instant.ts";
import type { Page, Position } from "../page.ts";
import { eventTypes, insignificant } from "./event.ts";

export type EventFilter = { type?: string[]; since?: Instant; include_insignificant: boolean };

const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`).join(", ");

/** A stored type that the API does not know counts as `unknown`, as it is rendered. Every column but the document is in the index. */
const pageStatement = ({ dialect }: CatalogDb, { type, include_insignificant }: EventFilter) => `
  select detected_at, id, document from events
  where opportunity_seq = ? and (detected_at, id) < (?, ?) and detected_at > ?
    ${type === undefined ? "" : `and case when type in (${quoted(eventTypes)}) then type else 'unknown' end in (select value from ${dialect.elements("?")})`}
    ${include_insignificant ? "" : `and severity not in (${quoted(insignificant)})`}
  order by detected_at desc, id desc limit ?`;

type Row = { detected_at: number; id: string; document: Uint8Array };

/** After every instant that a date can name, and before it. */
const [LAST, FIRST] = [8.64e15, -8.64e15];

/** One page of events as ready JSON documents, newest first, or `undefined` when there is no such opportunity. */
export async function listOpportunityEvents(
  { db }: Catalog,
  opportunityId: string,
  filter: EventFilter,
  limit: number,
  after: Position | null,
): Promise<Page | undefined> {
  const opportunity = await db.get<{ seq: number }>("select seq from opportunities where id = ?", opportunityId);
  if (opportunity === undefined) return undefined;
  const rows = await db.all<Row>(
    pageStatement(db, filter),
    opportunity.seq,
    after?.time ?? LAST,
    after?.id ?? "",
    filter.since?.ms ?? FIRST,
    ...(filter.type === undefined ? [] : [JSON.stringify(filter.type)]),
    limit + 1, // One more than asked: its presence is `has_more`, without a count.
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    documents: shown.map(({ document }) => document),
    next: rows.length > limit && last !== undefined ? { time: last.detected_at, id: last.id } : null,
  };
}
