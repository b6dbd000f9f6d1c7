/** The pages as HTTP: which requests they accept, and what their HTML says. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { HtmlValidate } from "html-validate/node";
import { FORM_HEADER, type PageContext } from "../../src/browse/page.ts";
import { sourcesPage } from "../../src/browse/sources-page.tsx";
import { recordInWords } from "../../src/facts/facts.ts";
import { fieldNames } from "../../src/filter/filter.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { type BrowsedSite, browsed, storeVersions } from "../support/browse.ts";
import { aDirectoryOfTheDemo, SAMPLE_NOW } from "../support/demo-data.ts";
import { aCatalog, aDirectory, DAY, dropScratch } from "../support/imports.ts";
import { sendRaw } from "../support/raw.ts";

setDefaultTimeout(300_000);

let site: BrowsedSite;
let hostile: string;
let won: string;

const SCRIPT = `<script>alert(1)</script>"><img src=x onerror=alert(2)>' onfocus='alert(3)`;
const BIDI = "abc\u202egpj.exe\u2066";

beforeAll(async () => {
  const data = await aDirectoryOfTheDemo();
  const source = { code: "OWN", opportunity_id: "H1", name: SCRIPT, url: "javascript:alert(4)" };
  const [id = ""] = await storeVersions(data, [
    [
      { source, title: SCRIPT, description: `plain ${SCRIPT}`, organization: { agency: SCRIPT, sub_agency: null, issuing_office: BIDI } },
      { source, title: `${SCRIPT} ${BIDI}`, description: `other ${SCRIPT}`, eligibility: { requirements: BIDI, geographic_scope: SCRIPT } },
    ],
  ]);
  hostile = id;
  // On one day in US Eastern time, which is the next one in UTC.
  const dates = { posted_at: null, opens_at: null, closes_at: "2031-03-12T22:00:00-04:00", response_at: null };
  const due = Array.from({ length: 5 }, (_, n) => ({ source: { code: "OWN", opportunity_id: `D${n}` }, title: `Due ${n}`, dates }));
  // A Saturday's last second, after daylight saving time ended.
  due.push({ source: { code: "OWN", opportunity_id: "D5" }, title: "Due 5", dates: { ...dates, closes_at: "2031-11-08T23:59:59-05:00" } });
  await storeVersions(
    data,
    due.map((each) => [each, each]),
  );
  const award = { number: "N0001426C1102", date: "2026-03-12", amount: "3673525.00", awardee: "PRIVATE MACHINES INC" };
  const funding = { amount_min: award.amount, amount_max: award.amount };
  const contract = { source: { code: "OWN", opportunity_id: "W1" }, title: "Servers", funding, award };
  won = (await storeVersions(data, [[contract, contract]]))[0] ?? "";
  site = await browsed(data);
});
afterAll(async () => {
  await site.stop();
  expect(site.failures).toEqual([]);
  dropScratch();
});

const get = (path: string, init: RequestInit = {}) => fetch(site.origin + path, { redirect: "manual", ...init });
const html = async (path: string) => (await get(path)).text();

test("the page of an award says who won, how much and when", async () => {
  const page = await html(`/opportunities/${won}`);
  for (const text of ["PRIVATE MACHINES INC", "N0001426C1102", "$3,673,525", "Mar 12, 2026"]) expect(page).toContain(text);
});

describe("a request", () => {
  test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("with %s is refused", async (method) => {
    const response = await get("/", { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("with the form of a member, which only another process of the server may send, finds no member", async () => {
    expect((await get("/watches", { headers: { [FORM_HEADER]: "no form" } })).status).toBe(404);
  });

  test.each(["/", "/changes", "/deadlines", "/sources", "/nowhere", "/opportunities/x", "/?naics=x"])(
    "for %s gets a page that may load and run nothing else",
    async (path) => {
      const { headers } = await get(path);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect([headers.get("x-content-type-options"), headers.get("referrer-policy")]).toEqual(["nosniff", "no-referrer"]);
      expect(headers.get("access-control-allow-origin")).toBeNull();
    },
  );

  test.each(["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.7", "[::2]", "a b", ""])(
    "with the host %p is refused: a name can be made to lead here",
    async (host) => {
      const port = Number(new URL(site.origin).port);
      expect(await statusFor(port, host)).toBe(421);
    },
  );

  test.each(["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:8081", "localhost."])("with the host %p is accepted", async (host) => {
    expect(await statusFor(Number(new URL(site.origin).port), host)).toBe(200);
  });

  test.each([
    "/nowhere",
    "/sources/",
    "/opportunities/x",
    "/opportunities/%00",
    "/opportunities/%E0%A4%A",
    "/opportunities/00000000-0000-4000-8000-000000000000",
  ])("for %s gets 404", async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

// The pages of the pictures are, too (browser/every-page.thorough.test.ts).
test("the HTML of a page is valid, whatever a source says and whoever asks", async () => {
  const validator = new HtmlValidate({ root: true, extends: ["html-validate:standard", "html-validate:a11y"] });
  for (const path of ["/", "/sources/months?department=other&month=2000-01", `/opportunities/${hostile}`]) {
    const { results } = await validator.validateString(await html(path));
    expect(results.flatMap(({ messages }) => messages.map(({ ruleId, message, selector }) => [path, ruleId, message, selector]))).toEqual(
      [],
    );
  }
});

/** The headers that browsers send for what a page of another site asks for. */
const fetchHeaders = (site: string, mode: string, dest: string, others: Record<string, string> = {}) => ({
  "Sec-Fetch-Site": site,
  "Sec-Fetch-Mode": mode,
  "Sec-Fetch-Dest": dest,
  ...others,
});

describe("a request from a page of another site", () => {
  test.each([
    ["fetch() or a preload", fetchHeaders("cross-site", "no-cors", "empty")],
    ["fetch() with CORS", fetchHeaders("cross-site", "cors", "empty")],
    ["an image", fetchHeaders("cross-site", "no-cors", "image")],
    ["a script", fetchHeaders("cross-site", "no-cors", "script")],
    ["a frame", fetchHeaders("cross-site", "navigate", "iframe")],
    ["an object", fetchHeaders("cross-site", "navigate", "object")],
    ["a speculative load", fetchHeaders("cross-site", "navigate", "document", { "Sec-Purpose": "prefetch;prerender" })],
    ["an image of another port of this machine", fetchHeaders("same-site", "no-cors", "image")],
  ])("is refused if it is %s", async (_, headers) => {
    const response = await get("/?words=quantum", { headers });
    expect([response.status, response.headers.get("cache-control")]).toEqual([403, "no-store"]);
    expect(await response.text()).toBe("A page of another site asked for this by itself. Open the address or follow a link.\n");
  });

  test.each([
    ["a link in a page or a mail", fetchHeaders("cross-site", "navigate", "document", { "Sec-Fetch-User": "?1" })],
    ["a redirect by a script, as chats make it", fetchHeaders("cross-site", "navigate", "document")],
    ["a link in a page of another port", fetchHeaders("same-site", "navigate", "document")],
    ["an address that was typed", fetchHeaders("none", "navigate", "document")],
    ["a link of the pages themselves", fetchHeaders("same-origin", "navigate", "document")],
    ["their style", fetchHeaders("same-origin", "no-cors", "style")],
    ["a program without these headers", {}],
  ])("is accepted if it is %s", async (_, headers) => {
    expect((await get("/?words=quantum", { headers })).status).toBe(200);
  });
});

async function statusFor(port: number, host: string): Promise<number | undefined> {
  return (await sendRaw(port, ["GET /sources HTTP/1.1", `Host: ${host}`, "Connection: close"]))?.status;
}

describe("the first page", () => {
  const counts = (page: string) =>
    [...page.matchAll(/<a href="(\/\?[^"]*status=[^"]*)">([\d,]+)<\/a>/g)].map(([, link = "", count]) => ({
      link: link.replaceAll("&amp;", "&"),
      count: Number(count),
    }));
  const found = async (path: string) => Number(/id="found">([\d,]+) opportunit/.exec(await html(path))?.[1] ?? 0);

  /** How many the page calls open by their sources alone. */
  const hinderedOn = (page: string) => {
    const [, words = ""] = /(?:Of what their sources call open,|their sources call them open:) ([^<]*)/.exec(page) ?? [];
    return [...words.matchAll(/\d+/g)].reduce((sum, [count]) => sum + Number(count), 0);
  };

  test("counts what the pages that its numbers lead to find", async () => {
    const page = await html("/");
    expect(counts(page)).toHaveLength(3);
    for (const { link, count } of counts(page)) expect([link, await found(link)]).toEqual([link, count]);
    const [, open] = /class="count">([\d,]+) opportunities can be applied for/.exec(page) ?? [];
    const hindered = hinderedOn(await html("/?status=open,closing_soon"));
    expect(hindered).toBeGreaterThan(0);
    expect(Number(open)).toBe((await found("/?status=open,closing_soon")) - hindered);
    expect(hinderedOn(page)).toBe(hindered);
    const departments = [...page.matchAll(/<a href="(\/\?agency=[^"]*)">[^<]*<\/a><svg.*?<td>(\d+)<\/td>/g)];
    expect(departments.length).toBeGreaterThan(4);
    for (const [, link = "", count] of departments)
      expect([link, (await found(link.replaceAll("&amp;", "&"))) - hinderedOn(await html(link.replaceAll("&amp;", "&")))]).toEqual([
        link,
        Number(count),
      ]);
  });

  test("lists what is open by next deadline, names sources, and has the form", async () => {
    const page = await html("/");
    const listed = [...page.matchAll(/<strong>[^<]* <time dateTime="([^"]*)"/g)].map(([, at = ""]) => Date.parse(at));
    expect(listed).toHaveLength(20);
    expect(listed).toEqual(listed.toSorted());
    expect(page).not.toContain('class="status over"');
    expect(page).toContain("<span>Grants.gov</span>");
    expect(page).toContain('type="search"');
    expect(page).not.toMatch(/<p class="change">.*: added</);
    expect(page).not.toContain("changed from open to closing soon");
  });

  test("is what an empty form leads to, and leads to all records", async () => {
    expect((await get("/?words=&sort=&naics=")).headers.get("location")).toBe("/");
    const page = await html("/");
    expect(page).toContain('<option value="" selected="">best match (default)</option>');
    expect(await found(/<a href="(\/\?sort=updated)">/.exec(page)?.[1] ?? "")).toBeGreaterThan(400);
    const offered = [...(await html("/?sort=updated")).matchAll(/<option value="(\w*)"( selected="")?>/g)].map(([, code, chosen]) => [
      code,
      chosen !== undefined,
    ]);
    expect(offered).toContainEqual(["", true]);
    expect(offered.map(([code]) => code)).not.toContain("updated"); // It is the default, which is offered as such.
  });
});

describe("the address of a search", () => {
  test("is tidied: what browsers send of an empty form is left out, and lists are joined", async () => {
    const response = await get("/?words=quantum&status=open&status=closed&naics=&agency=+");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/?words=quantum&status=open,closed"]);
  });

  test("has every filter of the command line, with its label and help", async () => {
    const page = await html("/?id=0b0a7f5e-0000-5000-8000-000000000000"); // That field is there only if it has a value.
    for (const name of fieldNames) expect(page).toContain(` name="${name}"`);
    expect(page).toContain("Industry. For example: 5417 for research and development");
  });

  test("leads to what was searched, with the filters in words and the form filled in", async () => {
    const page = await html("/?words=research&status=open,closing_soon&min_amount=100000");
    expect(page).toContain('value="research"');
    expect(page).toContain('value="closing_soon" checked=""');
    expect(page).toContain("status open or closing soon");
    expect(page).toContain("awards of $100,000 or more");
    expect(page).toContain("<mark>");
  });

  test.each([
    ["naics=x", "naics", "It must be 2 to 6 digits; not &quot;x&quot;."],
    ["closes_before=soon", "closes_before", "It must be a time from now such as 30d"],
    ["source=NOPE", "source", "No source has this code"],
    ["status=opne", "status", "did you mean &quot;open&quot;?"],
    ["agency=NHI", "agency", "No agency NHI; did you mean NIH (National Institutes of Health)?"],
    ["words=!!", "words", "It must have letters or digits"],
    ["words=a*+b*", "words", "It must have at least two letters or digits before [*]; not &quot;a[*]&quot;."],
    ["min_amount=500&min_amount=600", "min_amount", "It takes one value, and must be given once."],
    ["words=a&words=&words=b", "words", "It takes one value, and must be given once."],
    ["sort=size", "sort", "It must be one of relevance, closes, posted, updated, amount; not "],
  ])("with %s says beside the field what is wrong, and shows no results", async (query, name, words) => {
    const response = await get(`/?${query}`);
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(page).toMatch(new RegExp(`<p class="error" id="${name}-hint">[^<]*${words.replace(/[?().]/g, "\\$&")}`));
    expect(page).toContain("Correct the marked values");
    expect(page).not.toContain('class="result"');
  });

  test("offers the agencies that have records, and says how one was understood", async () => {
    const page = await html("/?agency=nih,epa");
    expect(page).toMatch(/<datalist id="agency-list">.*<option value="NIH">National Institutes of Health \([\d,]+\)<\/option>/);
    expect(page).toContain("agency: National Institutes of Health (NIH) and its institutes or Environmental Protection Agency (EPA)");
  });

  test("has a date picker beside each field for a time, and takes one of both", async () => {
    const redirected = await get("/?closes_before=&closes_before_date=2026-12-01&words=x");
    expect(redirected.headers.get("location")).toBe("/?closes_before=2026-12-01&words=x");
    expect(await html("/?closes_before=2026-12-01")).toContain('<input type="date" name="closes_before_date" value="2026-12-01"');
    const relative = await html("/?closes_before=30d");
    expect(relative).toContain('name="closes_before" value="30d"');
    expect(relative).toContain('name="closes_before_date" value=""');
    const both = await get("/?closes_before=30d&closes_before_date=2026-12-01");
    expect([both.status, await both.text()]).toEqual([400, expect.stringContaining("It takes one value, and must be given once.")]);
    expect((await get("/?naics_date=2026-12-01")).status).toBe(400);
  });

  test("with an unknown filter names the one meant", async () => {
    expect(await html("/?agencyy=navy")).toContain("There is no filter &quot;agencyy&quot; (did you mean &quot;agency&quot;?)");
  });

  test("goes on to further pages, which have every record once", async () => {
    const total = Number(/(\d+) opportunities</.exec(await html("/?source=GRANTS_GOV"))?.[1]);
    const seen = new Set<string>();
    let path = "/?source=GRANTS_GOV&sort=closes";
    let pages = 0;
    for (; ; pages++) {
      const page = await html(path);
      for (const [, id = ""] of page.matchAll(/<h3><a href="\/opportunities\/([0-9a-f-]{36})"/g)) seen.add(id);
      const [, next] = /href="([^"]*)" rel="next"/.exec(page) ?? [];
      if (next === undefined) break;
      path = next.replaceAll("&amp;", "&");
    }
    expect([seen.size, pages]).toEqual([total, Math.ceil(total / 20) - 1]);
  });

  test("with a cursor of another search begins again", async () => {
    const response = await get("/?status=open&after=abc");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/?status=open"]);
  });
});

describe("what changed", () => {
  const events = (page: string) => [...page.matchAll(/<li><span class="severity (\w+)">/g)].map(([, severity]) => severity);

  test("has every event of the period once, over all pages, and the chart counts the same", async () => {
    let path = "/changes?since=2026-07-04&until=2026-08-04T00:00:00Z&at_least=noise&all_sources=yes";
    const total = Number(/>(\d+) changes by day/.exec(await html(path))?.[1]);
    let seen = 0;
    while (path !== "") {
      const page = await html(path);
      seen += events(page).length;
      path = /href="([^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
    }
    expect(seen).toBe(total);
    expect(total).toBeGreaterThan(100);
  });

  test("begins with what matters, and one line leads to the smaller changes, which the chart counts too", async () => {
    const page = await html("/changes?since=364d&source=GRANTS_GOV&all_sources=yes");
    expect(new Set(events(page))).toEqual(new Set(["critical", "material"]));
    const [, address = "", smaller] = /<a href="([^"]*)">Show ([\d,]+) smaller changes too<\/a>/.exec(page) ?? [];
    const all = await html(address.replaceAll("&amp;", "&"));
    expect(events(all)).toContain("informational");
    const total = (of: string) => Number(/>([\d,]+) changes by week/.exec(of)?.[1]?.replace(",", ""));
    const material = await html("/changes?since=364d&source=GRANTS_GOV&all_sources=yes&at_least=material");
    expect([total(all), total(page)]).toEqual([total(page), total(material) + Number(smaller?.replace(",", ""))]);
    expect(material).not.toContain("too</a>");
  });

  test("of one day begins with the most severe", async () => {
    const page = await html("/changes?since=364d&at_least=informational");
    const ranks = [...page.matchAll(/<section class="day-changes".*?<\/section>/gs)].map(([day]) => {
      const firsts = [...day.matchAll(/<ul class="changes"><li><span class="severity (\w+)">/g)].map(([, severity = ""]) => severity);
      return firsts.map((severity) => ["critical", "material", "informational"].indexOf(severity));
    });
    expect(ranks.length).toBeGreaterThan(2);
    for (const each of ranks) expect(each).toEqual(each.toSorted((left, right) => left - right));
  });

  test("can be filtered by severity, kind and what the opportunity is now", async () => {
    const page = await html("/changes?since=364d&at_least=critical&type=status_changed&status=open&source=GRANTS_GOV");
    expect(new Set(events(page))).toEqual(new Set(["critical"]));
    expect(page).toContain("status changed from closed to open");
    expect(Number(/>(\d+) changes by week/.exec(page)?.[1])).toBe(events(page).length);
  });

  test("begins with a period in which there is something to see", async () => {
    expect(await html("/changes")).toContain('<option value="30d" selected="">');
    expect(await html("/changes?until=2026-02-28")).toContain('<option value="90d" selected="">');
  });

  test.each([
    ["since=1y", "It must be a time ago such as 7d or 12h, "],
    ["until=soon", "It must be a time ago such as 7d or 12h, "],
    ["until=2026-02-31", "It must be a time ago such as 7d or 12h, "],
    ["since=2026-07-01&until=2026-06-01", "It must be earlier than “Until”."],
    ["posted_after=2026-07-01&posted_before=2026-06-01", "It must be earlier than “Posted before”."],
    ["since=tomorrow", "It must be in the past, and this is still to come."],
    ["type=moved", "It must be of opportunity_added, "],
    ["at_least=huge", "It must be one of critical, "],
  ])("with %s says what is wrong", async (query, reason) => {
    const response = await get(`/changes?${query}`);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(reason)]);
  });

  test.each(["abc", "-9999999999999999.1"])("after the impossible position %s begins again", async (position) => {
    const response = await get(`/changes?since=7d&after=${position}`);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/changes?since=7d"]);
  });
});

describe("the deadlines", () => {
  test("of six weeks from the Sunday on are shown by their Eastern day, and the number leads to all of them", async () => {
    const page = await html("/deadlines?from=2031-03-05");
    const days = [...page.matchAll(/<h3><time datetime="(\d{4}-\d\d-\d\d)">/g)].map(([, day]) => day);
    expect([days.length, days[0], days.at(-1)]).toEqual([42, "2031-03-02", "2031-04-12"]);
    expect(page).toContain("5 deadlines from Mar\u00a02,\u00a02031 to Apr\u00a012,\u00a02031");
    const [, day = ""] = /datetime="2031-03-12">([\s\S]*?)<\/ul><p>/.exec(page) ?? [];
    expect([...day.matchAll(/href="\/opportunities\//g)]).toHaveLength(3);

    const [, link = ""] = /<a href="([^"]*)">2 more</.exec(page) ?? [];
    expect(await html(link.replaceAll("&amp;", "&"))).toContain(">5 opportunities<");
  });

  test("can be filtered, and leave out what is closed unless it is asked for", async () => {
    const count = async (query: string) => Number(/(\d+) deadlines? from/.exec(await html(`/deadlines?${query}`))?.[1]);
    const [all, nih] = await Promise.all([count("from=2026-08-05"), count("from=2026-08-05&agency=national+institutes")]);
    expect(nih).toBeGreaterThan(0);
    expect(nih).toBeLessThan(all);
    const [accepting, closed] = await Promise.all([count("from=2025-09-07"), count("from=2025-09-07&status=closed")]);
    expect(accepting).toBe(1); // Its source calls it open, and its due dates have passed.
    expect(closed).toBeGreaterThan(0);
  });

  test("are counted by Eastern weeks, as bars and as links to each week", async () => {
    const weeks = async (from: string) => {
      const page = await html(`/deadlines?from=${from}`);
      const rows = [...page.matchAll(/<a href="\/deadlines\?from=([\d-]+)">[^<]*<\/a><\/th><td>(\d+)</g)];
      expect(rows).toHaveLength(26);
      expect([...page.matchAll(/<rect [^>]*class="(some|other|none)"/g)]).toHaveLength(26);
      return rows.flatMap(([, date, count]) => (count === "0" ? [] : [[date, count]]));
    };
    expect(await weeks("2031-03-05")).toEqual([["2031-03-09", "5"]]);
    expect(await weeks("2031-10-01")).toEqual([["2031-11-02", "1"]]);
    expect(await html("/deadlines?from=2031-10-01")).toContain("Deadlines per week, Sep 28, 2031 to Mar 27, 2032.");
  });

  test.each(["9999-12-31", "0001-01-01"])("take a date at the end of the calendar: %s", async (from) => {
    expect((await get(`/deadlines?from=${from}`)).status).toBe(200);
  });

  test("refuse a date that does not exist", async () => {
    expect((await get("/deadlines?from=2026-02-31")).status).toBe(400);
  });
});

test("the quality of the data is what the command reports", async () => {
  expect(await html("/sources")).toContain('href="/sources/quality"');
  const page = await html("/sources/quality");
  expect(page).toContain("<h1>Quality of the data</h1>");
  expect(page).toContain("<h2>Grants.gov</h2>");
  expect(page).toMatch(/<th scope="row"><code>dates\.closes_at<\/code><\/th><td>\d+<\/td><td>[\d.]+%<\/td>/);
});

describe("opportunities by month", () => {
  const rowOf = (page: string, name: string) =>
    new RegExp(`<th scope="row"><a [^>]*>${name}</a></th><td>([^<]*)</td><td>([^<]*)</td><td>([^<]*)</td>`).exec(page)?.slice(1);

  test("have the number that sources call open now, and what was before", async () => {
    expect(await html("/sources")).toContain('href="/sources/months"');
    const page = await html("/sources/months");
    expect(Number(rowOf(page, monthOf(SAMPLE_NOW))?.[1])).toBe(
      Number(/id="found">(\d+) opp/.exec(await html("/?status=open,closing_soon"))?.[1]),
    );
    expect(page.match(/<svg [^>]*role="img"/g)).toHaveLength(3);
  });

  test("are unknown before the first import", async () => {
    const data = aDirectory();
    const record = { source: { code: "OWN", opportunity_id: "1" }, status: "open" };
    await storeVersions(data, [[record, record]]);
    const other = await browsed(data);
    const page = await (await fetch(`${other.origin}/sources/months`)).text();
    await other.stop();
    const before = new Date(SAMPLE_NOW).setUTCDate(0);
    expect(page).toContain(`What was open before ${monthOf(SAMPLE_NOW)} is not known: nothing had been imported.`);
    expect(rowOf(page, monthOf(SAMPLE_NOW))).toEqual(["0", "1", "0"]);
    expect(rowOf(page, monthOf(before))).toEqual(["0", "unknown", "unknown"]);
  });

  test("lead from a month to its departments, and from a department to its months", async () => {
    const page = await html("/sources/months?month=2026-07");
    expect(page).toContain("Departments in Jul 2026");
    const of = rowOf(page, "National Science Foundation");
    expect(page).toContain('href="/sources/months?department=NSF&amp;month=2026-07"');
    const nsf = await html("/sources/months?department=NSF&month=2026-07");
    expect(nsf).toContain('<h2 id="by-month">National Science Foundation</h2>');
    expect(of).toHaveLength(3);
    expect(rowOf(nsf, "Jul 2026")).toEqual(of);
    expect(await html("/sources/months?department=NOBODY&month=x")).toContain("All departments");
  });

  const monthOf = (at: number) =>
    new Date(at).toLocaleDateString("en-US", { month: "short", year: "numeric", timeZone: "America/New_York" });
});

describe("the sources", () => {
  test("say how many records they have, how many are open, and how fresh they are", async () => {
    const page = await html("/sources");
    for (const text of ["Grants.gov", "SAM.gov", "Last import", "Newest posting", "records changed last in these 26 weeks"])
      expect(page).toContain(text);
    expect(page).toMatch(/<dt>Records<\/dt><dd>\d{3}<\/dd>/);
  });
});

test("the age of an import that was dated ahead of the clock is unknown", async () => {
  const { db, clock, take } = await aCatalog();
  await take([{ source: { code: "A", opportunity_id: "1" }, title: "T" }]);
  const page = (await sourcesPage({ catalog: db, now: clock.now - 500 * DAY } as PageContext)) as { body: unknown };
  expect(`${page.body}`).toContain("<dt>Last import</dt><dd>unknown</dd>");
  await db.close();
});

describe("the page of an opportunity", () => {
  /** An opportunity of the sample whose deadline changed. */
  const LEGACY = "aad1016c-ae30-50c9-9f21-d86453bfc046";

  test("has dates, whom to ask, the text, the history and codes in this order, which is that of a phone", async () => {
    const page = await html(`/opportunities/${LEGACY}`);
    const headings = [...page.matchAll(/<h2[^>]*>([^<]*)</g)].map(([, heading]) => heading);
    const expected = ["Dates", "Who offers it", "What it offers", "Description", "Eligibility", "History", "For whom"];
    expect(headings.filter((heading) => expected.includes(`${heading}`))).toEqual(expected);
  });

  test("shows the deadline that moved", async () => {
    const page = await html(`/opportunities/${LEGACY}`);
    expect(page).toMatch(/Deadline until Jul 26, 2026<\/bdi><br\/><s><time dateTime="2026-06-20T23:59:59-04:00">/);
  });

  test("names what is like it, with the words that both have", async () => {
    const page = await html(`/opportunities/${LEGACY}`);
    const [similar = ""] = page.split('<h2 id="similar">')[1]?.split("</section>") ?? [];
    expect(similar).toMatch(/<a href="\/opportunities\/[0-9a-f-]{36}">/);
    expect(similar).toMatch(/Shared words: \w+, \w+/);
    expect(similar).not.toContain(LEGACY);
  });

  test("leaves the direction of text to the text", async () => {
    expect(await html(`/opportunities/${hostile}`)).toContain('<h1 dir="auto">');
  });
});

describe("the records related to an opportunity", () => {
  test.each([
    ["SIMPLER_GRANTS_GOV", "fb25fde0-4dd9-4ae7-af4f-ee66854eca36", "canonical_id"],
    ["NSF", "5464", "canonical_id"],
    ["DARPA", "5381", "parent_id"],
  ] as const)("of %s %s are shown with their source and a link: %s", async (source, upstream, relation) => {
    const db = new Database(join(site.data, "catalog.db"), { readonly: true });
    const documents = db.query<{ document: Uint8Array }, []>("select document from opportunities").all();
    db.close();
    const all = documents.map(({ document }) => JSON.parse(new TextDecoder().decode(document)) as Opportunity);
    const one = all.find((each) => each.source.code === source && each.source.opportunity_id === upstream);
    const other = all.find(({ id }) => id === one?.relationships[relation]);
    if (one === undefined || other === undefined) throw new Error("The sample has no such records");

    const [words, wordsBack] = relation === "parent_id" ? ["Belongs to: ", ""] : ["Canonical record: ", "The same opportunity: "];
    const record = (each: Opportunity) => `${each.title} ${recordInWords(each)}`;
    expect(await relatedTo(one.id)).toContainEqual({
      text: words + record(other),
      link: `/opportunities/${other.id}`,
    });
    const back = { text: wordsBack + record(one), link: `/opportunities/${one.id}` };
    expect(await relatedTo(other.id)).toContainEqual(back);
  });

  test("are left out if there are none", async () => {
    expect(await html(`/opportunities/${hostile}`)).not.toContain("Related records");
  });
});

async function relatedTo(id: string): Promise<{ text: string; link: string | null }[]> {
  const related: { text: string; link: string | null }[] = [];
  const rewriter = new HTMLRewriter()
    .on(".linked li", { element: () => void related.push({ text: "", link: null }) })
    .on(".linked li", {
      text: ({ text }) => {
        const last = related.at(-1);
        if (last !== undefined) last.text += text;
      },
    })
    .on(".linked a", {
      element: (element) => {
        const last = related.at(-1);
        if (last !== undefined) last.link = element.getAttribute("href");
      },
    });
  rewriter.transform(await html(`/opportunities/${id}`));
  return related.map(({ text, link }) => ({ text: text.replaceAll("&amp;", "&").replaceAll("&#39;", "'"), link }));
}

describe("text from upstreams", () => {
  test("is only ever text", async () => {
    for (const path of [
      `/opportunities/${hostile}`,
      "/?source=OWN,OTHER",
      `/?words=${encodeURIComponent(SCRIPT)}`,
      `/?agency=${encodeURIComponent(SCRIPT)}`,
      "/changes?source=OTHER",
    ]) {
      const page = await html(path);
      expect(page).toContain("&lt;script&gt;");
      expect(page).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      const { names, attributes, links } = elementsOf(page);
      for (const name of ["script", "style", "iframe", "object", "base"]) expect(names).not.toContain(name);
      expect(attributes.filter((name) => name.startsWith("on") || name === "style")).toEqual([]);
      expect(links.filter((link) => !/^(\/|#|https?:\/\/)/.test(link))).toEqual([]);
    }
  });

  test("becomes a link only if it is an address of the web", async () => {
    const page = await html(`/opportunities/${hostile}`);
    expect(page).not.toContain('href="javascript');
    expect(page).toContain("javascript:alert(4)");
    expect(page).toContain("abc\\u202egpj.exe");
  });
});

/** What a browser would read from the HTML. */
function elementsOf(page: string): { names: string[]; attributes: string[]; links: string[] } {
  const [names, attributes, links]: string[][] = [[], [], []];
  new HTMLRewriter()
    .on("*", {
      element: (element) => {
        names?.push(element.tagName);
        for (const [name, value] of element.attributes) {
          attributes?.push(name);
          if (["href", "src", "action"].includes(name)) links?.push(value);
        }
      },
    })
    .transform(page);
  return { names: names ?? [], attributes: attributes ?? [], links: links ?? [] };
}

test("the page to subscribe opens a calendar without a script, and its only script is the server's own", async () => {
  const response = await get("/subscribe?words=coast&status=open");
  const page = await response.text();
  expect(page).toContain(`href="${site.origin.replace("http:", "webcal:")}/find.ics?status=open&amp;words=coast"`);
  for (const program of ["Google Calendar", "Outlook", "Apple Calendar"]) expect(page).toContain(`<dt>${program}</dt>`);
  const buttons = [...page.matchAll(/<button [^>]*data-copies[^>]*>/g)].map(([button]) => button);
  expect(buttons.map((button) => button.includes(" hidden"))).toEqual([true, true, true]);
  const [, script = ""] = /<script src="(\/copy-[0-9a-f]{12}\.js)" defer/.exec(page) ?? [];
  expect((await get(script)).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toEndWith("frame-ancestors 'none'; script-src 'self'");
  expect((await get("/")).headers.get("content-security-policy")).not.toContain("script-src");
});
