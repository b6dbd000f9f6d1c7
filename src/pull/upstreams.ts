/** The upstreams that `pull` can download from. Challenge.gov is missing because it no longer publishes a list. */
import type { Format } from "../import/format.ts";
import { dsip } from "../import/formats/dsip.ts";
import { grantsGov } from "../import/formats/grants-gov/extract.ts";
import { samGov } from "../import/formats/sam-gov.ts";
import { sbirGov } from "../import/formats/sbir-gov.ts";
import { fetchDsip, sampleDsip } from "./dsip.ts";
import {
  fetchGrantsGovDetails,
  fetchGrantsGovExtract,
  fetchGrantsGovSearch,
  sampleGrantsGovDetails,
  sampleGrantsGovExtract,
  sampleGrantsGovSearch,
} from "./grants-gov.ts";
import { fetchSamGovApi, fetchSamGovCsv, sampleSamGovApi, sampleSamGovCsv } from "./sam-gov.ts";
import { fetchSbirGov, sampleSbirGov } from "./sbir-gov.ts";
import type { Fetched, Sample, Visit } from "./visit.ts";

export type Upstream = {
  /** The name on the command line. */
  name: string;
  about: string;
  format: Format;
  /** Whether it has everything, so that missing records have been removed (D-34). */
  snapshot: boolean;
  /** Whether a download without records is an error. */
  neverEmpty: boolean;
  /** Base URL, ending in "/". */
  base: string;
  /** Other hosts that it may redirect to. */
  redirectsTo: readonly string[];
  /** The environment variable with the API key that the upstream requires. */
  keyFrom?: string;
  /** Returns `undefined` if there is nothing new. */
  fetch: (visit: Visit) => Promise<Fetched | undefined>;
  /** Takes a few records for `sources probe`, with one small request for each kind of response that `fetch` reads. Throws as `fetch` does. */
  probe: (visit: Visit) => Promise<Sample>;
};

export const upstreams: readonly Upstream[] = [
  {
    name: "grants-gov",
    about: "daily XML extract, imported as a snapshot",
    format: grantsGov,
    snapshot: true,
    neverEmpty: true,
    base: "https://prod-grants-gov-chatbot.s3.amazonaws.com/extracts/",
    redirectsTo: [],
    fetch: fetchGrantsGovExtract,
    probe: sampleGrantsGovExtract,
  },
  {
    name: "grants-gov-search",
    about: "dates and statuses, for between two extracts",
    format: grantsGov,
    snapshot: false, // It lacks closed opportunities.
    neverEmpty: true,
    base: "https://api.grants.gov/v1/api/",
    redirectsTo: [],
    fetch: fetchGrantsGovSearch,
    probe: sampleGrantsGovSearch,
  },
  {
    name: "grants-gov-details",
    about: "the same with details, by about 1,500 requests",
    format: grantsGov,
    snapshot: false,
    neverEmpty: true,
    base: "https://api.grants.gov/v1/api/",
    redirectsTo: [],
    fetch: fetchGrantsGovDetails,
    probe: sampleGrantsGovDetails,
  },
  {
    name: "sam-gov",
    about: "daily CSV of all active notices",
    format: samGov,
    snapshot: false, // A missing notice has usually been archived.
    neverEmpty: true,
    base: "https://sam.gov/api/prod/fileextractservices/v1/api/download/Contract%20Opportunities/datagov/",
    redirectsTo: ["falextracts.s3.amazonaws.com", "s3.amazonaws.com"],
    fetch: fetchSamGovCsv,
    probe: sampleSamGovCsv,
  },
  {
    name: "sam-gov-api",
    about: "notices of the last three days, without texts",
    format: samGov,
    snapshot: false,
    neverEmpty: false,
    base: "https://api.sam.gov/opportunities/v2/",
    redirectsTo: [],
    keyFrom: "FUNDFEED_SAM_GOV_KEY",
    fetch: fetchSamGovApi,
    probe: sampleSamGovApi,
  },
  {
    name: "sbir-gov",
    about: "open solicitations",
    format: sbirGov,
    snapshot: false, // It has open solicitations only.
    neverEmpty: false,
    base: "https://api.www.sbir.gov/public/api/",
    redirectsTo: [],
    fetch: fetchSbirGov,
    probe: sampleSbirGov,
  },
  {
    name: "dsip",
    about: "open and pre-release topics with details",
    format: dsip,
    snapshot: false, // It has open and pre-release topics only.
    neverEmpty: false,
    base: "https://www.dodsbirsttr.mil/",
    redirectsTo: [],
    fetch: fetchDsip,
    probe: sampleDsip,
  },
];
