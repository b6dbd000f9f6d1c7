/** DARPA: the feed of its opportunities page, which has no pages of its own. */
import { Failure } from "../../db/reason.ts";
import { easternDate } from "../text/eastern.ts";
import { objectOf, textOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { type Fetched, fetchKnownFile, fileOf, jsonAt, listIn, type ProbeSample, readJson, type Visit } from "./visit.ts";

/** The feed, or `undefined` if it is unchanged since the last import. */
export async function fetchDarpa(visit: Visit): Promise<Fetched | undefined> {
  const request = jsonAt(visit, "opportunity.json");
  const fetched = await fetchKnownFile(visit, "opportunity.json", request);
  if (fetched === "missing") throw new Failure(`Cannot find the feed at ${publicUrl(request.url)}`);
  return fetched;
}

/** The whole feed, because it has no pages. */
export async function sampleDarpa(visit: Visit): Promise<ProbeSample> {
  const { text, value } = await readJson(visit, jsonAt(visit, "opportunity.json"));
  const today = easternDate(visit.net.now());
  const rows = listIn(visit, value, "opportunities");
  const opened = rows.map((row) => textOf(objectOf(row).field_open_date)).filter((date) => date !== "" && date <= today);
  const newest = opened.sort().at(-1);
  return { files: [fileOf("opportunity.json", text)], total: null, ...(newest !== undefined && { publishedOn: newest }) };
}
