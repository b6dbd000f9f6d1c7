/** SBIR.gov: open solicitations from its API, or while that fails open topics from its pages. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Failure, messageOf } from "../../db/reason.ts";
import { objectOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { permitted } from "./robots.ts";
import { type Fetched, fetchFile, fetchJson, jsonAt, listIn, type Visit } from "./visit.ts";

const ROWS = 50;

/** The API's solicitations. If it fails, the topics that the site offers for download, and why. */
export async function fetchSbirGov(visit: Visit): Promise<Fetched> {
  try {
    return await fetchSolicitations(visit);
  } catch (error) {
    if (visit.fallback === undefined || visit.net.stop.aborted) throw error;
    return await fetchInstead(visit, visit.fallback, messageOf(error));
  }
}

async function fetchInstead(visit: Visit, site: URL, reason: string): Promise<Fetched> {
  // What the API returned before it failed is not imported.
  for (const name of await readdir(visit.directory)) await rm(join(visit.directory, name));
  try {
    const net = permitted({ ...visit.net, hosts: [site.host] }, { asksRobots: true }, visit.directory);
    const path = await fetchTopics({ ...visit, base: site, net });
    return { files: [path], insteadOf: `${reason}; the open topics of ${publicUrl(site)} were imported instead` };
  } catch (error) {
    throw new Failure(`${reason}; ${messageOf(error)}`);
  }
}

/** Requests pages until one has nothing new, because the API states no total. */
async function fetchSolicitations(visit: Visit): Promise<Fetched> {
  const files: string[] = [];
  const seen = new Set<string>();
  for (;;) {
    const request = jsonAt(visit, `solicitations?open=1&rows=${ROWS}&start=${seen.size}`);
    const { path, value } = await fetchJson(visit, `solicitations-${files.length + 1}.json`, request);
    const solicitations = listIn(visit, value, "solicitations");
    const before = seen.size;
    for (const solicitation of solicitations) seen.add(keyOf(solicitation));
    if (seen.size > before) {
      files.push(path);
      continue;
    }
    if (solicitations.length >= ROWS)
      throw new Failure(`Cannot page through ${visit.base.host}: it returned the same ${solicitations.length} solicitations again`);
    return { files: files.length === 0 ? [path] : files };
  }
}

const PAGE_BYTES_MAX = 8 * 1024 ** 2;
const CSV_BYTES_MAX = 64 * 1024 ** 2;
const FORM = "topics_search";

/** As the button of the search page does. Nothing open looks like a failure. */
async function fetchTopics(visit: Visit): Promise<string> {
  const url = new URL("topics", visit.base);
  const page = await fetchFile(visit, "topics.html", { url, types: ["text/html"], bytesMax: PAGE_BYTES_MAX });
  if (page.outcome !== "saved") throw new Failure(`Cannot find the search of topics at ${publicUrl(url)}`);
  const form_build_id = formBuildId(await readFile(page.path, "utf8"), url);
  await rm(page.path);
  const body = new URLSearchParams({ form_id: FORM, status: "Open", op: "Download", form_build_id });
  const csv = await fetchFile(visit, "topics.csv", { url, types: ["text/csv"], bytesMax: CSV_BYTES_MAX, body, cookies: page.cookies });
  if (csv.outcome !== "saved") throw new Failure(`Cannot fetch ${publicUrl(url)}: it returned 404`);
  return csv.path;
}

function formBuildId(html: string, url: URL): string {
  const before = html.split(new RegExp(`value="${FORM}"`), 1)[0] ?? "";
  const id = before.length < html.length ? [...before.matchAll(/name="form_build_id"\s+value="([\w-]+)"/g)].at(-1)?.[1] : undefined;
  if (id === undefined) throw new Failure(`Cannot use the page ${publicUrl(url)}: it has no search of topics`);
  return id;
}

function keyOf(solicitation: unknown): string {
  const { solicitation_id, solicitation_number, solicitation_title, solicitation_agency_url } = objectOf(solicitation);
  return JSON.stringify([solicitation_id, solicitation_number, solicitation_title, solicitation_agency_url]);
}
