/** The competitions of Simpler.Grants.gov's API: the windows in which people apply. */
import { expect, test } from "bun:test";
import { grantsGov } from "../../../../src/import/formats/grants-gov/extract.ts";
import { readFormat, textInput } from "../../../support/read-format.ts";

const competition = { competition_title: "Main", opening_date: "2026-11-01", closing_date: "2027-02-15", grace_period: 0 };

/** The draft of an opportunity that closes on a day, or states none, and the warnings. */
async function read(close_date: string | null, ...competitions: object[]) {
  const summary = { is_forecast: false, close_date, post_date: "2026-10-01" };
  const data = { opportunity_id: "2f98bc76-8ab0-4742-9143-950c1cbc0e42", legacy_opportunity_id: 359802, summary, competitions };
  const text = JSON.stringify({ data: { ...data, opportunity_title: "Office-Wide", opportunity_status: "posted" }, status_code: 200 });
  const { kept, warnings } = await readFormat(grantsGov, [textInput(text, "one.json")]);
  const draft = kept.get("359802");
  return {
    closes: draft?.dates?.closes_at?.slice(0, 10),
    due: draft?.due_dates?.map(({ at, words }) => [at.slice(0, 10), words]),
    warnings,
  };
}

test("their closings are due dates, and the deadline where the summary states none", async () => {
  expect(await read(null, competition)).toMatchObject({ closes: "2027-02-15", due: [["2027-02-15", "Main"]] });
  const second = { ...competition, competition_title: "Late", closing_date: "2027-05-01", grace_period: 3 };
  expect(await read(null, competition, second)).toMatchObject({
    closes: "2027-05-01",
    due: [
      ["2027-02-15", "Main"],
      ["2027-05-01", "Late, grace period of 3 days"],
    ],
  });
});

test("a closing date of the summary that differs is listed with them", async () => {
  expect(await read("2027-03-31", competition)).toMatchObject({
    closes: "2027-03-31",
    due: [
      ["2027-02-15", "Main"],
      ["2027-03-31", "closing date of the opportunity"],
    ],
  });
  expect((await read("2027-02-15", competition)).due).toEqual([["2027-02-15", "Main"]]);
});

test("one that closes before it opens is kept as published, with the day on which it opens", async () => {
  const { due } = await read(null, { ...competition, closing_date: "2026-10-15" });
  expect(due).toEqual([["2026-10-15", "Main, opens 2026-11-01"]]);
});

test("a draft, or a status word that is not known, is imported by its dates, with a warning", async () => {
  const data = { opportunity_id: "2f98bc76-8ab0-4742-9143-950c1cbc0e42", legacy_opportunity_id: 1, opportunity_title: "A", is_draft: true };
  const summary = { is_forecast: false, close_date: null, post_date: "2026-10-01" };
  const text = JSON.stringify({ data: { ...data, opportunity_status: "paused", summary }, status_code: 200 });
  const { kept, warnings } = await readFormat(grantsGov, [textInput(text, "one.json")]);
  expect(kept.get("1")?.title).toBe("A");
  expect([...warnings]).toEqual([
    "Opportunity 1 is called a draft (is_draft); it is imported as published",
    'unknown opportunity_status "paused": the dates decide whether the opportunity is open',
  ]);
});
