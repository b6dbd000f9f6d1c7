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
  ["DOD.ARMY.USACE.NWK", /ENDIST KANSAS/, ["Kansas City District", "USACE Kansas City District", "Army Corps Kansas City"]],
  ["DOD.ARMY.USACE.SAM", /ENDIST MOBILE/, ["Mobile District", "Corps of Engineers Mobile District", "USACE Mobile"]],
  ["DOD.ARMY.USACE.SWT", /ENDIST TULSA/, ["USACE Tulsa", "Tulsa District"]],
  ["DOD.ARMY.USACE.MVS", /ENDIST ST LOUIS/, ["USACE St. Louis", "St Louis District"]],
  ["DOD.ARMY.USACE.SAJ", /ENDIST JACKSNVLLE/, ["Jacksonville District"]],
  ["DOD.ARMY.USACE.NWW", /WALLA WAL/, ["Walla Walla District"]],
  ["DOD.ARMY.USACE.FW", /ENDIST FT WORTH|DOD-COE-FW/, ["Fort Worth District"]],
  ["DOD.ARMY.AMC.ACC.APG.NATICK", /NATICK/i, ["Natick", "Army Natick", "ACC-APG Natick"]],
  ["DOD.ARMY.AMC.ACC.APG", /ACC[- ]APG/, ["ACC-APG", "APG", "Aberdeen Proving Ground"]],
  ["DOD.ARMY.AMC.ACC.PICA", /ACC-PICA/, ["Picatinny", "Picatinny Arsenal"]],
  ["DOD.ARMY.AMC.ACC.RSA", /ACC-RSA/, ["Redstone Arsenal", "ACC Redstone"]],
  ["DOD.DLA.AVIATION", /DLA AVIATION/, ["DLA Aviation", "Defense Logistics Agency Aviation"]],
  ["DOD.DLA.TROOP", /DLA TROOP/, ["DLA Troop Support"]],
  ["DOD.DLA.LAND", /DLA (LAND|MARITIME)/, ["DLA Land and Maritime", "DLA Land & Maritime"]],
  ["DOD.DLA.ENERGY", /DLA ENERGY/, ["DLA Energy"]],
  ["DOD.NAVY.NAVFAC.MIDLANT", /NAVFAC.* MID-ATL/, ["NAVFAC Mid-Atlantic"]],
  ["DOD.NAVY.NAVSUP.FLCNORFOLK", /FLT LOG CTR NORFOLK/, ["FLC Norfolk", "NAVSUP FLC Norfolk"]],
  ["DOD.NAVY.NAVSUP.WSS", /WEAPON SYSTEMS SUPPORT/, ["NAVSUP WSS"]],
  ["DOD.NAVY.NAVWAR.NIWC.PAC", /NIWC PACIFIC/, ["NIWC Pacific"]],
  ["DOD.USAF.AFMC.AFRL.RI", /AFRL-RI/, ["AFRL/RI", "AFRL-RI", "Rome Lab"]],
  ["VA.VHA.VISN10", /OFFICE 10 /, ["VISN 10", "NCO 10", "Network Contracting Office 10"]],
  ["VA.VHA.VISN1", /OFFICE 01 /, ["VISN 1", "VISN 01"]],
  ["NASA.MSFC", /MARSHALL/, ["NASA Marshall", "Marshall Space Flight Center"]],
  ["HHS.CMS", /HHS-CMS|7530|MEDICARE|Medicare/, ["Medicare", "Medicaid", "CMS"]],
  ["DOJ.COPS", /COPS|Community Oriented/, ["COPS Office", "COPS"]],
  ["DOD.DECA", /97AZ|COMMISSARY/, ["Commissary", "DeCA"]],
  ["DHS", /\t(70|DHS)|HOMELAND|Homeland/, ["Homeland", "DHS"]],
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
  ["DOE.ANL", ["Argonne", "Argonne Lab", "Argonne National Lab"]],
  ["DOE.BNL", ["Brookhaven"]],
  ["DOE.SNL", ["Sandia Labs", "Sandia National Labs"]],
  ["DOE.INL", ["Idaho National Lab"]],
  ["DOE.AMES", ["Ames Lab"]],
  ["DOE.TJNAF", ["Jefferson Lab", "JLab"]],
  ["NASA.JPL", ["Jet Propulsion Lab"]],
  ["NASA.GSFC.WFF", ["Wallops", "NASA Wallops"]],
  ["HHS.NIH.FIC", ["Fogarty"]],
  ["HHS.OMH", ["Office of Minority Health"]],
  ["DOD.ARMY.AMC.CECOM", ["CECOM"]],
  ["DOD.ARMY.USAMRDC.USAMRIID", ["USAMRIID"]],
  ["DOD.ARMY.PEOSTRI", ["PEO STRI"]],
  ["DOD.NAVY.ONR.GLOBAL", ["ONR Global"]],
  ["DOD.ARMY.USACE.MVK", ["Vicksburg District"]],
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
  ["DOE.ORNL", ["Oak Ridge", "Oak Ridge National Lab"]],
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

  test("is not taken for an agency of which it is another name before one whose name it is", () => {
    expect(agencyMeantBy("Bureau of Indian Educ")).toBe("BIE (Bureau of Indian Education)");
    expect(agencyMeantBy("Indian Education")).not.toContain("Indian Affairs");
  });

  test("in capitals is not taken for an agency that lacks one letter of it or has another one", () => {
    expect(["CIZA", "IARPB", "ARPAX", "DISB", "NFSA", "NOA", "WNIH"].map(agencyMeantBy)).toEqual(Array(7).fill(undefined));
  });
});

test("an abbreviation of two agencies of one level means both", () => {
  expect([codesMeant("NCA"), codesMeant("Congress")]).toEqual([
    ["NEA.NCA", "VA.NCA"],
    ["HOUSE", "SENATE"],
  ]);
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
