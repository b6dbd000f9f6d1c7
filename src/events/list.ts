/** One page of an opportunity's history. */
import type { Catalog } from "../catalog.ts";
import type { Instant } from "../instant.ts";
import type { Page, Position } from "../page.ts";
import { eventTypes, insignificant } from "./event.ts";

export type EventFilter = { type?: string[]; since?: Instant; include_insignificant: boolean };

const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`).join(", ");

/** A stored type that the API does not know counts as `unknown`, as it is rendered. Every column but the document is in the index. */
const PAGE = `
  select detected_at, id, document from events
  where opportunity_seq = $row and (detected_at, id) < ($time, $id) and detected_at > $since
    and ($types is null or iif(type in (${quoted(eventTypes)}), type, 'unknown') in (select value from json_each($types)))
    and ($all or severity not in (${quoted(insignificant)}))
  order by detected_at desc, id desc limit $limit`;

type Row = { detected_at: number; id: string; document: Uint8Array };
type Bindings = { row: number; time: number; id: string; since: number; types: string | null; all: number; limit: number };

/** After every instant that a date can name, and before it. */
const [LAST, FIRST] = [8.64e15, -8.64e15];

/** One page of events as ready JSON documents, newest first, or `undefined` when there is no such opportunity. */
export async function listEvents(
  { db }: Catalog,
  opportunityId: string,
  filter: EventFilter,
  limit: number,
  after: Position | null,
): Promise<Page | undefined> {
  const opportunity = db.sqlite.query<{ seq: number }, [string]>("select seq from opportunities where id = ?").get(opportunityId);
  if (opportunity === null) return undefined;
  const rows = db.sqlite.query<Row, Bindings>(PAGE).all({
    row: opportunity.seq,
    time: after?.time ?? LAST,
    id: after?.id ?? "",
    since: filter.since?.ms ?? FIRST,
    types: filter.type === undefined ? null : JSON.stringify(filter.type),
    all: filter.include_insignificant ? 1 : 0,
    limit: limit + 1, // One more than asked: its presence is `has_more`, without a count.
  });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    documents: shown.map(({ document }) => document),
    next: rows.length > limit && last !== undefined ? { time: last.detected_at, id: last.id } : null,
  };
}
