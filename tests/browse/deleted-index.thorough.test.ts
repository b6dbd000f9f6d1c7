/** `browse` while its search index is deleted. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { storeVersions } from "../support/browse.ts";
import { browse } from "../support/clocked-program.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test("every page is served after search.db was deleted, and shows what is stored then", async () => {
  const data = aDirectory();
  const [id = ""] = await store(data, "1", "Solar sail");
  const { base, errors, stop } = await browse(["--data", data]);
  try {
    const found = async () => /(\d+) opportunit(?:y|ies)</.exec(await (await fetch(`${base}?words=sail`)).text())?.[1];
    expect(await found()).toBe("1");

    rmSync(join(data, "search.db"));
    await store(data, "2", "Another sail");
    for (const path of ["?words=sail", `opportunities/${id}`, "changes?words=sail", "deadlines", "sources"])
      expect([path, (await fetch(base + path)).status]).toEqual([path, 200]);
    await waitFor("both are found", async () => (await found()) === "2");
    expect(existsSync(join(data, "search.db"))).toBe(true);
  } finally {
    expect(await stop("SIGTERM")).toBe(0);
  }
  expect(await errors).toBe("");
});

function store(data: string, opportunity_id: string, title: string): Promise<string[]> {
  const source = { code: "OWN", opportunity_id };
  return storeVersions(data, [
    [
      { source, title },
      { source, title: `${title}, revised` },
    ],
  ]);
}
