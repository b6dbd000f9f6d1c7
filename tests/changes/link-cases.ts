/** The table of link rules, row by row: what each links, and what it leaves alone. */
import type { IndexedFields } from "../../src/changes/content.ts";

type Fields = { url?: string; agency?: string; number?: string; kind?: string; posted?: string; ids?: string[] };
/** A record with all its upstream ids. */
export type Given = IndexedFields & { ids: string[] };

/** A record with hardly any fields. */
export function of(
  code: string,
  opportunity_id: string,
  title: string,
  { url, agency, number, kind, posted, ids = [] }: Fields = {},
): Given {
  return {
    source: { code, opportunity_id, url: url ?? null },
    title,
    status: "open",
    status_display: null,
    organization: { agency: agency ?? null, sub_agency: null, issuing_office: null },
    program: { type: null, solicitation_id: number ?? null, contract_class: kind ?? null },
    dates: { posted_at: posted ?? null, opens_at: null, closes_at: null, response_at: null },
    relationships: { parent_id: null, canonical_id: null },
    due_dates: [],
    agency_codes: [],
    ids: [opportunity_id, ...ids],
  };
}

const GUID = "33D1A64A-1F60-46F3-9C5C-1AF6B2CCA7B7";
const NOTICE = "0123456789abcdef0123456789abcdef";
const announcement = (code: string, id: string, fields: Fields = {}) =>
  of(code, id, "Long Range BAA", { number: "N00014-25-S-B001", ...fields });
const award = (id: string, fields: Fields = {}) => announcement("SAM_GOV", id, { kind: "Award Notice", ...fields });
const element = (code: string, id: string, title = "A.13 Accelerating Earth Solutions", number = "NNH25ZDA001N-AES") =>
  of(code, id, title, { number });
const core = (id: string, title: string, fields: Fields = {}) => of("NSF", id, title, { number: "nsf24546", ...fields });

/** What is linked, among which records, and how: "NSF 5 is GRANTS_GOV 7", "NSF 5 is part of GRANTS_GOV 7". */
export const linked: [what: string, records: Given[], links: string[]][] = [
  [
    "Simpler's record by the UUID, before any number",
    [
      of("SIMPLER_GRANTS_GOV", "uuid", "A", { number: "PAR-25-1" }),
      of("GRANTS_GOV", "1", "A", { number: "PAR-25-2", ids: ["uuid"] }),
      of("GRANTS_GOV", "2", "A", { number: "PAR-25-1" }),
    ],
    ["SIMPLER_GRANTS_GOV uuid is GRANTS_GOV 1"],
  ],
  [
    "a topic of the Department of Defense by its code, blanks and case aside",
    [of("SBIR_GOV", "a254 -049", "Radar", { agency: "Department of Defense" }), of("DSIP", "A254-049", "Radar")],
    ["SBIR_GOV a254 -049 is DSIP A254-049"],
  ],
  [
    "DARPA's by the notice in its address, of any version",
    [
      of("DARPA", "1", "A", { url: `https://sam.gov/opp/${NOTICE}/view` }),
      of("DARPA", "2", "A", { url: `https://sam.gov/workspace/contract/opp/${NOTICE.toUpperCase()}/view` }),
      of("SAM_GOV", "9", "B", { ids: [NOTICE] }),
    ],
    ["DARPA 1 is SAM_GOV 9", "DARPA 2 is SAM_GOV 9"],
  ],
  [
    "an element of ROSES by the GUID in its address",
    [
      of("NASA_ROSES", "1", "A", { url: `https://nspires.nasaprs.com/x?solId={${GUID}}&path=open` }),
      of("NASA_ROSES", "2", "B", { url: `https://nspires.nasaprs.com/x?solId=%7b${GUID.toLowerCase()}%7d` }),
      of("NASA_NSPIRES", GUID, "C"),
    ],
    [`NASA_ROSES 1 is NASA_NSPIRES ${GUID}`, `NASA_ROSES 2 is NASA_NSPIRES ${GUID}`],
  ],
  [
    "an element of ROSES by the number in its address",
    [
      of("NASA_ROSES", "1", "A", { url: "https://nspires.nasaprs.com/x?solNum=NNH25ZDA001N-ECI" }),
      of("NASA_ROSES", "2", "B", { url: "https://solicitation.nasaprs.com/nnh25zda001n-eci" }),
      of("NASA_NSPIRES", "X", "C", { number: "NNH25ZDA001N-ECI" }),
    ],
    ["NASA_ROSES 1 is NASA_NSPIRES X", "NASA_ROSES 2 is NASA_NSPIRES X"],
  ],
  [
    "an element of ROSES at NSPIRES, rather than in the table",
    [
      element("NASA_NSPIRES", "X"),
      element("NASA_ROSES", "ROSES-2025-A.13"),
      element("GRANTS_GOV", "1", "ROSES25: A.13 Accelerating Earth Solutions Program"),
      element("SIMPLER_GRANTS_GOV", "S", "ROSES 2025: A.13 Accelerating Earth Solutions (AES)"),
    ],
    ["GRANTS_GOV 1 is NASA_NSPIRES X", "NASA_ROSES ROSES-2025-A.13 is NASA_NSPIRES X", "SIMPLER_GRANTS_GOV S is NASA_NSPIRES X"],
  ],
  [
    "an element of ROSES in the table, if NSPIRES lacks it",
    [
      element("NASA_ROSES", "ROSES-2025-A.13"),
      element("GRANTS_GOV", "1", "ROSES25: A.13 Accelerating Earth Solutions Program"),
      element("SIMPLER_GRANTS_GOV", "S", "A.13 Accelerating Earth Solutions"),
    ],
    ["GRANTS_GOV 1 is NASA_ROSES ROSES-2025-A.13", "SIMPLER_GRANTS_GOV S is NASA_ROSES ROSES-2025-A.13"],
  ],
  [
    "a number and title: the newest of several",
    [
      of("SIMPLER_GRANTS_GOV", "S", "Legacy", { number: "HQ0034-23" }),
      of("SBIR_GOV", "hq0034 23", "Legacy"),
      of("GRANTS_GOV", "9", "LEGACY (LRMP)", { number: "HQ003423" }),
      of("GRANTS_GOV", "10", "Legacy!", { number: "HQ 003423" }),
      of("GRANTS_GOV", "HQ003423", "Legacy", { number: "HQ003423" }), // From before there were ids.
      of("GRANTS_GOV", "11", "Heritage", { number: "HQ003423" }),
    ],
    ["SBIR_GOV hq0034 23 is GRANTS_GOV 10", "SIMPLER_GRANTS_GOV S is GRANTS_GOV 10"],
  ],
  [
    "a number that one record has, whatever its title",
    [
      of("SIMPLER_GRANTS_GOV", "S", "Air", { number: "par 24 131" }),
      of("SBIR_GOV", "PAR-24-131", "Sea"),
      of("GRANTS_GOV", "1", "Land", { number: "PAR24131" }),
    ],
    ["SBIR_GOV PAR-24-131 is GRANTS_GOV 1", "SIMPLER_GRANTS_GOV S is GRANTS_GOV 1"],
  ],
  [
    "an announcement of SAM.gov by number and title: the newest that is no award",
    [
      announcement("SIMPLER_GRANTS_GOV", "S"),
      announcement("GRANTS_GOV", "1", { number: "N0001425SB001" }),
      announcement("SAM_GOV", "b", { posted: "2025-02-01T00:00:00-05:00" }),
      announcement("SAM_GOV", "a", { posted: "2025-02-02T00:00:00-05:00" }),
      announcement("SAM_GOV", "c", { posted: "2025-01-01T00:00:00-05:00" }),
      award("d", { posted: "2025-03-01T00:00:00-05:00" }),
    ],
    ["GRANTS_GOV 1 is SAM_GOV a", "SAM_GOV d is part of GRANTS_GOV 1", "SIMPLER_GRANTS_GOV S is GRANTS_GOV 1"],
  ],
  [
    "an announcement of SAM.gov that Grants.gov lacks",
    [announcement("SIMPLER_GRANTS_GOV", "S"), announcement("SAM_GOV", "a")],
    ["SIMPLER_GRANTS_GOV S is SAM_GOV a"],
  ],
  [
    "an award of SAM.gov as a part, of Grants.gov's newest",
    [announcement("GRANTS_GOV", "1"), announcement("GRANTS_GOV", "2"), award("a")],
    ["SAM_GOV a is part of GRANTS_GOV 2"],
  ],
  [
    "an award of SAM.gov as a part of Simpler's",
    [announcement("SIMPLER_GRANTS_GOV", "S"), award("a")],
    ["SAM_GOV a is part of SIMPLER_GRANTS_GOV S"],
  ],
  [
    "an award as a part of Grants.gov's rather than Simpler's",
    [announcement("SIMPLER_GRANTS_GOV", "S"), announcement("GRANTS_GOV", "1"), award("a")],
    ["SAM_GOV a is part of GRANTS_GOV 1", "SIMPLER_GRANTS_GOV S is GRANTS_GOV 1"],
  ],
  [
    "NSF's by number and title, or the number in its own address, else as a part",
    [
      of("GRANTS_GOV", "1", "Core Programs", { number: "24-546" }),
      core("10", "CORE PROGRAMS (IOS)"),
      core("11", "Biology", { url: "https://nsf.gov/x/nsf24-546" }),
      core("12", "Neural Systems", { url: "https://nsf.gov/x/pd11-7714" }),
    ],
    ["NSF 10 is GRANTS_GOV 1", "NSF 11 is GRANTS_GOV 1", "NSF 12 is part of GRANTS_GOV 1"],
  ],
  [
    "NSF's by number and title: the newest of several",
    [
      of("GRANTS_GOV", "1", "Core Programs", { number: "24-546" }),
      of("GRANTS_GOV", "2", "Core Programs", { number: "24-546" }),
      core("10", "Core Programs"),
    ],
    ["NSF 10 is GRANTS_GOV 2"],
  ],
  [
    "NSF's program descriptions",
    [of("GRANTS_GOV", "1", "Optics", { number: "PD-16-1266" }), of("NSF", "10", "Optics", { number: "pd161266" })],
    ["NSF 10 is GRANTS_GOV 1"],
  ],
];

export const unlinked: [what: string, records: Given[]][] = [
  [
    "a topic of another department under the same code",
    [of("SBIR_GOV", "A1", "R", { agency: "Department of Energy" }), of("DSIP", "A1", "R")],
  ],
  [
    "a topic under the number of its solicitation",
    [of("SBIR_GOV", "topics/1", "Quiet", { number: "PAR-24-131" }), of("GRANTS_GOV", "1", "Land", { number: "PAR-24-131" })],
  ],
  [
    "an address that only mentions a notice",
    [of("DARPA", "1", "A", { url: `https://darpa.mil/opp/${NOTICE}/view` }), of("SAM_GOV", NOTICE, "A")],
  ],
  ["an element of ROSES of another year", [element("NASA_NSPIRES", "X"), element("GRANTS_GOV", "1", undefined, "NNH24ZDA001N-AES")]],
  [
    "an element of ROSES with another code, or another title",
    [
      element("NASA_NSPIRES", "X"),
      element("GRANTS_GOV", "1", "A.14 Accelerating Earth Solutions"),
      element("GRANTS_GOV", "2", "A.13 Ice"),
      element("GRANTS_GOV", "3", "ROSES 2025"),
    ],
  ],
  [
    "elements of ROSES that two solicitations have",
    [element("NASA_NSPIRES", "X"), element("NASA_NSPIRES", "Y"), element("GRANTS_GOV", "1")],
  ],
  [
    "a number of two grants with other titles",
    [
      of("SIMPLER_GRANTS_GOV", "S", "Legacy", { number: "HQ003423" }),
      of("GRANTS_GOV", "1", "Air", { number: "HQ003423" }),
      of("GRANTS_GOV", "2", "Sea", { number: "HQ003423" }),
    ],
  ],
  ["a short number", [of("SIMPLER_GRANTS_GOV", "S", "A", { number: "BA-1" }), of("GRANTS_GOV", "1", "A", { number: "BA-1" })]],
  ["a word", [of("SIMPLER_GRANTS_GOV", "S", "A", { number: "Announcement" }), of("GRANTS_GOV", "1", "A", { number: "Announcement" })]],
  ["a number of SAM.gov with another title", [announcement("GRANTS_GOV", "1"), of("SAM_GOV", "a", "Air", { number: "N0001425SB001" })]],
  ["an award of SAM.gov with another title", [announcement("GRANTS_GOV", "1"), { ...award("a"), title: "Air" }]],
  [
    "a solicitation of NSF of another number",
    [of("GRANTS_GOV", "1", "Core", { number: "24-546" }), of("NSF", "1", "Core", { number: "nsf24547" })],
  ],
  [
    "a program description under the digits of a solicitation",
    [of("GRANTS_GOV", "1", "O", { number: "16-1266" }), of("NSF", "1", "O", { number: "pd161266" })],
  ],
  [
    "NSF's number of two grants with other titles",
    [of("GRANTS_GOV", "1", "A", { number: "24-546" }), of("GRANTS_GOV", "2", "B", { number: "24-546" }), core("1", "C")],
  ],
  [
    "titles of brackets alone",
    [of("SIMPLER_GRANTS_GOV", "S", "(A)", { number: "HQ0034" }), of("SAM_GOV", "1", "(B)", { number: "HQ0034" })],
  ],
];
