/** docs/operate/licenses.md lists every package in the binary, and all their licenses are permissive. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundledPackages } from "../../release/sbom.ts";

const root = join(import.meta.dir, "../..");
const PERMISSIVE = /^(MIT(-0)?|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0)$/;

test("docs/operate/licenses.md lists the packages in the binary, all with permissive licenses", async () => {
  const bundled = (await bundledPackages()).map(({ name, license }) => [name, license]);
  const page = readFileSync(join(root, "docs/operate/licenses.md"), "utf8");
  const listed = [...page.matchAll(/^\| (\S+) \| (\S+) \|/gm)].map(([, name, license]) => [name, license]);
  expect(listed.filter(([name]) => name !== "Package")).toEqual(bundled);
  for (const [, license] of bundled) expect(license).toMatch(PERMISSIVE);
});
