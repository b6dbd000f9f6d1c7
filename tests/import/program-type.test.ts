import { expect, test } from "bun:test";
import { type ProgramFacts, programRules, programType } from "../../src/import/program-type.ts";
import type { ProgramType } from "../../src/opportunities/opportunity.ts";

/** For each rule, in the order of the table, what it is there for. */
const examples: [ProgramFacts, ProgramType][] = [
  [{ program: "STTR", title: "Quantum sensing" }, "STTR"],
  [{ program: "BOTH", title: "Quantum sensing" }, "SBIR"],
  [{ title: "NIH Omnibus", number: "PA-24-245-SBIR" }, "SBIR"],
  [{ title: "PHS 2024-2 STTR Grant Applications" }, "STTR"],
  [{ title: "Office-wide Broad Agency Announcement for Basic Research", instruments: ["G"] }, "BAA"],
  [{ title: "DIU Commercial Solutions Opening", noticeType: "Combined Synopsis/Solicitation" }, "CSO"],
  [{ title: "Other Transaction Agreement for Ground Vehicles", noticeType: "Solicitation" }, "OTA"],
  [{ title: "OT Prototype Project: autonomy", noticeType: "Special Notice" }, "OTA"],
  [{ title: "Cooperative Research and Development Agreement", noticeType: "Special Notice" }, "CRADA"],
  [{ title: "Water Prize Competition", instruments: ["O"] }, "PRIZE"],
  [{ title: "Industry Day for Radar Modernization", noticeType: "Special Notice" }, "INDUSTRY_EVENT"],
  [{ title: "Medical gloves", noticeType: "Sources Sought" }, "RFI"],
  [{ title: "Request for Information: batteries", noticeType: "Special Notice" }, "RFI"],
  [{ title: "Roof repair", noticeType: "Combined Synopsis/Solicitation" }, "RFP"],
  [{ title: "Roof repair", noticeType: "Award Notice" }, "CONTRACT"],
  [{ title: "Rural health", instruments: ["O", "CA"] }, "GRANT"],
  [{ title: "Rural health", instruments: ["PC"] }, "CONTRACT"],
];

test("each rule has an example to which no earlier rule applies", () => {
  expect(examples.map(([facts]) => programRules.findIndex((rule) => programType(facts) === rule.type && applies(rule, facts)))).toEqual(
    programRules.map((_, index) => index),
  );
});

test.each(examples)("programType(%j) is %s", (facts, type) => {
  expect(programType(facts)).toBe(type);
});

test.each([
  [{ title: "Scrap metal", noticeType: "Sale of Surplus Property" }, "OTHER"],
  [{ title: "Notice of intent", noticeType: "Special Notice" }, "OTHER"],
  [{ title: "Rural health", instruments: ["O"] }, "OTHER"],
  [{ title: "Rural health", instruments: ["O", "PC"] }, "OTHER"],
  [{}, "OTHER"],
  [{ title: "SBIR/STTR Phase I" }, "SBIR"],
  [{ title: "Small Business Innovation Research" }, "SBIR"],
  [{ title: "Site Visit for Roof repair", noticeType: "Solicitation" }, "RFP"],
  [{ title: "OT evaluation services", noticeType: "Solicitation" }, "RFP"],
  [{ title: "Justification", noticeType: "Justification and Approval (J&A)" }, "CONTRACT"],
  [{ title: "Rural health", noticeType: "Consolidate/(Substantially) Bundle" }, "CONTRACT"],
  [{ title: "SUDAN CIVIL SOCIETY ORGANIZATION (CSO) SUPPORT PROGRAM", instruments: ["CA"] }, "GRANT"],
  [{ title: "PACSOMETHING, BAAL and CSOX", instruments: ["G"] }, "GRANT"],
] satisfies [ProgramFacts, ProgramType][])("programType(%j) is %s", (facts, type) => {
  expect(programType(facts)).toBe(type);
});

function applies(
  rule: (typeof programRules)[number],
  { program = "", title = "", number = "", noticeType = "", instruments = [] }: ProgramFacts,
) {
  const texts = { program, title, named: `${title}\n${number}`, noticeType, instruments: instruments.join(" ") };
  return Object.entries(texts).every(([part, text]) => rule[part as keyof typeof texts]?.test(text ?? "") ?? true);
}
