/** axe, which finds what people with a disability cannot use, for pages in Chromium. */
import { readFileSync } from "node:fs";

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
