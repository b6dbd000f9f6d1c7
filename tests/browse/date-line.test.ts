/** The line of time and the list of dates of an opportunity. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { Dates } from "../../src/browse/date-line.tsx";
import { DueLine } from "../../src/browse/marks.tsx";
import { readHistory } from "../../src/events/history.ts";
import { type MovedDeadline, movedDeadlines } from "../../src/events/moved-deadlines.ts";
import type { Draft } from "../../src/import/format.ts";
import { dueOf } from "../../src/opportunities/due.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const NOW = Date.parse("2026-03-01T12:00:00Z");

/** The record as it is after all its versions, a day apart, and its former deadlines. */
async function stored(...versions: Partial<Draft>[]): Promise<{ opportunity: WholeOpportunity; moved: MovedDeadline[] }> {
  const db = openCatalog(aDirectory(), NOW);
  let [id = ""]: string[] = [];
  for (const [n, fields] of versions.entries())
    [id = ""] = await storeRecords(db, [anOpportunity(fields)], NOW - (versions.length - n) * 86_400_000);
  const [opportunity] = await readOpportunities(db, [id], NOW);
  if (opportunity === undefined) throw new Error("There is no such record");
  const moved = movedDeadlines(opportunity, await readHistory(db, id));
  await db.close();
  return { opportunity, moved };
}

const dates = (closes_at: string | null, others: object = {}) => ({
  dates: { posted_at: null, opens_at: null, closes_at, response_at: closes_at, ...others },
});

const section = ({ opportunity, moved }: Awaited<ReturnType<typeof stored>>) =>
  Dates({ opportunity, due: dueOf(opportunity, NOW, []), moved, now: NOW });

/** The section as HTML, with the signs on the line from left to right, and the texts of the list. */
async function shown(...versions: Partial<Draft>[]) {
  const html = String(section(await stored(...versions)));
  const signs = [...html.matchAll(/<svg x="([\d.]+)%"[^>]*><path class="sign (\w+)/g)]
    .map(([, x, sign]) => ({ x: Number(x), sign: `${sign}` }))
    .sort((left, right) => left.x - right.x);
  const items = [...html.matchAll(/<li>.*?<\/li>/g)].map(([item]) =>
    item
      .replaceAll(/<[^>]+>/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  const today = Number(/<text class="now" x="([\d.]+)%"/.exec(html)?.[1]);
  return { html, signs, items, today, label: /aria-label="([^"]*)"/.exec(html)?.[1] };
}

describe("the dates of an opportunity", () => {
  test("are on a line with today, and a deadline that moved stands where it was", async () => {
    const opens = { opens_at: "2026-02-01T09:00:00-05:00", posted_at: "2026-01-15T00:00:00-05:00" };
    const { signs, items, today, label, html } = await shown(
      dates("2026-03-03T17:00:00-05:00", opens),
      dates("2026-03-10T17:00:00-04:00", opens),
    );
    expect(signs.map(({ sign }) => sign)).toEqual(["posted", "opens", "moved", "due"]);
    expect(today).toBeGreaterThan(signs[1]?.x ?? 100);
    expect(today).toBeLessThan(signs[2]?.x ?? 0);
    expect(items).toEqual([
      "Posted Jan 15, 2026 45 days ago",
      "Opens Feb 1, 2026, 9:00 AM ET 27 days ago",
      "Deadline until Feb 28, 2026 Mar 3, 2026, 5:00 PM ET",
      "Due Mar 10, 2026, 5:00 PM ET in 9 days",
    ]);
    expect(html).toContain("<s><time");
    expect(label).toBe(
      "Line of time, Jan 15, 2026 to Mar 10, 2026, with 1 due date and 1 deadline that moved. The list below has all dates.",
    );
    const [, from, to] = /<line class="move" x1="([\d.]+)%" [^>]*x2="([\d.]+)%"/.exec(html) ?? [];
    expect([Number(from), Number(to)]).toEqual([signs[2]?.x ?? 0, signs[3]?.x ?? 0]);
  });

  test("have no dotted line to a date that is not shown any more", async () => {
    const { opportunity } = await stored(dates("2026-03-10T17:00:00-04:00"));
    const moved = [{ at: "2026-03-03T17:00:00-05:00", until: "2026-02-20T00:00:00.000Z", to: "2027-01-01T00:00:00Z" }];
    const html = String(section({ opportunity, moved }));
    expect(html).toContain('class="sign moved"');
    expect(html).not.toContain('class="move"');
  });

  test("are shown in the zone in which they were published, and placed by their instants", async () => {
    const { signs, items } = await shown(dates("2026-03-10T23:30:00-10:00", { response_at: "2026-03-11T05:00:00+01:00" }));
    expect(items).toEqual(["Due: responses Mar 11, 2026, 5:00 AM UTC+1 in 9 days", "Due: closing Mar 10, 2026, 11:30 PM UTC-10 in 9 days"]);
    expect(signs).toHaveLength(2);
  });

  test("are left out if there are none: the line under the title says so", async () => {
    expect((await shown(dates(null))).html).toBe("null");
  });

  test("say that one has closed only of what cannot be applied for any more", async () => {
    const head = async (status: string) => {
      const { opportunity } = await stored({ ...dates("2026-02-27T12:00:00Z"), status });
      return /<strong>(.*?) </.exec(String(DueLine({ due: dueOf(opportunity, NOW, []), now: NOW })))?.[1];
    };
    expect([await head("closed"), await head("forecast")]).toEqual(["Closed", "Was expected"]);
  });

  test("are a line also if there is only one, or if it is today", async () => {
    for (const at of ["2026-09-01T12:00:00Z", "2026-03-01T12:00:00Z", "1999-01-01T12:00:00Z"]) {
      const { signs, today, html } = await shown(dates(at));
      expect([signs.length, Number.isNaN(today), html.includes("NaN")]).toEqual([1, false, false]);
    }
  });

  test("are in order, and folded, if there are forty due dates without order", async () => {
    const due_dates = Array.from({ length: 40 }, (_, n) => ({
      at: new Date(Date.UTC(2026, (n * 7) % 40, 5, 22)).toISOString(),
      words: n === 3 ? "موعد نهائي" : null,
    }));
    const { signs, items, html } = await shown({ ...dates(due_dates[0]?.at ?? null), due_dates });
    expect(signs).toHaveLength(40);
    expect(signs.map(({ x }) => x)).toEqual([...new Set(signs.map(({ x }) => x))]);
    const [folded = ""] = /<details>.*<\/details>/s.exec(html) ?? [];
    expect(folded).toContain("<summary>All 40 dates</summary>");
    expect(items).toHaveLength(42); // The next and the last one stand before.
    expect(items[0]).toBe("Due Mar 5, 2026, 10:00 PM UTC in 4 days");
    expect(folded.indexOf("2026-01-05")).toBeLessThan(folded.indexOf("2026-02-05"));
    expect(html).toContain('<bdi class="quiet">Due: موعد نهائي</bdi>');
  });

  test("leave room for what is near if one is far away", async () => {
    const near = { posted_at: "2026-02-20T00:00:00Z", opens_at: "2026-03-10T00:00:00Z" };
    const { signs, html } = await shown(dates("2099-12-31T00:00:00Z", near));
    expect(signs.map(({ sign }) => sign)).toEqual(["posted", "opens", "due"]);
    expect((signs[1]?.x ?? 0) - (signs[0]?.x ?? 0)).toBeGreaterThan(15);
    expect(html).toContain("The longest stretch without a date is shortened.");
  });
});
