/** Grants.gov's extract and all forms of its successor's API in turn, in random order, while the texts change: each change is told once. */
import { afterAll, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { aCatalog, documentsOf, dropScratch, eventsOf, type TestCatalog } from "../support/imports.ts";
import { randomNumbers } from "../support/random-numbers.ts";
import { detailText, extractText, legacyXml, type SimplerRecord, searchText, simplerRecords } from "../support/simpler-layouts.ts";

afterAll(dropScratch);

const NOW = Date.parse("2026-06-17T12:00:00Z");

type Edit = Partial<Omit<SimplerRecord, "summary">> & { summary?: SimplerRecord["summary"] };

/** Values of which each form has a spelling of its own. */
const edits: readonly Edit[] = [
  { summary: { close_date: null, close_date_description: "Open until <b>filled</b>.<br/>See &amp; read" } },
  { summary: { award_ceiling: 1_234_567 } },
  { summary: { award_ceiling: 0, award_floor: 0 } },
  { summary: { award_ceiling: 500, award_floor: 0 } },
  { summary: { award_ceiling: null, award_floor: 1000 } },
  { summary: { estimated_total_program_funding: 0, expected_number_of_awards: 0 } },
  { summary: { summary_description: "<p>New&nbsp;text\u200b of <i>it</i> &amp; more</p><ul><li>a</li><li>b</li></ul>" } },
  { summary: { summary_description: "Plain text\n\nwith lines & <angle>" } },
  { summary: { summary_description: null } },
  { summary: { agency_contact_description: "Ann Miller\nGrants Officer\nann@x.gov\n555-123-4567" } },
  { summary: { agency_contact_description: null, agency_email_address: null } },
  { summary: { applicant_eligibility_description: "Only <b>tribes</b>.<br/>And states; cities", is_cost_sharing: null } },
  { summary: { applicant_types: ["unrestricted"], funding_instruments: ["grant", "cooperative_agreement", "other"] } },
  { summary: { funding_categories: ["health", "other"], funding_category_description: "Other; thing" } },
  { summary: { archive_date: "2026-06-01" } },
  { summary: { archive_date: null } },
  { summary: { additional_info_url: "https://x.gov/a?b=1&c=2", additional_info_url_description: "A &amp; B" } },
  { summary: { additional_info_url: "neup.gov", additional_info_url_description: "Not Applicable" } },
  { opportunity_title: "A  new   title &amp; more " },
  { opportunity_number: "NEW-26-001" },
  { agency_name: "Brand New Office" },
  { category: "other", category_explanation: "N/A" },
  {
    opportunity_assistance_listings: [
      { assistance_listing_number: "93.242", program_title: "Mental Health" },
      { assistance_listing_number: "12.431", program_title: "Basic" },
    ],
  },
  {
    opportunity_status: "forecasted",
    summary: {
      is_forecast: true,
      close_date: null,
      close_date_description: null,
      forecasted_post_date: "2026-09-01",
      forecasted_close_date: "2026-12-01",
      forecasted_close_date_description: "noon <br/> ET",
      fiscal_year: 2027,
      agency_contact_description: "Bob Smith\n(202) 555-1234 x12",
    },
  },
];

/** The first of them was born in the successor, so that the extract lacks it. */
const [born, ...others] = simplerRecords() as [SimplerRecord, ...SimplerRecord[]];
const first: readonly SimplerRecord[] = [{ ...born, legacy_opportunity_id: null }, ...others];

const forms: Readonly<Record<string, (records: readonly SimplerRecord[]) => string>> = {
  xml: (records) => legacyXml(records.filter(({ legacy_opportunity_id }) => legacy_opportunity_id !== null)),
  extract: (records) => extractText(records),
  search: (records) => searchText(records),
  details: (records) => `[${records.map(detailText)}]`,
};
const snapshots = ["xml", "extract"];

const countOf = async ({ db }: TestCatalog, { legacy_opportunity_id, opportunity_id }: SimplerRecord) =>
  (await eventsOf(db, String(legacy_opportunity_id ?? opportunity_id))).length;

test.each([1, 2])("each change is told by the form that shows it first, and by no other: %p", async (seed) => {
  const random = randomNumbers(seed);
  const any = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const shuffled = <T>(list: readonly T[]) =>
    list
      .map((each) => ({ each, at: random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ each }) => each);
  const withListsShuffled = (record: SimplerRecord): SimplerRecord => ({
    ...record,
    opportunity_assistance_listings: shuffled(record.opportunity_assistance_listings),
    summary: Object.fromEntries(
      Object.entries(record.summary).map(([name, value]) => [name, Array.isArray(value) ? shuffled(value) : value]),
    ),
  });
  const catalog = await aCatalog();
  catalog.clock.now = NOW;
  let records = first;
  let told = 0;
  for (let step = 0; step < 6; step++) {
    // One in three changes.
    const before = records;
    if (step > 0)
      records = records.map((record) => {
        const { summary = {}, ...edit } = random() < 1 / 3 ? any(edits) : {};
        return { ...record, ...edit, summary: { ...record.summary, ...summary } };
      });
    const counts = await Promise.all(records.map((each) => countOf(catalog, each)));
    const order = shuffled(Object.keys(forms)).sort((one, other) => Number(one === "xml") - Number(other === "xml"));
    const turns = random() < 0.5 ? order : [...order.slice(-1), ...order.slice(0, -1)];
    for (const [turn, name] of turns.entries()) {
      const text = forms[name]?.(records.map(withListsShuffled)) ?? "";
      const outcome = await catalog.take(text, { format: grantsGov, snapshot: snapshots.includes(name) });
      expect([seed, step, name, outcome]).toMatchObject([seed, step, name, { rejected: 0, removed: 0 }]);
      const isFirst = turn === 0 || (turn === 1 && turns[0] === "xml"); // The extract shows nothing of the first record.
      if (!isFirst) expect([seed, step, turns.slice(0, turn + 1), outcome]).toMatchObject([seed, step, {}, { changed: 0, events: 0 }]);
    }
    for (const [index, record] of records.entries()) {
      const more = (await countOf(catalog, record)) - (counts[index] ?? 0);
      if (record === before[index] || Bun.deepEquals(record, before[index])) expect(step === 0 ? 0 : more).toBe(0);
      else told += more;
    }
    catalog.clock.now += 3_600_000;
  }
  expect(told).toBeGreaterThan(20);
  expect(await documentsOf(catalog.db)).toHaveLength(24);
  expect(await checkCatalog(catalog.db)).toEqual([]);
});
