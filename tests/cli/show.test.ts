/** The page that `show` prints: facts with dates for people, then the newest changes, then the texts. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const record = {
  source: { code: "OWN", opportunity_id: "A-1", name: "Our own" },
  title: "Solar sail",
  status: "open",
  status_display: "Open",
  description: "<p>Sails.</p><p>More sails.</p>",
  program: { type: "GRANT", contract_class: "Grant", solicitation_id: "A-1", solicitation_title: "Solar sail" },
  funding: { amount_min: "1000", amount_max: "20000", display: "Up to $20,000 per award; $1,000,000 total" },
  dates: { posted_at: "2026-02-01T00:00:00-05:00", closes_at: "2036-02-05T23:59:59-05:00", response_at: "2036-01-05T17:00:00-05:00" },
  eligibility: { requirements: "Anybody." },
};

/** What `show` prints after imports of these versions, a day apart. */
async function shown(...versions: object[]): Promise<string> {
  const directory = aDirectory();
  for (const [n, version] of versions.entries()) {
    const day = new Date(Date.UTC(2026, 2, 1 + n, 12)).toISOString();
    await fundfeed(["import", "records", aFile([version]), "--data", directory, "--as-of", day]);
  }
  return (await fundfeed(["show", "A-1", "--data", directory])).out;
}

test("has the facts, each once, and the history in front of the texts", async () => {
  const out = await shown(record, { ...record, dates: { ...record.dates, closes_at: "2036-02-12T23:59:59-05:00" } });
  const [head, history, ...texts] = out.split("\n\n").slice(1);
  expect(head?.replaceAll(/\(in [^)]*\)/g, "(in …)").replace(/[0-9a-f-]{36}/, "…")).toBe(
    [
      "status       open",
      "due          Jan 5, 2036, 5:00 PM ET (in …); responses",
      "due dates    Jan 5, 2036, 5:00 PM ET: responses",
      "             Feb 12, 2036: closing",
      "posted       Feb 1, 2026",
      "number       A-1",
      "program      GRANT",
      "awards       $1,000 to $20,000; $1,000,000 total",
      "source       Our own, A-1",
      "id           …",
      "changed      Mar 2, 2026",
      "stored       Mar 1, 2026",
    ].join("\n"),
  );
  expect(history).toBe("History\nMar 2, 2026  deadline moved from Feb 5 to Feb 12, 2036 (7 days later)\nMar 1, 2026  added");
  expect(texts).toEqual(["Description\nSails.", "More sails.", "Eligibility\nAnybody.\n"]);
});

test.each([
  [10, ""],
  [11, '; and more: fundfeed find "A-1"'],
])("lists %d records of a number, and says if there are more", async (count, more) => {
  const directory = aDirectory();
  const records = Array.from({ length: count }, (_, n) => ({ ...record, source: { code: "OWN", opportunity_id: `${n}` } }));
  await fundfeed(["import", "records", aFile(records), "--data", directory]);
  const { err } = await fundfeed(["show", "A-1", "--data", directory]);
  expect(err.match(/fundfeed show [0-9a-f]{8}/g)).toHaveLength(10);
  expect(err).toEndWith(`${err.match(/fundfeed show [0-9a-f]{8}/g)?.at(-1)}${more}\n`);
});

test("counts what it does not show of a long history", async () => {
  const versions = Array.from({ length: 13 }, (_, n) => ({ ...record, title: `Solar sail ${n}` }));
  const [, , history = ""] = (await shown(...versions, { ...record, title: "SOLAR SAIL 12" })).split("\n\n");
  const lines = history.split("\n");
  expect(lines[1]).toBe("Mar 13, 2026 title changed from “Solar sail 11” to “Solar sail 12”");
  expect(lines.slice(10)).toEqual([
    "Mar 4, 2026  title changed from “Solar sail 2” to “Solar sail 3”",
    "Not shown: 3 earlier changes, 1 cosmetic change (--json has all)",
  ]);
});

test("has no number for an opportunity that has none of its own", async () => {
  const directory = aDirectory();
  const source = { code: "OWN", opportunity_id: "https://example.gov/a-prize" };
  await fundfeed(["import", "records", aFile([{ source, title: "A prize" }]), "--data", directory]);
  const { out } = await fundfeed(["show", source.opportunity_id, "--data", directory]);
  expect(out).not.toMatch(/^number/m);
  expect((await fundfeed(["find", "prize", "--data", directory])).out).toContain("  –       A prize");
});

test("show says who won, and how much", async () => {
  const award = { number: "N0001426C1102", date: "2026-03-12", amount: "3673525.00", awardee: "PRIVATE MACHINES INC" };
  const out = await shown({ ...record, funding: { amount_min: award.amount, amount_max: award.amount, display: null }, award });
  expect(out).toMatch(/^won by +PRIVATE MACHINES INC, N0001426C1102, Mar 12, 2026$/m);
  expect(out).toMatch(/^awards +.*\$3,673,525/m);
});
