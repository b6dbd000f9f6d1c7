/** SBIR.gov: open solicitations. */
import { objectOf } from "../text/json-value.ts";
import { type Fetched, fetchJson, fileOf, jsonAt, readJson, type Sample, type Visit } from "./visit.ts";

const ROWS = 50;
const SAMPLE_ROWS = 5;

/** Requests pages until one has nothing new, because the API states no total. */
export async function fetchSbirGov(visit: Visit): Promise<Fetched> {
  const files: string[] = [];
  const seen = new Set<string>();
  for (;;) {
    const request = jsonAt(visit, `solicitations?open=1&rows=${ROWS}&start=${seen.size}`);
    const { path, value } = await fetchJson(visit, `solicitations-${files.length + 1}.json`, request);
    requireList(visit, value);
    const before = seen.size;
    for (const solicitation of value) seen.add(keyOf(solicitation));
    if (seen.size > before) {
      files.push(path);
      continue;
    }
    if (value.length >= ROWS)
      throw new Error(`Cannot page through ${visit.base.host}: it returned the same ${value.length} solicitations again`);
    return { files: files.length === 0 ? [path] : files };
  }
}

/** A few open solicitations. */
export async function sampleSbirGov(visit: Visit): Promise<Sample> {
  const { text, value } = await readJson(visit, jsonAt(visit, `solicitations?open=1&rows=${SAMPLE_ROWS}&start=0`));
  requireList(visit, value);
  return { files: [fileOf("solicitations.json", text)], total: null };
}

function requireList({ base }: Visit, value: unknown): asserts value is unknown[] {
  if (!Array.isArray(value)) throw new Error(`Cannot use the response of ${base.host}: it is not a list of solicitations`);
}

function keyOf(solicitation: unknown): string {
  const { solicitation_id, solicitation_number, solicitation_title, solicitation_agency_url } = objectOf(solicitation);
  return JSON.stringify([solicitation_id, solicitation_number, solicitation_title, solicitation_agency_url]);
}
