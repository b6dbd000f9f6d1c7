/**
 * The upstreams of `pull`. Challenge.gov has closed, NSF's robots.txt disallows its export, and SAM.gov's page backend is not meant for
 * programs.
 */
import type { Format } from "../import/format.ts";
import { darpa } from "../import/formats/darpa.ts";
import { dsip } from "../import/formats/dsip.ts";
import { grantsGov } from "../import/formats/grants-gov/extract.ts";
import { nasaNspires } from "../import/formats/nasa-nspires.ts";
import { nasaRoses } from "../import/formats/nasa-roses.ts";
import { samGov } from "../import/formats/sam-gov.ts";
import { sbirGov } from "../import/formats/sbir-gov.ts";
import { DAY_MS, HOUR_MS } from "../text/instant.ts";
import type { Net } from "./download.ts";
import { fetchDsip } from "./dsip.ts";
import { fetchGrantsGovDetails, fetchGrantsGovExtract, grantsGovSearch } from "./grants-gov.ts";
import { fetchRoses, solicitationsAt } from "./nasa.ts";
import { savePages } from "./pages.ts";
import { permitted } from "./robots.ts";
import { fetchSamGovCsv, samGovSearch } from "./sam-gov.ts";
import { fetchSbirGov } from "./sbir-gov.ts";
import { fetchSimplerGrantsGov, SIMPLER_PACE_MS } from "./simpler-grants-gov.ts";
import { type Fetched, fetchOnlyFile, jsonAt, type Visit } from "./visit.ts";

export type Upstream = {
  name: string;
  about: string;
  format: Format;
  /** It has everything: missing records have been removed (D-34). */
  snapshot: boolean;
  mayBeEmpty?: true;
  base: string;
  /** A site that offers the records too, for when the API fails, and the variable with its address. */
  fallback?: { base: string; variable: string };
  redirectsTo?: readonly string[];
  /** It serves people, so its robots.txt is respected. */
  asksRobots?: true;
  /** How often `up` pulls it by default; never, if another upstream has the same records. */
  everyMs?: number;
  paceMs?: number;
  keyFrom?: string;
  /** Left out on a day on which this one was pulled, which has the same records. */
  yieldsTo?: string;
  fetch: (visit: Visit) => Promise<Fetched | undefined>;
};

/** A visit to an upstream: to its own hosts only, and to no page that their robots.txt disallows. */
export function visitTo(upstream: Upstream, net: Omit<Net, "hosts">, visit: Omit<Visit, "net" | "requests" | "jsonLength">): Visit {
  const hosts = [visit.base.host, ...(upstream.redirectsTo ?? [])];
  return { ...visit, net: permitted({ ...net, hosts }, upstream, visit.directory), paceMs: upstream.paceMs, requests: 0, jsonLength: 0 };
}

export const upstreams: readonly Upstream[] = [
  {
    name: "grants-gov",
    about: "daily XML extract, imported as a snapshot",
    format: grantsGov,
    snapshot: true,
    everyMs: 6 * HOUR_MS,
    yieldsTo: "simpler-grants-gov",
    base: "https://prod-grants-gov-chatbot.s3.amazonaws.com/extracts/",
    fetch: fetchGrantsGovExtract,
  },
  {
    name: "grants-gov-search",
    about: "dates and statuses, for between two extracts",
    format: grantsGov,
    snapshot: false, // It lacks closed opportunities.
    base: "https://api.grants.gov/v1/api/",
    fetch: async (visit) => ({ files: (await savePages(visit, grantsGovSearch(visit))).files }),
  },
  {
    name: "grants-gov-details",
    about: "the same with details, by about 1,500 requests",
    format: grantsGov,
    snapshot: false,
    base: "https://api.grants.gov/v1/api/",
    fetch: fetchGrantsGovDetails,
  },
  {
    name: "simpler-grants-gov",
    about: "its successor's API: a daily extract, and a search between",
    format: grantsGov,
    snapshot: true, // With an extract only.
    everyMs: 6 * HOUR_MS,
    base: "https://api.simpler.grants.gov/v1/",
    redirectsTo: ["files.simpler.grants.gov"],
    paceMs: SIMPLER_PACE_MS,
    keyFrom: "FUNDFEED_SIMPLER_KEY",
    fetch: fetchSimplerGrantsGov,
  },
  {
    name: "sam-gov",
    about: "daily CSV of all active notices",
    format: samGov,
    snapshot: false, // A missing notice has usually been archived.
    everyMs: DAY_MS,
    base: "https://sam.gov/api/prod/fileextractservices/v1/api/download/Contract%20Opportunities/datagov/",
    redirectsTo: ["falextracts.s3.amazonaws.com", "s3.amazonaws.com"],
    fetch: fetchSamGovCsv,
  },
  {
    name: "sam-gov-api",
    about: "notices of the last three days, without texts",
    format: samGov,
    snapshot: false,
    mayBeEmpty: true,
    everyMs: 6 * HOUR_MS,
    base: "https://api.sam.gov/opportunities/v2/",
    keyFrom: "FUNDFEED_SAM_GOV_KEY",
    fetch: async (visit) => ({ files: (await savePages(visit, samGovSearch(visit))).files }),
  },
  {
    name: "sbir-gov",
    about: "open solicitations",
    format: sbirGov,
    snapshot: false, // It has open solicitations only.
    mayBeEmpty: true,
    everyMs: 12 * HOUR_MS,
    base: "https://api.www.sbir.gov/public/api/",
    fallback: { base: "https://www.sbir.gov/", variable: "FUNDFEED_SBIR_GOV_SITE_URL" },
    fetch: fetchSbirGov,
  },
  {
    name: "dsip",
    about: "open and pre-release topics with details",
    format: dsip,
    snapshot: false, // It has open and pre-release topics only.
    mayBeEmpty: true,
    everyMs: 12 * HOUR_MS,
    base: "https://www.dodsbirsttr.mil/",
    fetch: fetchDsip,
  },
  {
    name: "darpa",
    about: "the feed of opportunities",
    format: darpa,
    snapshot: false, // Opportunities leave the feed when they have closed.
    everyMs: DAY_MS,
    base: "https://www.darpa.mil/json/",
    asksRobots: true,
    fetch: (visit) => fetchOnlyFile(visit, "opportunity.json", jsonAt(visit, "opportunity.json"), "the feed"),
  },
  {
    name: "nasa-nspires",
    about: "open solicitations",
    format: nasaNspires,
    snapshot: false, // It has open solicitations, and some that have closed lately.
    everyMs: DAY_MS,
    base: "https://nspires.nasaprs.com/external/solicitations/",
    asksRobots: true,
    fetch: async (visit) => fetchOnlyFile(visit, "solicitations.json", await solicitationsAt(visit), "the list of solicitations"),
  },
  {
    name: "nasa-roses",
    about: "the programs of the newest ROSES, with due dates",
    format: nasaRoses,
    snapshot: false, // A program that is not solicited stays in the table.
    everyMs: DAY_MS,
    base: "https://solicitation.nasaprs.com/",
    redirectsTo: ["nspires.nasaprs.com"],
    asksRobots: true,
    fetch: fetchRoses,
  },
];
