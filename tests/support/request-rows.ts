/** The example requests of tests/http/requests.tsv. */
import { readText } from "./project-files.ts";

export type RequestRow = { number: number; by: string; request: string; expect: string; note: string };

/** Returns the rows. Numbers are cited by the names of tests. */
export function requestRows(): RequestRow[] {
  const lines = readText("tests/http/requests.tsv").trimEnd().split("\n").slice(1);
  return lines
    .filter((line) => !line.startsWith("# "))
    .map((line) => {
      const [number, by = "", request = "", expected = "", note = ""] = line.split("\t");
      return { number: Number(number), by, request, expect: expected, note };
    });
}
