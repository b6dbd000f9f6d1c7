import { expect, test } from "bun:test";
import { fundfeed } from "../support/command-line.ts";

test.each([
  ["fundfeed impo", "import imports"],
  ["fundfeed keys cr", "create"],
  ["fundfeed keys create --ac", "--account"],
  ["fundfeed import grants-", "grants-gov"],
  ["fundfeed import --snapshot s", "simpler-grants-gov sam-gov sbir-gov"],
  ["fundfeed nonsense --d", ""],
])("fundfeed completion makes bash complete: %s", async (line, completed) => {
  const { out } = await fundfeed(["completion"]);
  const words = line.split(" ");
  const asked = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _fundfeed; echo "\${COMPREPLY[*]}"`;
  const { stdout, stderr } = Bun.spawnSync(["bash", "-c", `${out}\n${asked}`]);
  expect([stdout.toString().trim(), stderr.toString()]).toEqual([completed, ""]);
});
