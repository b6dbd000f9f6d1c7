/** Every format that `import` takes. */
import type { Format } from "../format.ts";
import { challengeGov } from "./challenge-gov.ts";
import { dsip } from "./dsip.ts";
import { grantsGov } from "./grants-gov/extract.ts";
import { records } from "./records.ts";
import { samGov } from "./sam-gov.ts";
import { sbirGov } from "./sbir-gov.ts";
import { simplerGrantsGov } from "./simpler-grants-gov.ts";

export const formats: readonly Format[] = [records, grantsGov, simplerGrantsGov, samGov, sbirGov, dsip, challengeGov];

/** The name by which files of a source are imported: "dsip" for DSIP. */
export function importNameOf(source: string): string | undefined {
  return formats.find((format) => format.source === source)?.name;
}
