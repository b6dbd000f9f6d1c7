/** The one account of when an opportunity is due. Values are those of real records. */
import { describe, expect, test } from "bun:test";
import type { Draft } from "../../src/import/format.ts";
import { type Due, dueInShort, dueInWords, dueOf, dueOnDay } from "../../src/opportunities/due.ts";
import { NIH_DUE_DATES } from "../../src/opportunities/nih-due-dates.ts";
import { noSidecar, type Sidecar, type WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { aContent } from "../support/contents.ts";

const NOW = Date.parse("2026-11-27T15:00:00Z");

function record(draft: Partial<Draft>, sidecar: Partial<Sidecar> = {}): WholeOpportunity {
  const served = { id: "x", created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" };
  return { ...aContent(draft), ...served, sidecar: { ...noSidecar, ...sidecar } };
}

const parent = {
  title: "NIH Research Project Grant (Parent R01 Clinical Trial Not Allowed)",
  status: "open",
  program: { solicitation_id: "PA-25-301" },
  dates: { closes_at: "2028-01-07T23:59:59-05:00" },
};
const ofNih = { agency_codes: ["HHS-NIH11"] };
const standardOf = (title: string, others: Partial<Draft> = {}) =>
  dueOf(record({ ...parent, title, ...others }, ofNih), NOW, []).standard_at;

const listed = ["2024-01-30", "2025-01-24", "2026-05-27", "2026-09-23"].map((day) => ({ at: `${day}T23:59:59-04:00`, words: null }));

test("a title that says that it is cancelled comes first, as no status of that source can say it", () => {
  const [title, closes_at] = ["Kessel Run PRIME RFI - Cancelled", "2026-12-09T17:00:00-05:00"];
  const open = dueOf(record({ title, status: "open", dates: { closes_at } }), NOW, []);
  expect(dueInWords(open, NOW)).toBe("its title says CANCELLED; due Dec 9, 2026, 5:00 PM ET (in 12 days)");
  expect(dueOf(record({ title, status: "cancelled", dates: { closes_at } }), NOW, []).elsewhere).toBeNull();
});

const accounts: [string, WholeOpportunity, readonly WholeOpportunity[], Partial<Due>, long: string, short: string, day: string][] = [
  [
    "a due date that was stated",
    record({ status: "open", dates: { closes_at: "2026-12-09T17:00:00-05:00" } }),
    [],
    { kind: "due" },
    "due Dec 9, 2026, 5:00 PM ET (in 12 days)",
    "Dec 9 (12d)",
    "due Dec 9, 2026",
  ],
  [
    "a day without an hour",
    record({ status: "open", dates: { closes_at: "2026-11-28T23:59:59-05:00" } }),
    [],
    { kind: "due" },
    "due Nov 28, 2026 (tomorrow)",
    "tomorrow",
    "due Nov 28, 2026",
  ],
  [
    "the estimate of a forecast",
    record({ status: "forecast", dates: { closes_at: "2027-04-15T23:59:59-04:00" } }),
    [],
    { kind: "expected" },
    "expected Apr 15, 2027 (in 4 months)",
    "~Apr 15 (4mo)",
    "expected Apr 15, 2027",
  ],
  [
    "a record whose duplicate lists due dates that have passed, and calls its closing date the expiry",
    record({ status: "open", dates: { closes_at: "2027-01-07T23:59:59-05:00" } }),
    [
      record(
        { source: { code: "SBIR_GOV", name: "SBIR.gov", opportunity_id: "1" }, status: "closed" },
        { due_dates: listed, expires_at: "2027-01-08T23:59:59-05:00" },
      ),
    ],
    { kind: "over", elsewhere: "closed at SBIR.gov" },
    "closed at SBIR.gov; was due Sep 23, 2026 (64 days ago); the last of 4 due dates; expires Jan 8, 2027",
    "over, ends Jan 8",
    "closed at SBIR.gov; was due Sep 23, 2026; expires Jan 8, 2027",
  ],
  [
    "a closing date that lies after the due dates of a duplicate, which does not call it an expiry",
    record({ status: "open", dates: { closes_at: "2027-01-07T23:59:59-05:00" } }),
    [record({ source: { code: "NSF", name: "NSF", opportunity_id: "1" }, status: "open" }, { due_dates: listed })],
    { kind: "due" },
    "due Jan 7, 2027 (in 41 days)",
    "Jan 7 (41d)",
    "due Jan 7, 2027",
  ],
  [
    "an announcement of NIH with standard due dates",
    record(parent, ofNih),
    [],
    { kind: "expires", dates: [], expires_at: null },
    "expires Jan 7, 2028 (in 13 months); NIH standard due dates, the next expected Feb 5, 2027",
    "ends Jan 7, 2028",
    "expires Jan 7, 2028; next expected Feb 5, 2027",
  ],
  [
    "a note alone",
    record({ status: "open" }, { deadline_note: "Letters of intent are due January 15, 2027" }),
    [],
    { kind: "in_words", at: null },
    "in words: Letters of intent are due January 15, 2027",
    "in words",
    "due date in words",
  ],
  [
    "a note that says anytime",
    record({ status: "open" }, { deadline_note: "Proposals accepted anytime" }),
    [],
    { kind: "anytime", at: null },
    "accepted anytime",
    "anytime",
    "accepted anytime",
  ],
  [
    "nothing",
    record({ status: "open", dates: { posted_at: "2016-03-01T00:00:00-05:00" } }),
    [],
    { kind: "none", at: null },
    "no date stated, posted 2016",
    "posted 2016",
    "no date stated, posted 2016",
  ],
  [
    "a deadline that has passed",
    record({ status: "closed", dates: { closes_at: "2026-03-03T17:00:00-05:00" } }),
    [],
    { kind: "over" },
    "closed Mar 3, 2026, 5:00 PM ET (8 months ago)",
    "Mar 3, 2026",
    "closed Mar 3, 2026",
  ],
];

test.each(accounts)("the account of %s", (_, opportunity, duplicates, account, long, short, day) => {
  const due = dueOf(opportunity, NOW, duplicates);
  expect(due).toMatchObject(account);
  expect([dueInWords(due, NOW), dueInShort(due, NOW), dueOnDay(due)]).toEqual([long, short, day]);
});

describe("NIH's standard due dates", () => {
  test("were compared with NIH's page less than two years ago", () => {
    expect(new Date().getUTCFullYear() - NIH_DUE_DATES.checked, `compare the table with ${NIH_DUE_DATES.page}`).toBeLessThan(2);
  });

  test.each([
    ["Parent K99/R00 Independent Clinical Trial Required", null],
    ["R21 Clinical Trial Optional", "2027-02-16T23:59:59-05:00"],
    ["R15 Clinical Trial Required", "2027-02-25T23:59:59-05:00"],
    ["U44-Clinical Trial Required", "2027-01-05T23:59:59-05:00"],
    ["Parent F31", "2026-12-08T23:59:59-05:00"],
    ["T32", "2027-01-25T23:59:59-05:00"],
    ["R13 Clinical Trial Not Allowed", "2026-12-14T23:59:59-05:00"], // December 12 is a Saturday.
    ["R61/R33 Clinical Trial Required", null],
    ["R21/R33 Clinical Trial Optional", "2027-02-16T23:59:59-05:00"],
    ["R01 or R21", null],
    ["UG3/UH3", null],
  ])("for (%s) come next on %p", (codes, next) => {
    expect(standardOf(`A program (${codes})`)).toBe(next);
  });

  test("hold only for numbers that may rely on them, and for texts without dates of their own", () => {
    const title = "A program (R01 Clinical Trial Optional)";
    expect(standardOf(title, { program: { solicitation_id: "RFA-CA-26-001" } })).toBeNull();
    expect(standardOf(title, { description: "Applications are due on March 3." })).toBeNull();
    expect(standardOf(title, { description: "Applications are welcome." })).toBe("2027-02-05T23:59:59-05:00");
    expect(dueOf(record({ ...parent, title }), NOW, []).kind).toBe("due");
    expect(standardOf(title, { dates: { closes_at: "2027-01-08T23:59:59-05:00" } })).toBeNull();
  });
});
