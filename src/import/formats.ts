/** Every format that `import` takes. */
import type { Format } from "./format.ts";
import { challengeGov } from "./formats/challenge-gov.ts";
import { dsip } from "./formats/dsip.ts";
import { grantsGov } from "./formats/grants-gov.ts";
import { records } from "./formats/records.ts";
import { samGov } from "./formats/sam-gov.ts";
import { sbirGov } from "./formats/sbir-gov.ts";
import { simplerGrantsGov } from "./formats/simpler-grants-gov.ts";

export const formats: readonly Format[] = [records, grantsGov, simplerGrantsGov, samGov, sbirGov, dsip, challengeGov];

/** The name by which files of a source are imported: "dsip" for DSIP. */
export function importNameOf(source: string): string | undefined {
  return formats.find((format) => format.source === source)?.name;
}
