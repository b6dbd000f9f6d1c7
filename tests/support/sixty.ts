/** Sixty records, in pairs with the same instant, and twelve events of one record. They come from four sources; one of those is not a named source. */
import { insertEvent } from "../../src/changes/commit.ts";
import { eventTypes, type OpportunityEvent, severities } from "../../src/events/event.ts";
import type { Draft } from "../../src/import/format.ts";
import { opportunityId, uuid5 } from "../../src/opportunities/identity.ts";
import { programTypes, statuses } from "../../src/opportunities/opportunity.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { type TestApi, testApi } from "./api.ts";
import { anOpportunity, storeRecords } from "./records.ts";
import { rawSql } from "./sql.ts";

const CODES = ["SAM", "SBIR", "GRANTS", "UNLISTED"];
const AGENCIES = ["Department of Défense", "NASA", "100%_Agency"];

/** The `updated_at` of the first pair. Each further pair is a minute later. */
export const FIRST = Date.UTC(2026, 0, 1);
/** The `detected_at` of the first event. Each further event is a second later. */
const FIRST_EVENT = Date.UTC(2026, 1, 1);

/** The id of the record with the events: `{U}` in tests/http/requests.tsv. */
export const U = opportunityId("SAM", "N0");
export const WITHOUT_EVENTS = opportunityId("SBIR", "N1");
/** An id without a record: `{X}` in tests/http/requests.tsv. */
export const X = "0190c4a0-0000-7000-8000-0000000000ff";

const sixty: readonly Draft[] = Array.from({ length: 60 }, (_, n) =>
  anOpportunity({
    source: { code: CODES[n % 4] ?? "", opportunity_id: `N${n}` },
    title: `Title ${n}`,
    status: statuses[n % statuses.length] ?? null,
    organization: { agency: AGENCIES[n % 3] ?? null },
    program: { type: programTypes[n % programTypes.length] ?? null },
  }),
);

/** Returns a service that has these records and events. */
export async function sixtyApi(options: Parameters<typeof testApi>[0] = {}): Promise<TestApi> {
  const api = await testApi({ sources: ["SAM", "SBIR", "GRANTS"], ...options });
  const { db } = api.model;
  for (let pair = 0; pair < 30; pair++) await storeRecords(db, sixty.slice(pair * 2, pair * 2 + 2), FIRST + pair * 60_000);
  await db.run(rawSql("delete from events")); // Only the twelve events of U remain, not the events of the records' additions.
  const row = await db.get(rawSql<{ seq: number }>("select seq from opportunities where id = ?", U));
  for (const { event, given } of twelveEvents())
    await insertEvent(db, row?.seq ?? 0, event, 0, { ...given, imported_at: given.detected_at });
  return api;
}

/** Returns events of all types and severities. The last two are stored with a type and a severity that the API does not know. */
function twelveEvents() {
  return Array.from({ length: 12 }, (_, n) => {
    const detected_at = FIRST_EVENT + n * 1000;
    const [type, severity] = n < 10 ? [eventTypes[n % 9] ?? "unknown", severities[n % 5] ?? "unknown"] : ["merged", "urgent"];
    const shown = n < 10 ? { type, severity } : { type: "unknown", severity: "unknown" };
    const event: OpportunityEvent = {
      id: uuid5(`event ${n}`),
      opportunity_id: U,
      ...shown,
      summary: `Event ${n}`,
      changed_fields: ["title"],
      changes: [{ field: "title", previous: null, current: `Title ${n}` }],
      detected_at: formatInstant(detected_at),
    };
    return { event, given: { type, severity, detected_at } };
  });
}
