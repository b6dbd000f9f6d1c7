/** What find, changes, watches, pages and tools say of a record's duplicates: where they are, and whether one can apply there if the sources differ. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { AlsoAtLinks } from "../../src/browse/marks.tsx";
import { alsoAtInLine } from "../../src/mcp/tools/find.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { type AlsoAt, alsoAtInWords } from "../../src/opportunities/related.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const duplicate = (status: AlsoAt["status"], source_name = "SBIR.gov"): AlsoAt => {
  return { id: opportunityId("B", status), source: "SBIR_GOV", source_name, upstream_id: "1", status, url: null };
};

test("says that a source differs in whether one can apply, and nothing where it does not", () => {
  const words = (status: AlsoAt["status"], shown: string) => alsoAtInWords([duplicate(status)], shown);
  expect(words("closed", "open")).toBe("also at SBIR.gov (closed there)");
  expect(words("pre_release", "closing_soon")).toBe("also at SBIR.gov (pre-release there)");
  expect(words("closing_soon", "archived")).toBe("also at SBIR.gov (closing soon there)");
  expect(words("closing_soon", "open")).toBe("also at SBIR.gov");
  expect(words("archived", "closed")).toBe("also at SBIR.gov");
  expect(alsoAtInWords([], "open")).toBeNull();
  expect(alsoAtInWords([duplicate("open", "NSF"), duplicate("closed"), duplicate("archived", "NSF")], "open")).toBe(
    "also at NSF, SBIR.gov (closed there), NSF (archived there)",
  );
  expect(alsoAtInLine([duplicate("closed")], "open")).toMatch(/^also at SBIR_GOV \(closed there\) \(id \S+\); $/);
});

test("says so below results, in Markdown, in the list of changes and on pages", async () => {
  const data = aDirectory();
  const title = "Solar sail";
  const file = aFile([
    { source: { code: "A", opportunity_id: "A" }, title, status: "open" },
    { source: { code: "B", opportunity_id: "B" }, title, status: "closed", relationships: { canonical_id: opportunityId("A", "A") } },
  ]);
  const run = async (...args: string[]) => (await fundfeed([...args, "--data", data], {}, () => NOON)).out;
  await run("import", "records", file);
  const told = "also at B (closed there)";
  expect(await run("find", "solar")).toContain(told);
  expect(await run("find", "solar", "--format", "md")).toContain(told);
  expect(await run("changes")).toContain(told);
  const { data: found } = JSON.parse(await run("find", "solar", "--all-sources", "--json"));
  const page = String(AlsoAtLinks({ duplicates: found.filter(({ status }: AlsoAt) => status === "closed"), shown: "open" }));
  expect(page.replace(/<[^>]*>/g, "")).toBe(told);
});
