import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { challengeGov } from "../../../src/import/formats/challenge-gov.ts";
import { readFormat, realInput, textInput } from "../../support/read-format.ts";
import { EXCERPTS } from "../../support/real-data.ts";

const files = readdirSync(join(EXCERPTS, "challenge-gov")).map((name) => `challenge-gov/${name}`);
const list = (...challenges: unknown[]) => textInput(JSON.stringify(challenges), "challenges.json");

describe("real files", () => {
  test("66 versions of the list: 1,771 rows of 89 challenges, none refused", async () => {
    const { drafts, kept, refused } = await readFormat(challengeGov, await Promise.all(files.map((name) => realInput(name))));

    expect(refused).toEqual([]);
    expect([files.length, drafts.length, kept.size]).toEqual([66, 1771, 89]);
  });

  test("a challenge", async () => {
    const { drafts } = await readFormat(challengeGov, [await realInput("challenge-gov/challenges-20210106T154854Z.json")]);

    expect(drafts[1]).toEqual({
      source: {
        code: "CHALLENGE_GOV",
        opportunity_id: "https://www.challenge.gov/challenge/hhs-hypertension-innovator-award-competition/",
        url: "https://www.challenge.gov/challenge/hhs-hypertension-innovator-award-competition/",
      },
      title: "HHS Hypertension Innovator Award Competition",
      summary: "Innovative methods of blood pressure monitoring and follow-up in women during pregnancy and/or postpartum",
      organization: {
        agency: "Department of Health and Human Services",
        sub_agency: "Office of the Assistant Secretary for Health (OASH), Office on Women's Health (OWH)",
      },
      program: { type: "PRIZE" },
      dates: { closes_at: "2021-01-06T23:59:00-05:00" },
    });
  });
});

test.each([
  ["NASA", "NASA", null],
  ["Department of the Interior - Bureau of Reclamation", "Department of the Interior", "Bureau of Reclamation"],
  ["Environmental Protection Agency – Region 7", "Environmental Protection Agency", "Region 7"],
  [
    "U.S. Department of Defense, National Security Innovation Network",
    "U.S. Department of Defense",
    "National Security Innovation Network",
  ],
  ["Office of Management and Budget (OMB), Office of X", "Office of Management and Budget (OMB), Office of X", null],
  ["Department of Health &amp; Human Services - Office-wide", "Department of Health & Human Services", "Office-wide"],
  ["", null, null],
])("the agency %p is %p and %p", async (agency, first, second) => {
  const { drafts } = await readFormat(challengeGov, [list({ name: "x", agency, details_url: "https://x.gov/" })]);
  expect(drafts[0]?.organization).toEqual({ agency: first, sub_agency: second });
});

test("a challenge that cannot be imported is rejected alone, and counts as present if its address can be read", async () => {
  const { items, drafts } = await readFormat(challengeGov, [
    list({ name: "x" }, { name: "y", details_url: "https://y.gov/", deadline: "2021-01-06" }, 7, { details_url: "https://z.gov/" }),
  ]);
  expect(items.map((item) => [item.line, item.kind === "rejected" ? [item.reason, item.lineage] : "record"])).toEqual([
    [1, ["details_url must not be blank", undefined]],
    [2, ['deadline must be a timestamp with an offset, not "2021-01-06"', "https://y.gov/"]],
    [3, ["the element is not an object", undefined]],
    [4, "record"],
  ]);
  expect(drafts.map(({ title }) => title)).toEqual(["Untitled"]);
});

test.each([
  ["{}", "it is not a JSON array"],
  ["", "it is not JSON"],
  ["<html>maintenance</html>", "it is not JSON"],
  ['[{"name":"x"}', "it ends in the middle, after 0 elements"],
])("refuses %p as a whole: %s", async (text, fault) => {
  await expect(readFormat(challengeGov, [textInput(text, "c.json")])).rejects.toThrow(`Cannot import c.json: ${fault}`);
});
