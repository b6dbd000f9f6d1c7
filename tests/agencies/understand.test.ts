import { expect, test } from "bun:test";
import { agencyByCode } from "../../src/agencies/table.ts";
import { agencyInShort, agencyInWords, agencyMeantBy, codesMeant, shortNameOf, valuesIn } from "../../src/agencies/understand.ts";

test.each([
  ["HHS.NIH", ["NIH", "nih", "National Institutes of Health", "HHS-NIH11", "hhs-nih11", "7529", "HHS.NIH", " NIH "]],
  ["DOE", ["DOE", "ENERGY, DEPARTMENT OF", "department of energy", "U.S. Dept. of Energy", "8900", "089"]],
  ["DOD.ARMY", ["Army", "U.S. ARMY", "Dept of the Army", "2100"]],
  ["NEA", ["NEA", "National Endowment for the Arts"]],
  ["USDA.FSA", ["FSA"]],
  ["DOD", ["DOD", "DoW", "Department of War"]],
])("%s is what people mean by %j", (code, texts) => {
  expect(texts.map(codesMeant)).toEqual(texts.map(() => [code]));
});

test("a text that is no whole name means no agency, and an abbreviation of several means all of them", () => {
  expect(["solar", "institutes of health", "EP", "NHI", ""].map(codesMeant)).toEqual([[], [], [], [], []]);
  expect(codesMeant("OIG").length).toBeGreaterThan(10);
});

test("an agency is said with its abbreviation and its parts", () => {
  expect(["HHS.NIH", "HHS", "DOD.NAVY", "EPA", "USAID"].map(agencyInWords)).toEqual([
    "National Institutes of Health (NIH) and its institutes",
    "Department of Health and Human Services (HHS) and its agencies",
    "Department of the Navy (USN) and its offices",
    "Environmental Protection Agency (EPA) and its offices",
    "Agency for International Development (USAID)",
  ]);
});

test("a short name means its agency and no other", () => {
  const short = ["HHS.NIH", "DOD.ARMY", "HUD.OIG"].map((code) =>
    shortNameOf(agencyByCode(code) ?? { code, name: "", abbreviations: [], forms: [] }),
  );
  expect(short).toEqual(["NIH", "DOD.ARMY", "HUD.OIG"]);
});

test.each([
  ["NHI", "NIH (National Institutes of Health)"],
  ["NFS", "NSF (National Science Foundation)"],
  ["DRAPA", "DARPA (Defense Advanced Research Projects Agency)"],
  ["Natonal Science Foundation", "NSF (National Science Foundation)"],
  ["NAASA", "NASA (National Aeronautics and Space Administration)"],
  ["Enrgy Department", undefined],
  ["Departmnt of Energy", "DOE (Department of Energy)"],
  ["CIZA", undefined],
  ["xyzzy", undefined],
])("by %s, people probably mean %s", (text, meant) => {
  expect(agencyMeantBy(text)).toBe(meant);
});

test.each([
  ["NIH,NSF", ["NIH", "NSF"]],
  ["ENERGY, DEPARTMENT OF", ["ENERGY, DEPARTMENT OF"]],
  ["NIH,Energy, Department of, navy", ["NIH", "Energy, Department of", "navy"]],
  ["Bureau of Democracy, Human Rights, and Labor,EPA", ["Bureau of Democracy, Human Rights, and Labor", "EPA"]],
  ["marine, coastal", ["marine", "coastal"]],
  ["NIH,,NSF", ["NIH", "", "NSF"]],
])("%s are the values %j", (list, values) => {
  expect(valuesIn(list)).toEqual(values);
});

test("the short name of an agency is its own, else that of the smallest one above it", () => {
  expect(["HHS.NIH.NCI", "DOD.ARMY", "DOD.ARMY.USACE.AK", "DOD.NAVY", "EPA", "DOD.ARMY.21MA"].map(agencyInShort)).toEqual([
    "NCI",
    "Army",
    "USACE",
    "Navy",
    "EPA",
    "Army",
  ]);
  expect([agencyInShort(null), agencyInShort("SENATE")]).toEqual([undefined, undefined]);
});
