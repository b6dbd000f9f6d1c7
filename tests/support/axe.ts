/** axe, which finds what people with a disability cannot use, for pages in Chromium. */
import { readFileSync } from "node:fs";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** Its source, minified: Chromium reads it again on each page. */
export const AXE = readFileSync(Bun.fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Drops the third and later ones of rows that have the same elements and classes, and texts at the same places. */
export const DROP_ROWS = `
  const times = {};
  for (const row of document.querySelectorAll("tr, li, option, .day")) {
    const shape = row.parentElement.className + row.outerHTML.replace(/ (?!class)[\\w-]+="[^"]*"/g, "").replace(/>\\s*[^<\\s][^<]*/g, ">text");
    times[shape] = (times[shape] ?? 0) + 1;
    if (times[shape] > 2) row.remove();
  }
`;

/** What axe finds on a page that has its source, as rule and element. */
export async function findingsOf(page: Page, rules: object): Promise<string[]> {
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document, ${JSON.stringify({ ...rules, resultTypes: ["violations"] })})`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
