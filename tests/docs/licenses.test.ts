/** docs/reference/licenses.md lists everything of others in the binary, as the SBOM does, and all packages have permissive licenses. */
import { expect, test } from "bun:test";
import { partsOfProgram, sbomOf } from "../../release/sbom.ts";
import { readText } from "../support/project-files.ts";

const PERMISSIVE = /^(MIT(-0)?|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0)$/;

test("docs/reference/licenses.md lists what is in the SBOM, and its packages have permissive licenses", async () => {
  const rows = [...readText("docs/reference/licenses.md").matchAll(/^\| (\S+) \| (\S+) \|/gm)].map(
    ([, name, license]) => `${name} ${license}`,
  );
  const parts = await partsOfProgram();
  const { components } = JSON.parse(sbomOf(parts)) as {
    components: { name: string; version: string; licenses: { license: { id: string } }[] }[];
  };
  const listed = rows.filter((row) => !row.endsWith(" License"));
  expect(listed.sort()).toEqual(components.map(({ name, licenses }) => `${name} ${licenses[0]?.license.id}`).sort());
  expect(components.filter(({ version }) => version === "unknown")).toEqual([]);
  for (const { license } of [...parts.packages, ...parts.embedded]) expect(license).toMatch(PERMISSIVE);
});
