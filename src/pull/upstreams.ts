/** Every upstream that publishes what can be fetched, as data. Challenge.gov publishes no list any more. */
import type { Format } from "../import/format.ts";
import { dsip } from "../import/formats/dsip.ts";
import { grantsGov } from "../import/formats/grants-gov/extract.ts";
import { samGov } from "../import/formats/sam-gov.ts";
import { sbirGov } from "../import/formats/sbir-gov.ts";
import { fetchDsip } from "./dsip.ts";
import { fetchGrantsGovDetails, fetchGrantsGovExtract, fetchGrantsGovSearch } from "./grants-gov.ts";
import { fetchSamGovApi, fetchSamGovCsv } from "./sam-gov.ts";
import { fetchSbirGov } from "./sbir-gov.ts";
import type { Fetched, Visit } from "./visit.ts";

export type Upstream = {
  /** As on the command line. */
  name: string;
  about: string;
  format: Format;
  /** What is missing from it has been removed (D-34). */
  snapshot: boolean;
  /** Without a record it is broken, not empty. */
  neverEmpty: boolean;
  base: string;
  /** Hosts beside the base's own that it may redirect to. */
  redirectsTo: readonly string[];
  /** The environment variable that holds the key which it asks of its callers. */
  keyFrom?: string;
  /** Nothing when there is nothing new. */
  fetch: (visit: Visit) => Promise<Fetched | undefined>;
};

export const upstreams: readonly Upstream[] = [
  {
    name: "grants-gov",
    about: "the daily XML extract of Grants.gov, a snapshot",
    format: grantsGov,
    snapshot: true,
    neverEmpty: true,
    base: "https://prod-grants-gov-chatbot.s3.amazonaws.com/extracts/",
    redirectsTo: [],
    fetch: fetchGrantsGovExtract,
  },
  {
    name: "grants-gov-search",
    about: "dates and status of all that is forecast or posted at Grants.gov, for the hours between two extracts",
    format: grantsGov,
    snapshot: false, // It lacks what is closed.
    neverEmpty: true,
    base: "https://api.grants.gov/v1/api/",
    redirectsTo: [],
    fetch: fetchGrantsGovSearch,
  },
  {
    name: "grants-gov-details",
    about: "the same with all details, attachments and history, by one request for each: some 1,500",
    format: grantsGov,
    snapshot: false,
    neverEmpty: true,
    base: "https://api.grants.gov/v1/api/",
    redirectsTo: [],
    fetch: fetchGrantsGovDetails,
  },
  {
    name: "sam-gov",
    about: "the daily CSV of all active notices of SAM.gov",
    format: samGov,
    snapshot: false, // A notice that is missing has been archived, most often.
    neverEmpty: true,
    base: "https://sam.gov/api/prod/fileextractservices/v1/api/download/Contract%20Opportunities/datagov/",
    redirectsTo: ["falextracts.s3.amazonaws.com", "s3.amazonaws.com"],
    fetch: fetchSamGovCsv,
  },
  {
    name: "sam-gov-api",
    about: "the notices of the last three days from the API of SAM.gov, without their texts",
    format: samGov,
    snapshot: false,
    neverEmpty: false,
    base: "https://api.sam.gov/opportunities/v2/",
    redirectsTo: [],
    keyFrom: "FUNDFEED_SAM_GOV_KEY",
    fetch: fetchSamGovApi,
  },
  {
    name: "sbir-gov",
    about: "the open solicitations of SBIR.gov",
    format: sbirGov,
    snapshot: false, // It holds only those that are open.
    neverEmpty: false,
    base: "https://api.www.sbir.gov/public/api/",
    redirectsTo: [],
    fetch: fetchSbirGov,
  },
  {
    name: "dsip",
    about: "open and pre-release topics of the DoD SBIR/STTR portal, with details and questions",
    format: dsip,
    snapshot: false, // It holds only those that are open or soon will be.
    neverEmpty: false,
    base: "https://www.dodsbirsttr.mil/",
    redirectsTo: [],
    fetch: fetchDsip,
  },
];
