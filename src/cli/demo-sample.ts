/** The sample of the demo: real published files (see `demo-sample/PROVENANCE.tsv`). Read while the program is built, as a macro. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sample from "./demo-sample/sample.json" with { type: "json" };

/** Each file, in the order of publication, whose instant is `asOf`. `content` is Base64. */
export function readSample() {
  return sample.map((each) => ({ ...each, content: readFileSync(join(import.meta.dir, "demo-sample", each.file)).toBase64() }));
}
