/** One page of an opportunity's events. */
import { and, desc, eq, gt, inArray, notInArray, sql } from "drizzle-orm";
import { listOf, parameter, pick, query, type RowsOf, select, selectSome } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { type ListPage, type Position, rowsOfOnePage, unlessLong } from "../opportunities/page.ts";
import type { ReadModel } from "../opportunities/read-model.ts";
import type { Instant } from "../text/instant.ts";
import { eventTypes, insignificant } from "./event.ts";

export type EventFilter = { type?: string[]; since?: Instant; include_insignificant: boolean };

const seqById = selectSome(opportunities, ["seq"], "id");

/** The type as the API returns it: `unknown` if it is none of `eventTypes`. */
export const shownType = sql`case when ${inArray(events.type, [...eventTypes])} then ${events.type} else 'unknown' end`;

const page = (withInsignificant: boolean) =>
  query(
    {
      opportunity_seq: events.opportunity_seq,
      time: events.detected_at,
      id: events.id,
      since: events.detected_at,
      types: listOf(events.type),
      limit: parameter<number>(),
    },
    ({ opportunity_seq, time, id, since, types, limit }) =>
      // An index has every column except the document.
      select({ ...pick(events, "seq", "detected_at", "id"), document: unlessLong(events.document) })
        .from(events)
        .where(
          and(
            eq(events.opportunity_seq, opportunity_seq),
            sql`(${events.detected_at}, ${events.id}) < (${time}, ${id})`,
            gt(events.detected_at, since),
            inArray(shownType, types),
            withInsignificant ? undefined : notInArray(events.severity, [...insignificant]),
          ),
        )
        .orderBy(desc(events.detected_at), desc(events.id))
        .limit(limit),
  );
const [significantPage, wholePage] = [page(false), page(true)];
const documentBySeq = selectSome(events, ["document"], "seq");

const [LAST, FIRST] = [8.64e15, -8.64e15];

type EventRow = Omit<RowsOf<typeof wholePage>, "document"> & { document: Uint8Array };

/** One page of events as ready JSON documents, newest first; `undefined` if there is no opportunity with this id. */
export async function listOpportunityEvents(
  { db }: Pick<ReadModel, "db">,
  opportunityId: string,
  filter: EventFilter,
  limit: number,
  after: Position | null,
): Promise<ListPage | undefined> {
  const opportunity = await db.get(seqById, { id: opportunityId });
  if (opportunity === undefined) return undefined;
  const rows = await db.all(filter.include_insignificant ? wholePage : significantPage, {
    opportunity_seq: opportunity.seq,
    time: after?.time ?? LAST,
    id: after?.id ?? "",
    since: filter.since?.ms ?? FIRST,
    types: filter.type ?? eventTypes,
    limit: limit + 1, // One more than asked: its presence is `has_more`, without a count.
  });
  const shown = await rowsOfOnePage<EventRow>(rows.slice(0, limit), async (row) => {
    const document = (await db.get(documentBySeq, { seq: row.seq }))?.document;
    return document && { ...row, document };
  });
  const last = shown.at(-1);
  const next = rows.length > shown.length && last !== undefined ? { time: last.detected_at, id: last.id } : null;
  return { documents: shown.map(({ document }) => document), next };
}
