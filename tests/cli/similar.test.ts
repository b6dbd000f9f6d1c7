/** What `similar` prints. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { anIndexedDirectoryOfAll } from "../support/all-records.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test("lists what is like an opportunity, with the words that they share", async () => {
  const { data } = await anIndexedDirectoryOfAll();
  const { code, out, err } = await fundfeed(["similar", "PAR-25-270", "--data", data, "--limit", "2"]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toStartWith("Like PAR-25-270: NCCIH Natural Product Early Phase Clinical Trial Award (R33\nClinical Trial Required)\n\n");
  expect(out).toMatch(/NIH +PAR-25-271 .*\n {2}shared: .*natural/);
  expect(out).toContain("\nLooked for: ");
  for (const line of out.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  const json = JSON.parse((await fundfeed(["similar", "par 25 270".replaceAll(" ", "-"), "--data", data, "--json"])).out);
  expect(json.similar[0]).toMatchObject({ id: expect.any(String), shared_words: expect.arrayContaining(["natural"]) });
  expect(json.similar[0].sidecar).toBeUndefined();
});

test("names other rounds, and says if nothing is like it", async () => {
  const directory = aDirectory();
  const record = (number: string, year: string, title = "Oceanographic Facilities and Equipment") => ({
    source: { code: "OWN", opportunity_id: number },
    title,
    organization: { agency: "NSF" },
    dates: { posted_at: `${year}-02-03T12:00:00-05:00` },
  });
  const records = [record("PD-20-1", "2020"), record("PD-23-1", "2023"), record("A-1", "2023", "Tribal tourism")];
  await fundfeed(["import", "records", aFile(records), "--data", directory]);
  expect((await fundfeed(["similar", "PD-23-1", "--data", directory])).out).toContain(
    "\nNothing is like it\n\nOther rounds of the same call, by title, agency and number\nearlier  PD-20-1, posted Feb 3, 2020, ",
  );
  const shown = (await fundfeed(["show", "PD-23-1", "--similar", "--data", directory])).out;
  expect(shown).toContain("\nSimilar\nNothing is like it\n\nOther rounds of the same call");
  const json = JSON.parse((await fundfeed(["show", "PD-23-1", "--similar", "--json", "--data", directory])).out);
  expect([json.title, json.rounds.length]).toEqual(["Oceanographic Facilities and Equipment", 1]);
  expect((await fundfeed(["show", "PD-23-1", "--data", directory])).out).not.toContain("Similar");
  expect((await fundfeed(["similar", "A-1", "--data", directory])).out).toContain("\nNothing is like it\n");
  expect((await fundfeed(["similar", "nothing", "--data", directory])).err).toBe(
    "Cannot find what is like nothing: no opportunity has this id or number; look for it with fundfeed find\n",
  );
});
