/** SBIR.gov: the solicitations that are open. */
import { objectOf } from "../text/json-value.ts";
import { type Fetched, fetchJson, jsonAt, type Visit } from "./visit.ts";

const ROWS = 50;

/** There is no total: pages are asked for until one has nothing new. */
export async function fetchSbirGov(visit: Visit): Promise<Fetched> {
  const files: string[] = [];
  const seen = new Set<string>();
  for (;;) {
    const wanted = jsonAt(visit, `solicitations?open=1&rows=${ROWS}&start=${seen.size}`);
    const { path, value } = await fetchJson(visit, `solicitations-${files.length + 1}.json`, wanted);
    if (!Array.isArray(value)) throw new Error(`Cannot take the answer of ${visit.base.host}: it is not a list of solicitations`);
    const before = seen.size;
    for (const solicitation of value) seen.add(keyOf(solicitation));
    if (seen.size > before) {
      files.push(path);
      continue;
    }
    if (value.length >= ROWS)
      throw new Error(`Cannot page through ${visit.base.host}: it answers with the same ${value.length} solicitations again`);
    return { files: files.length === 0 ? [path] : files };
  }
}

function keyOf(solicitation: unknown): string {
  const { solicitation_id, solicitation_number, solicitation_title, solicitation_agency_url } = objectOf(solicitation);
  return JSON.stringify([solicitation_id, solicitation_number, solicitation_title, solicitation_agency_url]);
}
