/** The table of docs/guides/find.md is what its command prints of the demo's data. UPDATE_DOCS=1 writes it there. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const PAGE = join(import.meta.dir, "../../docs/guides/find.md");
/** The day on which the page was written. */
const TODAY = Date.parse("2026-10-05T12:00:00Z");
/** How long ago something was imported depends on when the test runs. */
const withoutAge = (text: string) => text.replace(/imported .*/, "imported 3 hours ago");

test("the table is what the command above it prints", async () => {
  const page = readFileSync(PAGE, "utf8");
  const [whole = "", command = "", shown] = /^```sh\nfundfeed (find .*)\n```\n\n```\n(due [\s\S]*?)```\n/m.exec(page) ?? [];
  const { out } = await fundfeed([...command.split(" "), "--data", await aDirectoryOfTheDemo()], {}, () => TODAY);
  const printed = withoutAge(out);
  if (process.env.UPDATE_DOCS === "1")
    writeFileSync(
      PAGE,
      page.replace(whole, () => `\`\`\`sh\nfundfeed ${command}\n\`\`\`\n\n\`\`\`\n${printed}\`\`\`\n`),
    );
  else expect(shown).toBe(printed);
  expect(Math.max(...printed.split("\n").map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(80);
});
