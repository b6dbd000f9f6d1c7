/**
 * Generates records for `import records`: `bun bench/generate.ts --records 100000 --seed 1 [--changed] > records.ndjson`.
 *
 * They resemble the real sources together: documents of 2 to 4 KB; 26 sources, 20 of them not named sources; 600 agencies that each publish
 * through one or two sources. A million records have about 1,200 combinations of status, source and program type, and 36,000 facets.
 */
import { parseArgs } from "node:util";
import { opportunityId } from "../src/opportunities/identity.ts";
import { type ProgramType, programTypes, type Status } from "../src/opportunities/opportunity.ts";

type Random = () => number;

/** Statuses and their percentages. Most of what was ever published is over. */
const STATUS_SHARES: [Status, number][] = [
  ["archived", 58],
  ["closed", 20],
  ["open", 9],
  ["awarded", 6],
  ["forecast", 3],
  ["closing_soon", 1.5],
  ["pre_release", 1.5],
  ["cancelled", 1],
];
const NAMED_SOURCES = ["SAM_GOV", "GRANTS_GOV", "DSIP", "SBIR_GOV", "SIMPLER_GRANTS_GOV", "CHALLENGE_GOV"];
const SOURCES = [...NAMED_SOURCES, ...Array.from({ length: 20 }, (_, index) => `FORECAST_${index + 1}`)];
const DEPARTMENTS =
  "Agriculture,Commerce,Defense,Education,Energy,Health and Human Services,Homeland Security,Housing and Urban Development,Justice,Labor,State,the Interior,the Treasury,Transportation,Veterans Affairs,the Air Force,the Army,the Navy,Space,Science,Standards,Public Works,the Environment,Small Business,Archives".split(
    ",",
  );
const BUREAUS =
  "Office of Research,Bureau of Grants,Acquisition Center,Office of Innovation,Contracting Command,Research Laboratory,Office of Small Business,Institute of Health,Weather Service,Oceanic Survey,Geological Survey,Forest Service,Farm Agency,Rail Administration,Highway Administration,Aviation Center,Energy Efficiency Office,Nuclear Security Office,Science Office,Rural Development,Land Management,Wildlife Service,Park Service,Coastal Service".split(
    ",",
  );
const WORDS =
  "research development award applicant proposal agency program funding opportunity technology system data analysis health energy water community education training support services materials design small business university laboratory evaluation review criteria submission deadline eligible nonprofit state tribal government cooperative agreement the of and to for in with on by under from shall may must include provide demonstrate".split(
    " ",
  );

/** The last day on which a generated record was posted. */
const LAST_POSTED = Date.UTC(2026, 7, 1);
const DAY_MS = 86_400_000;

/** Returns record `index` of the series `seed`, as one line of `import records`. It does not depend on the records before it. */
export function generateRecord(seed: number, index: number, changed = false) {
  const random = randomOf(seed, index);
  const agency = Math.floor(600 * random() ** 2);
  const source = sourceOf(agency, random);
  const code = SOURCES[source] as string;
  const number = `${code.slice(0, 3)}-${26 - (index % 12)}-${String(index).padStart(7, "0")}`;
  const postedAt = LAST_POSTED - Math.floor(3650 * random() ** 2) * DAY_MS;
  const closesAt = postedAt + (20 + Math.floor(90 * random())) * DAY_MS;
  const ceiling = Math.ceil(400 * random()) * 25_000;
  const department = `Department of ${DEPARTMENTS[agency % DEPARTMENTS.length]}`;
  const bureau = BUREAUS[Math.floor(agency / DEPARTMENTS.length)] as string;
  const title = capitalized(words(random, 6 + Math.floor(6 * random())));
  const description = text(random, 600 + Math.floor(1500 * random()));
  const amount = (changed ? ceiling * 2 : ceiling).toFixed(2);
  return {
    source: { code, opportunity_id: number, url: `https://example.gov/opportunities/${number}` },
    title,
    summary: description.replaceAll(/<\/?p>/g, "").slice(0, 220),
    description,
    status: pick(STATUS_SHARES, random),
    status_display: random() < 0.5 ? "Posted" : null,
    organization: {
      agency: `${department} - ${bureau}`,
      sub_agency: bureau,
      issuing_office: random() < 0.5 ? `${bureau} Division ${agency % 7}` : null,
    },
    program: {
      type: programTypeOf(source, random),
      solicitation_id: number,
      solicitation_title: title,
      contract_class: "Cooperative Agreement",
    },
    funding: random() < 0.7 ? { amount_min: "0.00", amount_max: amount, display: `Up to $${amount} per award` } : null,
    dates: {
      posted_at: eastern(postedAt, 0),
      opens_at: eastern(postedAt, 0),
      closes_at: eastern(changed ? closesAt - 7 * DAY_MS : closesAt, 86_399),
    },
    classifications: {
      keywords: [words(random, 2), words(random, 2), words(random, 1)],
      tech_taxonomy: [`ALN:${10 + (agency % 80)}.${100 + (index % 800)}`, "FAC:ST"],
      naics_codes: random() < 0.4 ? [String(541_000 + Math.floor(999 * random()))] : [],
    },
    eligibility: { requirements: text(random, 150 + Math.floor(450 * random())) },
    contacts: [
      { name: capitalized(words(random, 2)), email: `office${agency}@example.gov`, phone: "202-555-0100", role: "Grantor contact" },
    ],
  };
}

export function generatedId(seed: number, index: number): string {
  const { code, opportunity_id } = generateRecord(seed, index).source;
  return opportunityId(code, opportunity_id);
}

/** Returns a generator of numbers in [0, 1), the same for the same seed and stream (mulberry32). */
export function randomOf(seed: number, stream: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A few large sources publish most records. Some agencies have a second source, for a quarter of their records. */
function sourceOf(agency: number, random: Random): number {
  const own = randomOf(agency, 1);
  const first = Math.floor(SOURCES.length * own() ** 2.5);
  const second = own() < 0.3 ? Math.floor(SOURCES.length * own()) : first;
  return random() < 0.75 ? first : second;
}

/** Each source has five program types, and records without one. */
function programTypeOf(source: number, random: Random): ProgramType | null {
  const kind = Math.floor(6 * random() ** 1.5);
  return kind === 5 ? null : (programTypes[(source * 5 + kind) % programTypes.length] as ProgramType);
}

function pick<T>(shares: readonly [T, number][], random: Random): T {
  let left = random() * shares.reduce((sum, [, share]) => sum + share, 0);
  for (const [value, share] of shares) {
    left -= share;
    if (left < 0) return value;
  }
  return shares[0]?.[0] as T;
}

const PROSE_LENGTH = 400_000;
const prose = proseOf(randomOf(0, 0));

function proseOf(random: Random): string {
  let prose = "";
  while (prose.length < PROSE_LENGTH) prose += `${capitalized(words(random, 8 + Math.floor(14 * random())))}. `;
  return prose;
}

/** Returns about `length` characters of prose. One of twenty texts has characters outside ASCII. */
function text(random: Random, length: number): string {
  const start = Math.floor(random() * (PROSE_LENGTH - length));
  const piece = prose.slice(start, start + length);
  return `<p>${random() < 0.05 ? piece.replaceAll("business", "“café–naïve”") : piece}</p>`;
}

function words(random: Random, count: number): string {
  return Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a second of a day with the offset of Eastern time. The offset changes with the month, which is accurate enough here. */
function eastern(day: number, second: number): string {
  const month = new Date(day).getUTCMonth();
  return new Date(day + second * 1000).toISOString().replace(".000Z", month >= 2 && month <= 9 ? "-04:00" : "-05:00");
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      records: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      changed: { type: "boolean", default: false },
    },
  });
  const out = Bun.stdout.writer();
  for (let index = 0; index < Number(values.records); index++) {
    out.write(`${JSON.stringify(generateRecord(Number(values.seed), index, values.changed))}\n`);
    if (index % 1000 === 0) await out.flush();
  }
  await out.end();
}
