/** The files of the demo's sample, in the order of publication. */
import { join } from "node:path";
import files from "../../src/cli/demo-sample/sample.json" with { type: "json" };
import { root } from "./project-files.ts";

/** `file` is a path; `asOf` is the instant of publication. */
export const sample = files.map((each) => ({ ...each, file: join(root, "src/cli/demo-sample", each.file) }));
