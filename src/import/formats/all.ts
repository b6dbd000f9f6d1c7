/** The formats of `import`. */
import type { Format } from "../format.ts";
import { challengeGov } from "./challenge-gov.ts";
import { darpa } from "./darpa.ts";
import { dsip } from "./dsip.ts";
import { grantsGov } from "./grants-gov/extract.ts";
import { nasaNspires } from "./nasa-nspires.ts";
import { nasaRoses } from "./nasa-roses.ts";
import { nsf } from "./nsf.ts";
import { records } from "./records.ts";
import { samGov } from "./sam-gov.ts";
import { sbirGov } from "./sbir-gov.ts";
import { simplerGrantsGov } from "./simpler-grants-gov.ts";

export const formats: readonly Format[] = [
  records,
  grantsGov,
  simplerGrantsGov,
  samGov,
  sbirGov,
  dsip,
  nsf,
  darpa,
  nasaRoses,
  nasaNspires,
  challengeGov,
];

/** The name of the format for a source, such as "dsip" for DSIP; undefined if there is none. */
export function importNameOf(source: string): string | undefined {
  return formats.find((format) => format.source === source)?.name;
}
