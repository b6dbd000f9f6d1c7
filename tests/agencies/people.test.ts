/** Agencies as people name them, each with its records among all that the sources published. */
import { describe, expect, test } from "bun:test";
import { codesOfOffice } from "../../src/agencies/offices.ts";
import { resolveAgency } from "../../src/agencies/resolve.ts";
import { agencyByCode, isWithin } from "../../src/agencies/table.ts";
import { agencyMeantBy, codesMeant } from "../../src/agencies/understand.ts";
import { readText } from "../support/project-files.ts";

const [, ...published] = readText("tests/data/agencies/published.tsv")
  .trimEnd()
  .split("\n")
  .map((line) => {
    const [records, codes = "", agency = "", sub_agency = "", issuing_office = "", number = ""] = line.split("\t");
    const said = { agency: agency || null, sub_agency: sub_agency || null, issuing_office: issuing_office || null };
    const code = resolveAgency({ codes: codes === "" ? [] : codes.split("|"), ...said, numbers: [number] });
    return { line, records: Number(records), code };
  });

const countOf = (codes: readonly string[]) =>
  published.reduce((sum, { code, records }) => sum + (code !== null && codes.some((each) => isWithin(code, each)) ? records : 0), 0);
const countOfLines = (raw: RegExp) => published.reduce((sum, { line, records }) => sum + (raw.test(line) ? records : 0), 0);

/** Texts that mean an agency, and what the lines of its records have. */
const withRecords: [string, RegExp, string[]][] = [
  [
    "HHS",
    /\t(75|HHS|NIH)|\tHEALTH AND HUMAN|\tDepartment of Health|\tNational Institutes? of Health|\tFood and Drug|\tAdministration for C|\tCenters for D|\tHealth Res|\tIndian H|Assistant Secretary for [HP]/,
    ["HHS", "Health and Human Services", "Dept. of Health & Human Services", "US DHHS"],
  ],
  [
    "DOS",
    /\t(19|DOS)|\tSTATE, DEP|\tU\.S\. Mission|\tDepartment of State|\tAfrica Reg|\tBureau of (Dem|Econ|Glob|Intern.* Narc|Near|Oceans)|Trafficking/,
    ["State Department", "State Dept", "State", "Dept of State", "USDOS"],
  ],
  [
    "ED",
    /\tED\b|\tEDUCATION, DEP|\tDepartment of Education|Secondary Education/,
    ["Education Department", "Dept of Ed", "Dept. of Education", "US Education Department", "ED"],
  ],
  [
    "DOE",
    /\t(89|DOE|PAMS)|\tENERGY, DEP|Department of Energy|Agency Energy/,
    ["Energy", "DOE", "Energy Department", "USDOE", "Department of Energy (DOE)"],
  ],
  [
    "DOD",
    /\t(97|57|21|17|DOD|DOW)|\tDEPT OF DEF|Department of Defense|\tDefense |\tDept. of the Army|\tNaval |\tU\.S\. Navy|\tOffice of Naval|\tNational Security Inn/,
    ["Department of War", "War Department", "DoW", "DoD", "Department of Defense", "Defense", "Pentagon", "the Pentagon"],
  ],
  [
    "DOD.ARMY.USACE",
    /ENDIST|ENGINEER DISTRICT|ENGR R & D|COLD RGNS|HECSA|DOD-COE|Army Corps/,
    ["USACE", "Army Corps of Engineers", "Corps of Engineers", "the Army Corps"],
  ],
  ["DOD.NAVY.NAVFAC", /\tNAVFAC|DOD-ONR-FAC/, ["NAVFAC", "Naval Facilities Engineering Command"]],
  [
    "DOD.NAVY.NAVSEA",
    /NAVSEA|NSWC|NUWC|NAVAL SHIPYARD|SURFACE WARFARE|UNDERSEA WARFARE|REG(IONAL)? MAINT|SUP OF SHIP|DOD-ONR-SEA|Naval Surface/,
    ["NAVSEA", "Naval Sea Systems Command"],
  ],
  ["DOD.NAVY.NAVSEA.NSWC", /NSWC|SURFACE WARFARE|Naval Surface/, ["NSWC", "Naval Surface Warfare Center", "Navy NSWC"]],
  ["DOD.NAVY.NAVSEA.NUWC", /NUWC|UNDERSEA WARFARE/, ["NUWC", "Naval Undersea Warfare Center"]],
  ["DOD.NAVY.NAVSEA.NSWC.CRANE", /NSWC CRANE/, ["NSWC Crane"]],
  ["DOD.ARMY.AMC.ACC.MICC", /MICC|MISSION INSTALLATION/, ["MICC"]],
  ["DOD.USAF.AFMC.AFLCMC", /AFLCMC|ALCMC|LIFE CYCLE/, ["AFLCMC"]],
  ["DOD.USAF.AFMC.AFSC", /AFSC/, ["AFSC", "Air Force Sustainment Center"]],
  ["DOD.ARMY.NGB", /USPFO|NG READINESS/, ["National Guard", "NGB", "National Guard Bureau"]],
  ["DOD.ARMY.NGB.ARNG", /USPFO.* ARNG/, ["Army National Guard", "ARNG"]],
  ["DOD.ARMY.NGB.ANG", /USPFO.*[A-Z]{2}ANG/, ["Air National Guard", "ANG"]],
  ["DOD.NAVY.USMC", /DEPT OF THE NAVY.*\tM\d{5}\S*$/, ["Marines", "Marine Corps", "USMC", "US Marines"]],
  ["DOE.NREL", /ALLIANCE SUSTAINABLE/, ["NREL", "National Renewable Energy Lab"]],
  ["DOE.EERE", /DOE-GFO|Golden Field/, ["EERE", "DOE EERE"]],
  ["DOI.NPS", /\t1443\b|DOI-NPS|\tNational Park|NATIONAL PARK SERVICE/, ["Park Service", "NPS"]],
  ["HHS.NIH.ARPAH", /ARPA-H/, ["ARPA-H"]],
  ["HHS.CDC.NIOSH", /RFA-OH/, ["NIOSH", "CDC/NIOSH"]],
  ["NASA.GSFC", /GODDARD/, ["NASA Goddard", "GSFC", "Goddard Space Flight Center"]],
  ["VA", /\t(36|VA)|VETERANS AFFAIRS, DEP|\tVeterans Legacy/, ["VA", "Veterans Affairs", "Veterans Administration"]],
  ["VA.NCA", /NATIONAL CEMETERY|Veterans Legacy/, ["National Cemetery Administration"]],
];

test.each(withRecords)("%s has the records whose published codes and names say so", (code, raw, asked) => {
  expect(asked.map(codesMeant)).toEqual(asked.map(() => [code]));
  expect([code, countOf([code])]).toEqual([code, countOfLines(raw)]);
});

test.each([
  ["DHS.CISA", ["CISA", "DHS CISA"]],
  ["ODNI.IARPA", ["IARPA"]],
  ["DOD.ARMY.DEVCOM.ARL.ARO", ["ARO", "Army Research Office"]],
  ["DOD.ARMY.DEVCOM.ARL", ["ARL", "Army Research Lab", "U.S. Army Research Laboratory"]],
  ["DOC.NOAA.NMFS", ["NMFS", "NOAA Fisheries"]],
  ["DOD.ARMY.USAMRAA.CDMRP", ["CDMRP"]],
  ["DOE.ORISE", ["ORISE"]],
  ["DOD.USAF.USSF.SPACEWERX", ["SpaceWERX", "spacewerx"]],
  ["DOD.DIU", ["DIU"]],
  ["USAID", ["USAID", "U.S.A.I.D."]],
])("%s has no records, and is no other agency", (code, asked) => {
  expect(asked.map(codesMeant)).toEqual(asked.map(() => [code]));
  expect(countOf([code])).toBe(0);
});

test.each([
  ["HHS.NIH", ["HHS/NIH", "the NIH", "N.I.H.", "NIH (National Institutes of Health)", "HHS - National Institutes of Health"]],
  ["USDA", ["U.S.D.A.", "Agriculture", "Agriculture Department", "Dept of Ag"]],
  ["USDA.NIFA", ["USDA NIFA", "USDA-NIFA"]],
  ["DOE.SC", ["DOE Office of Science"]],
  ["EPA", ["US EPA", "USEPA", "U.S. EPA"]],
  ["DOT", ["USDOT", "Transportation Department"]],
  ["DHS", ["Homeland Security"]],
  ["HUD", ["Housing and Urban Development", "HUD Department"]],
  ["DOL", ["Labor Department", "Dept. of Labor"]],
  ["DOD.NAVY", ["Navy", "Navy Department", "Dept of the Navy"]],
  ["SSA", ["Social Security", "SSA"]],
  ["NARA", ["National Archives"]],
  ["DOJ.BOP", ["Federal Bureau of Prisons", "BOP"]],
  ["DHS.CBP.USBP", ["Border Patrol", "US Border Patrol"]],
  ["TREAS.2066", ["CDFI", "CDFI Fund"]],
  ["EXIM", ["EXIM", "Ex-Im Bank"]],
  ["DOD.USTRANSCOM", ["TRANSCOM", "USTRANSCOM"]],
  ["DOD.97BJ", ["JCS", "Joint Staff"]],
  ["HUD.FHA", ["FHA"]],
  ["DOI.OSMRE", ["OSM", "OSMRE"]],
  ["NASA.LARC", ["NASA Langley"]],
  ["DOE.LLNL", ["Lawrence Livermore"]],
])("%s is meant by %j, too", (code, asked) => {
  expect(asked.map(codesMeant)).toEqual(asked.map(() => [code]));
});

describe("a text that is no agency of the table", () => {
  test("is none", () => {
    const asked = ["solar energy", "research", "NIH sensors", "HHS, NIH", "army research", "health", "department", "", "US"];
    expect(asked.map(codesMeant)).toEqual(asked.map(() => []));
  });

  test("with a number is not taken for an agency with another one", () => {
    expect(agencyMeantBy("FEMA Region 4")).toBeUndefined();
  });

  test("in capitals is not taken for an agency that lacks one letter of it or has another one", () => {
    expect(["CIZA", "IARPB", "ARPAX", "DISB", "NFSA", "NOA", "WNIH"].map(agencyMeantBy)).toEqual(Array(7).fill(undefined));
  });
});

test("each pattern of an office has an example that it matches, and an agency of the table", () => {
  const rows = readText("src/agencies/offices.tsv")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const wrong = rows.filter((row) => {
    const [, code = "", office = ""] = row.split("\t");
    return agencyByCode(code) === undefined || !codesOfOffice(office).includes(code);
  });
  expect(wrong).toEqual([]);
});
