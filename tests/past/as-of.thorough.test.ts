/** The export as of an instant is, byte for byte, the export that was made at that instant. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { withoutContactValues } from "../../src/changes/contacts.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import type { OpportunityEvent } from "../../src/events/event.ts";
import { exportHistories, exportLines } from "../../src/export/records.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readPast } from "../../src/past/as-of.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, DAY, dropScratch, NOON, type TestCatalog } from "../support/imports.ts";

setDefaultTimeout(3_600_000); // For as many histories as FUNDFEED_HISTORIES says.

afterAll(dropScratch);

const HISTORIES = Number(process.env.FUNDFEED_HISTORIES ?? 15);

/** All that can be exported of the past, which does not tell when a record was last seen: the lines of NDJSON, and each opportunity with its events and its text. */
type Exported = { lines: string[]; histories: [WholeOpportunity, OpportunityEvent[], string][]; erased: number };

async function exported({ db }: TestCatalog, moment: { now: number } | { asOf: number }): Promise<Exported> {
  const found: Exported = { lines: [], histories: [], erased: 0 };
  await exportLines(
    db,
    { ...moment, noteErased: () => found.erased++ },
    (line) => void found.lines.push(line.replace(/,"last_seen":\{[^}]*\}(?=\}$)/, "")),
  );
  await exportHistories(db, moment, ({ last_seen: _, ...opportunity }, history, text) => {
    found.histories.push([opportunity, history, text]); // When imports last contained it is not kept for the past.
  });
  return found;
}

/** What is left of an export when contacts are erased: those of some records, and those of all events. */
function withoutContacts({ lines, histories }: Exported, isErased: (id: string) => boolean): Pick<Exported, "lines" | "histories"> {
  const left = (text: string) => {
    const record = JSON.parse(text);
    return isErased(record.id) ? JSON.stringify({ ...record, contacts: [] }) : text;
  };
  return {
    lines: lines.map(left),
    histories: histories.map(([opportunity, events, text]) => {
      const contacts = isErased(opportunity.id) ? [] : opportunity.contacts;
      return [{ ...opportunity, contacts }, events.map(withoutContactValues), left(text)];
    }),
  };
}

const dayOf = (n: number, offset = "Z") => new Date(NOON + n * DAY).toISOString().replace(/\.000Z$/, offset);
const aDate = fc.option(fc.tuple(fc.integer({ min: -3, max: 30 }), fc.constantFrom("Z", "-04:00")).map(([n, offset]) => dayOf(n, offset)));

/** Few values, so that fields often come back to what they were, and records of several sources belong together. */
const aDraft = fc.record(
  {
    source: fc.record({
      code: fc.constantFrom("GRANTS_GOV", "SIMPLER_GRANTS_GOV", "NSF", "OWN"),
      opportunity_id: fc.constantFrom("100001", "100002", "100003"),
    }),
    title: fc.constantFrom("One", "Two"),
    summary: fc.constantFrom(null, "Text"),
    status: fc.constantFrom(null, "open", "forecast", "archived"),
    status_display: fc.constantFrom(null, "Posted"),
    status_until: aDate,
    archives_at: aDate,
    funding: fc.constantFrom(null, { amount_min: "1" }, { amount_min: "2", display: "Two" }),
    dates: fc.record({ opens_at: aDate, closes_at: aDate, response_at: aDate }),
    program: fc.record({ solicitation_id: fc.constantFrom("AB-12345", "AB-12346") }),
    contacts: fc.constantFrom([], [{ name: "Ann", email: "ann@example.org" }], [{ name: "Bob", phone: "1" }]),
    lineage: fc.constantFrom("100001", "100002"),
    earlier_ids: fc.constantFrom([], ["9"], ["9", "8"]),
    attachments: fc.constantFrom([], [{ name: "Call", url: "https://example.org/call.pdf" }]),
    questions: fc.constantFrom([], [{ question: "Why?", answer: null }]),
    agency_codes: fc.constantFrom([], ["NSF"], ["NSF", "HHS"]),
    due_dates: fc.array(fc.record({ at: aDate.filter((date) => date !== null), words: fc.constantFrom(null, "Step 1") }), { maxLength: 3 }),
    expires_at: aDate,
    deadline_note: fc.constantFrom(null, "Anytime", "By May 1"),
    eligibility: fc.constantFrom({}, { requirements: "All" }),
    place: fc.constantFrom(null, { city: "Reston", state: "VA", country: null }),
    award: fc.constantFrom(null, { number: "1", date: null, amount: "5", awardee: "Acme" }),
  },
  { requiredKeys: ["source", "title"] },
);

const anImport = fc.record({
  kind: fc.constant("import" as const),
  records: fc.array(aDraft, { minLength: 1, maxLength: 5 }),
  snapshot: fc.boolean(),
  redactContacts: fc.constantFrom(false, false, false, true),
  chunk: fc.constantFrom(1, 100),
});
const aStep = fc.oneof(
  { weight: 6, arbitrary: anImport },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("redact" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restore" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("events" as const), n: fc.integer({ min: 0, max: 5 }), title: fc.string() }) },
);
type Step = ReturnType<typeof aStep.generate>["value"];

function eventOf(n: number, title: string): object {
  const [code, opportunity_id] = [["OWN", "NSF"][n % 2], `10000${1 + (n % 3)}`];
  const changes = [
    { field: "title", previous: title, current: "One" },
    { field: "contacts", previous: [], current: [{ name: "Eve", email: "eve@example.org" }] },
  ];
  const given = { summary: null, changed_fields: ["title", "contacts"], changes, detected_at: dayOf(-10 - n) };
  return { source: { code, opportunity_id }, type: "field_updated", severity: "material", ...given };
}

/** Takes a step. Returns the catalog that the next one continues. */
async function take(catalog: TestCatalog, step: Step, emptyCatalog: () => Promise<TestCatalog>): Promise<TestCatalog> {
  const { clock, db } = catalog;
  if (step.kind === "turn") await turnStatuses(db, clock.now);
  if (step.kind === "redact") await redactStored(db, undefined, clock.now);
  if (step.kind === "events") await catalog.takeEvents([eventOf(step.n, step.title)]);
  if (step.kind === "import") {
    const { records, kind: _, ...options } = step;
    await catalog.take(records, { ...options, allowRemovals: true });
  }
  if (step.kind !== "restore") return catalog;
  const { lines } = await exported(catalog, { now: clock.now });
  const restored = await emptyCatalog();
  restored.clock.now = clock.now;
  await restored.take(lines);
  await db.close();
  return restored;
}

describe.each(engines)("the past on %s", (name, isThere, emptyCatalog) => {
  test.if(isThere)("is what was exported then, for random histories", async () => {
    const aNew = async () => aCatalog(await emptyCatalog());
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 2, maxLength: 8 }), async (steps) => {
        let catalog = await aNew();
        let made: { at: number; before: Exported; redacted: boolean }[] = [];
        const note = async (at: number) => made.push({ at, before: await exported(catalog, { now: at }), redacted: false });
        await note(NOON - DAY);
        for (const [n, step] of steps.entries()) {
          const at = NOON + n * 3 * DAY;
          catalog.clock.now = at;
          catalog = await take(catalog, step, aNew);
          if (step.kind === "restore") made = made.map((each) => ({ ...each, before: { lines: [], histories: [], erased: 0 } }));
          if (step.kind === "redact" || (step.kind === "import" && step.redactContacts))
            made = made.map((each) => ({ ...each, redacted: true }));
          await note(at + DAY / 2);
          await note(at + 2 * DAY);
        }
        for (const { at, before, redacted } of made) {
          const now = await exported(catalog, { asOf: at });
          const ids = now.histories.map(([{ id }]) => id);
          const past = await readPast(catalog.db, ids, at);
          const erased = past.filter((each) => each.erased !== null).map(({ opportunity }) => opportunity.id);
          expect(past.map(({ opportunity }) => opportunity)).toEqual(now.histories.map(([opportunity]) => opportunity));
          expect(past.map(({ history }) => history)).toEqual(now.histories.map(([, history]) => history));
          expect(now.erased).toBe(erased.length);
          if (!redacted) expect([at, now]).toEqual([at, before]);
          else expect([at, withoutContacts(now, () => false)]).toEqual([at, withoutContacts(before, (id) => erased.includes(id))]);
        }
        await catalog.db.close();
      }),
      { numRuns: name === "SQLite" ? HISTORIES : Math.ceil(HISTORIES / 8) },
    );
  });
});
