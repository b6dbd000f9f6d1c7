import { expect, test } from "bun:test";
import { type PublishedAgency, resolveAgency } from "../../src/agencies/resolve.ts";

const resolved = (given: Partial<PublishedAgency>) =>
  resolveAgency({ codes: [], agency: null, sub_agency: null, issuing_office: null, ...given });

test.each<[string | null, Partial<PublishedAgency>]>([
  // By codes of upstreams.
  ["DOE.EERE.GFO", { codes: ["DOE-GFO"], agency: "Golden Field Office" }],
  ["HHS.CDC", { codes: ["HHS-CDC-NEW"], agency: "A new center" }],
  ["HHS.NIH", { codes: ["7529"], agency: "HEALTH AND HUMAN SERVICES, DEPARTMENT OF", sub_agency: "NATIONAL INSTITUTES OF HEALTH" }],
  ["HHS.NIH", { codes: ["7529", "7500"] }],
  ["PC", { codes: ["011", "1145"], agency: "PEACE CORPS", sub_agency: "PEACE CORPS" }],
  ["DOE.SC", { codes: ["PAMS-SC"], agency: "Department of Energy - Office of Science", sub_agency: "Office of Science" }],
  // A code holds against a name, and an office narrows it.
  ["HHS", { codes: ["HHS"], agency: "Environmental Protection Agency" }],
  ["HHS.NIH.NIAID", { codes: ["7529"], issuing_office: "NATIONAL INSTITUTES OF HEALTH NIAID" }],
  ["DOD.USAF.USSF.SSC", { agency: "Department of Defense", sub_agency: "USAF", issuing_office: "SSC-SLD45" }],
  [
    "DOD.ARMY.USACE.NWK",
    { codes: ["2100"], agency: "DEPT OF DEFENSE", sub_agency: "DEPT OF THE ARMY", issuing_office: "W071 ENDIST KANSAS CITY" },
  ],
  // Words of an office are whole: DOE.EM is not a part of "system".
  ["DOE", { codes: ["8900"], issuing_office: "SYSTEM OFFICE" }],
  // Words of an office count only within the agency that was named before.
  ["DHS.USCG", { codes: ["7008"], agency: "HOMELAND SECURITY, DEPARTMENT OF", issuing_office: "ENDIST AFRL" }],
  ["DOD.NAVY.USMC", { codes: ["1700"], issuing_office: "COMMANDING GENERAL", numbers: ["M6785426R0001"] }],
  ["DOD.ARMY", { codes: ["2100"], numbers: ["M6785426R0001"] }],
  // By names.
  ["DOD.NAVY", { agency: "DEPT OF DEFENSE", sub_agency: "DEPT OF THE NAVY", issuing_office: "COMMANDING OFFICER" }],
  ["DOD.ARMY", { agency: "Department of Defense", sub_agency: "ARMY" }],
  ["DOD.USAF", { agency: "Department of Defense", sub_agency: "USAF" }],
  ["DHS.FEMA", { agency: "Department of Homeland Security - FEMA" }],
  ["DOD.USAF.AFMC.AFRL", { agency: "Air Force -- Research Lab" }],
  ["DOT.FMCSA", { agency: "DOT/Federal Motor Carrier Safety Administration" }],
  ["HHS.CDC", { agency: "Centers for Disease Control-GHC" }],
  ["USAID", { agency: "Egypt USAID-Cairo" }],
  ["DOC.NTIA", { agency: "National Telecommunications and Information Admini" }],
  [
    "HHS.NIH.NIDA",
    { agency: "Department of Health and Human Services", sub_agency: "National Institutes of Health, National Institute on Drug Abuse" },
  ],
  ["EPA", { agency: "Environmental Protection Agency – Region 7" }],
  ["DOS", { agency: "U.S. Mission to Chad" }],
  // A name that contradicts the one before: SBIR.gov once had USAF as a branch of HHS.
  ["HHS", { agency: "Department of Health and Human Services", sub_agency: "USAF" }],
  // Names that several agencies have, or none.
  ["HUD.OIG", { agency: "Department of Housing and Urban Development", sub_agency: "Office of Inspector General" }],
  [null, { agency: "Office of the Secretary" }],
  [null, { agency: "Region 4" }],
  [null, { agency: "IV&V Test Agency" }],
  [null, { agency: "State of New York" }],
  [null, {}],
])("%s of %j", (code, given) => {
  expect(resolved(given)).toBe(code);
});

test("the letters of a number name an institute of NIH, and of NIH only", () => {
  const nih = { codes: ["HHS-NIH11"], agency: "National Institutes of Health" };
  expect(resolved({ ...nih, numbers: ["RFA-CA-26-001", "362478"] })).toBe("HHS.NIH.NCI");
  expect(resolved({ ...nih, numbers: ["PAR-25-270"] })).toBe("HHS.NIH");
  expect(resolved({ ...nih, numbers: ["RFA-ZZ-26-001"] })).toBe("HHS.NIH");
  expect(resolved({ codes: ["HHS-AHRQ"], numbers: ["RFA-CA-26-001"] })).toBe("HHS.AHRQ");
  expect(resolved({ agency: "Department of Health and Human Services", numbers: ["RFA-HL-26-014"] })).toBe("HHS.NIH.NHLBI");
});
