/** Pages, and files for programs, as of an earlier instant are those that were served at that instant, over the real files. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { datedFiles, datedGroups } from "../support/dated-files.ts";
import { aDirectory, DAY, dropScratch } from "../support/imports.ts";
import { EXCERPTS } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // A busy machine takes its time.

afterAll(dropScratch);

const paths = [
  "/",
  "/?sort=updated",
  "/?words=research",
  "/?words=research+for+technology&status=open,closing_soon",
  "/?words=science&all_sources=yes&sort=updated",
  "/?closes_after=0d&sort=closes",
  "/?agency=NSF,DOD,NASA&sort=posted",
  "/?words=zebra&source=NSF",
  "/deadlines",
  "/deadlines?words=research&from=2026-08-03",
  "/sources",
  "/find.json?words=research&limit=7",
  "/find.csv?sort=amount&limit=50",
];

/** Pages of a list that are read. */
const PAGES = 3;

/** What is served at these paths and at the next pages of each, without what says that it is of the past. */
async function served(data: string, now: number, asOf?: number): Promise<Record<string, string>> {
  rmSync(join(data, "search.db"), { force: true }); // The words of an index that grew weigh otherwise.
  const site = await browsed(data, now);
  const texts: Record<string, string> = {};
  for (const path of paths) {
    const past = asOf === undefined ? "" : `${path.includes("?") ? "&" : "?"}as_of=${new Date(asOf).toISOString()}`;
    let next: string | undefined = path + past;
    for (let n = 0; n < PAGES && next !== undefined; n++) {
      let response: Response = await fetch(site.origin + next, { redirect: "manual" });
      // The earlier instant is read beside the pages. On a busy machine it is not ready at once.
      for (; response.status === 503; response = await fetch(site.origin + next, { redirect: "manual" })) await Bun.sleep(20);
      const text: string = await response.text();
      expect([next, response.status]).toEqual([next, 200]);
      if (asOf !== undefined && !/csv/.test(next)) expect(text).toMatch(/<p class="past" role="note">As it was on |"as_of":/);
      texts[`${path} ${n}`] = withoutPast(text);
      const link: string | undefined = /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
      next = link ?? /<(.*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    }
  }
  await site.stop();
  expect(site.failures).toEqual([]);
  return texts;
}

function withoutPast(text: string): string {
  return text
    .replace(/<p class="past" role="note">.*?<\/p>/s, "")
    .replace(/<input id="as_of"[^>]*>/, "")
    .replace("<li>Only as of now:</li>", "")
    .replace(/,"as_of":"[^"]*"/, "")
    .replace(/as_of=[^&"]*(&amp;)?/g, "")
    .replace(/(\?|&amp;)"/g, '"');
}

/** Tags begin lines, so that a difference can be read. */
function linesOf(path: string, text = ""): string[] {
  return [path, ...text.split(/(?=<\w)/)];
}

describe.each(Object.keys(datedGroups))("excerpts of %s", (group) => {
  test("are shown as they were shown then", async () => {
    const data = aDirectory();
    const files = datedFiles(EXCERPTS, group);
    const every = Math.ceil(files.length / 3);
    const made: { at: number; texts: Record<string, string> }[] = [];
    for (const [n, { name, path, at }] of files.entries()) {
      const { code, err } = await fundfeed(["import", name, path, "--data", data, "--rejects", "/dev/null"], {}, () => at);
      expect([0, 3].includes(code) ? "" : `${path}: ${err}`).toBe(""); // 3: some records were rejected.
      expect((await fundfeed(["refresh", "--data", data], {}, () => at + HOUR)).code).toBe(0); // As a running server does.
      if (n % every === every - 1 || n === 0) made.push({ at: at + HOUR, texts: await served(data, at + HOUR) });
    }
    const later = (files.at(-1)?.at ?? 0) + 400 * DAY;
    for (const { at, texts } of made) {
      const now = await served(data, later, at);
      for (const [path, text] of Object.entries(texts)) expect(linesOf(path, now[path])).toEqual(linesOf(path, text));
    }
    expect(new Set(made.map(({ texts }) => texts["/ 0"])).size).toBe(made.length);
  });
});
