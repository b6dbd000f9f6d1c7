/** DARPA: the feed of its opportunities page, which has no pages of its own. */
import { Failure } from "../../db/reason.ts";
import { publicUrl } from "../text/request-failure.ts";
import { type Fetched, fetchKnownFile, jsonAt, type Visit } from "./visit.ts";

/** The feed, or `undefined` if it is unchanged since the last import. */
export async function fetchDarpa(visit: Visit): Promise<Fetched | undefined> {
  const request = jsonAt(visit, "opportunity.json");
  const fetched = await fetchKnownFile(visit, "opportunity.json", request);
  if (fetched === "missing") throw new Failure(`Cannot find the feed at ${publicUrl(request.url)}`);
  return fetched;
}
