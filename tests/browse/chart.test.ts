/** The chart of changes: its scale, and what it says of bars that are cut. */
import { expect, test } from "bun:test";
import { SeverityChart } from "../../src/browse/chart.tsx";

const none = { critical: 0, material: 0, informational: 0, cosmetic: 0, noise: 0, unknown: 0 };

/** The chart of days with so many changes, as HTML, with the heights of its bars. */
function chartOf(...totals: number[]) {
  const buckets = totals.map((total, n) => ({ name: `day ${n}`, address: "/", counts: { ...none, material: total } }));
  const html = String(SeverityChart({ buckets, title: "Changes" }));
  const heights = [...html.matchAll(/<rect x="[^"]*" y="[^"]*" width="8" height="([\d.]+)"/g)].map(([, height]) => Number(height));
  return { html, heights, gaps: [...html.matchAll(/class="gap"/g)].length, top: /class="most"[^>]*>([\d,]+)</.exec(html)?.[1] };
}

test("the highest bar fills the chart", () => {
  const { heights, gaps, top, html } = chartOf(10, 20, 30, 40, 60);
  expect([heights, gaps, top]).toEqual([[20, 40, 60, 80, 120], 0, "60"]);
  expect(html).not.toContain("cut");
});

test("a day of an import that would flatten the others is cut, with a gap and its number", () => {
  const { heights, gaps, top, html } = chartOf(10, 20, 9000, 30, 15, 20);
  expect([heights, gaps, top]).toEqual([[20, 40, 120, 60, 30, 40], 1, "60"]);
  expect(html).toContain("The bar with a gap is cut; the highest is 9,000, day 2");
  expect(html).toContain("<td>9,000</td>");
});

test("few bars are never cut", () => {
  expect(chartOf(1, 0, 0, 5000).gaps).toBe(0);
  expect(chartOf(0, 0).gaps).toBe(0);
});
