/** Pages of events compared with a model that looks through all events of a record. */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { eventTypes, insignificant, severities } from "../../src/events/event.ts";
import { type EventFilter, listOpportunityEvents } from "../../src/events/list.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { createReadModel } from "../../src/opportunities/read-model.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { aCatalog, dropScratch, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const SEED = Number(process.env.FUNDFEED_SEED ?? 20260301);
const QUESTIONS = 800;

/** Some share an instant, so that ids decide their order. */
const event = fc.record({
  record: fc.constantFrom("1", "2", "3"),
  type: fc.constantFrom(...eventTypes, "merged"),
  severity: fc.constantFrom(...severities, "grave"),
  time: fc.nat({ max: 40 }).map((n) => NOON + n),
});
const question = fc.record({
  record: fc.constantFrom("1", "2", "3"),
  type: fc.option(fc.uniqueArray(fc.constantFrom(...eventTypes), { minLength: 1, maxLength: 4 }), { nil: undefined }),
  since: fc.option(
    fc.nat({ max: 41 }).map((n) => ({ ms: NOON + n - 1, beyond: "" })),
    { nil: undefined },
  ),
  include_insignificant: fc.boolean(),
  limit: fc.integer({ min: 1, max: 40 }),
});

type Shown = { id: string; type: string; severity: string; detected_at: string };

test("listOpportunityEvents() returns the same events as the model, page by page", async () => {
  const { take, takeEvents, db } = await aCatalog();
  const source = (id: string) => ({ code: "A", opportunity_id: id });
  await take(["1", "2", "3"].map((id) => ({ source: source(id), title: "T" })));
  await takeEvents(
    fc.sample(event, { numRuns: 400, seed: SEED }).map(({ record, time, ...rest }, n) => ({
      source: source(record),
      summary: `Event ${n}`,
      changed_fields: [],
      changes: [],
      detected_at: formatInstant(time),
      ...rest,
    })),
  );
  const model = await createReadModel(db);
  const all = new Map<string, Shown[]>();
  for (const record of ["1", "2", "3"]) {
    const rows = await db.all(
      rawSql<{ document: Uint8Array }>(
        "select events.document from events join opportunities on opportunities.seq = opportunity_seq where lineage = ?",
        record,
      ),
    );
    const shown = rows.map(({ document }) => JSON.parse(Buffer.from(document).toString()) as Shown);
    all.set(
      record,
      shown.sort((left, right) => (before(left, right) ? -1 : 1)),
    );
  }

  let matched = 0;
  for (const { record, limit, type, since, include_insignificant } of fc.sample(question, { numRuns: QUESTIONS, seed: SEED })) {
    const filter: EventFilter = { include_insignificant, ...(type && { type }), ...(since && { since }) };
    const wanted = (all.get(record) ?? []).filter((each) => matches(each, filter)).map(({ id }) => id);
    const seen: string[] = [];
    for (let after = null as Parameters<typeof listOpportunityEvents>[4]; ; ) {
      const page = await listOpportunityEvents(model, opportunityId("A", record), filter, limit, after);
      const ids = (page?.documents ?? []).map((document) => (JSON.parse(Buffer.from(document).toString()) as Shown).id);
      seen.push(...ids);
      expect(ids).toHaveLength(Math.min(limit, wanted.length - (seen.length - ids.length)));
      after = page?.next ?? null;
      if (after === null) break;
    }
    expect({ seed: SEED, filter, limit, seen }).toEqual({ seed: SEED, filter, limit, seen: wanted });
    matched += wanted.length;
  }
  expect(matched).toBeGreaterThan(QUESTIONS * 10);
});

/** Newest first; at the same instant, the greatest id first. */
function before(left: Shown, right: Shown): boolean {
  return left.detected_at > right.detected_at || (left.detected_at === right.detected_at && left.id > right.id);
}

function matches({ type, severity, detected_at }: Shown, filter: EventFilter): boolean {
  if (filter.type !== undefined && !filter.type.includes(type)) return false;
  if (!filter.include_insignificant && insignificant.some((each) => each === severity)) return false;
  return filter.since === undefined || Date.parse(detected_at) > filter.since.ms;
}
