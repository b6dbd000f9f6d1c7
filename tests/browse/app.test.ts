/** The pages as HTTP: which requests they accept, and what their HTML says. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { fieldNames } from "../../src/filter/filter.ts";
import { aSampleDirectory, type BrowsedSite, browsed, storeVersions } from "../support/browse.ts";
import { dropScratch } from "../support/imports.ts";
import { sendRaw } from "../support/raw.ts";

setDefaultTimeout(300_000);

let site: BrowsedSite;
let hostile: string;

const SCRIPT = `<script>alert(1)</script>"><img src=x onerror=alert(2)>' onfocus='alert(3)`;
const BIDI = "abc\u202egpj.exe\u2066";

beforeAll(async () => {
  const data = await aSampleDirectory();
  const source = { code: "OWN", opportunity_id: "H1", name: SCRIPT, url: "javascript:alert(4)" };
  const [id = ""] = await storeVersions(data, [
    [
      { source, title: SCRIPT, description: `plain ${SCRIPT}`, organization: { agency: SCRIPT, sub_agency: null, issuing_office: BIDI } },
      { source, title: `${SCRIPT} ${BIDI}`, description: `other ${SCRIPT}`, eligibility: { requirements: BIDI, geographic_scope: SCRIPT } },
    ],
  ]);
  hostile = id;
  site = await browsed(data);
});
afterAll(async () => {
  await site.stop();
  expect(site.failures).toEqual([]);
  dropScratch();
});

const get = (path: string, init: RequestInit = {}) => fetch(site.origin + path, { redirect: "manual", ...init });
const html = async (path: string) => (await get(path)).text();

describe("a request", () => {
  test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("with %s is refused", async (method) => {
    const response = await get("/", { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("with HEAD gets the headers alone", async () => {
    const response = await get("/sources", { method: "HEAD" });
    expect([response.status, await response.text(), response.headers.get("content-type")]).toEqual([200, "", "text/html; charset=utf-8"]);
  });

  test.each(["/", "/sources", "/nowhere", "/opportunities/x", "/?naics=x"])(
    "for %s gets a page that may load and run nothing else",
    async (path) => {
      const { headers } = await get(path);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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

  test.each(["/nowhere", "/opportunities/x", "/opportunities/00000000-0000-4000-8000-000000000000", "/sources/"])(
    "for %s gets 404",
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );
});

async function statusFor(port: number, host: string): Promise<number | undefined> {
  return (await sendRaw(port, ["GET /sources HTTP/1.1", `Host: ${host}`, "Connection: close"]))?.status;
}

describe("the address of a search", () => {
  test("is tidied: what browsers send of an empty form is left out, and lists are joined", async () => {
    const response = await get("/?words=quantum&status=open&status=closed&naics=&agency=+");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/?words=quantum&status=open,closed"]);
  });

  test("has every filter of the command line, with its label and help", async () => {
    const page = await html("/");
    for (const name of fieldNames) expect(page).toContain(` name="${name}"`);
    expect(page).toContain("NAICS code begins with one of these: 5417");
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
    ["words=!!", "words", "It must have letters or digits"],
    ["sort=size", "sort", "This value is not one of those offered."],
  ])("with %s says beside the field what is wrong, and shows no results", async (query, name, words) => {
    const response = await get(`/?${query}`);
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(page).toMatch(new RegExp(`<p class="error" id="${name}-hint">[^<]*${words.replace(/[?().]/g, "\\$&")}`));
    expect(page).toContain("Correct the marked values");
    expect(page).not.toContain('class="result"');
  });

  test("with an unknown filter names the one meant", async () => {
    expect(await html("/?agencyy=navy")).toContain("There is no filter &quot;agencyy&quot; (did you mean &quot;agency&quot;?)");
  });

  test("goes on to further pages, which have every record once", async () => {
    const seen = new Set<string>();
    let path = "/?source=GRANTS_GOV&sort=closes";
    let pages = 0;
    for (; ; pages++) {
      const page = await html(path);
      for (const [, id = ""] of page.matchAll(/href="\/opportunities\/([0-9a-f-]{36})"/g)) seen.add(id);
      const [, next] = /href="([^"]*)" rel="next"/.exec(page) ?? [];
      if (next === undefined) break;
      path = next.replaceAll("&amp;", "&");
    }
    expect([seen.size, pages]).toEqual([223, 11]);
  });

  test("with a cursor of another search begins again", async () => {
    const response = await get("/?status=open&after=abc");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/?status=open"]);
  });
});

describe("text from upstreams", () => {
  test("is only ever text", async () => {
    for (const path of [
      `/opportunities/${hostile}`,
      "/?source=OWN,OTHER",
      `/?words=${encodeURIComponent(SCRIPT)}`,
      `/?agency=${encodeURIComponent(SCRIPT)}`,
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
