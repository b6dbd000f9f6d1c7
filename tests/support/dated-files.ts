/** Real files with the dates in their names, for tests that import a history. */
import { HOUR_MS } from "../../src/text/instant.ts";

/** Files of each format that are imported into one catalog. */
export const datedGroups: Readonly<Record<string, readonly (readonly [format: string, pattern: string])[]>> = {
  "Challenge.gov": [["challenge-gov", "challenge-gov/challenges-*"]],
  grants: [
    ["grants-gov", "grants-gov/derived/*"],
    ["simpler-grants-gov", "simpler-grants-gov/*.csv*"],
    ["nsf", "nsf/*.csv*"],
    ["nasa-nspires", "nasa-nspires/solicitationsJSON-*"],
    ["nasa-roses", "nasa-roses/*.html"],
  ],
  contracts: [
    ["sam-gov", "sam-gov/daily/*"],
    ["sam-gov", "sam-gov/derived/*"],
    ["darpa", "darpa/*.json"],
    ["sbir-gov", "sbir-gov/*"],
    ["dsip", "dod-dsip/{raw_api_search_response.json,topics-export-*}"],
  ],
};

const DATED = /(20\d\d)-?(\d\d)-?(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?/;

/** The instant of which a file's name tells. */
function dateOf(path: string): number {
  const [, year = "2025", month = "01", day = "01", hour = "12", minute = "00", second = "00"] = DATED.exec(path) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export type DatedFile = { name: string; path: string; at: number };

/** The files of a group in the order of their instants, which are at least two hours apart. */
export function datedFiles(directory: string, group: string): DatedFile[] {
  const files = (datedGroups[group] ?? []).flatMap(([name, pattern]) =>
    [...new Bun.Glob(pattern).scanSync(directory)].map((path) => ({ name, path: `${directory}/${path}`, date: dateOf(path) })),
  );
  let last = 0;
  return files
    .toSorted((one, other) => one.date - other.date || (one.path < other.path ? -1 : 1))
    .map(({ name, path, date }) => {
      last = Math.max(date, last + 2 * HOUR_MS);
      return { name, path, at: last };
    });
}
