/** `pull sbir-gov` while the API is not available: the topics that the site's pages offer for download. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { upstreams } from "../../src/pull/upstreams.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, contentsOf, documentsOf, dropScratch } from "../support/imports.ts";
import { realFile, realJson } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";
import { type Asked, aPuller, play } from "./upstream.ts";

afterAll(dropScratch);

const solicitations = realJson<object[]>("sbir-gov/solicitations-20250914.json");
const csv = realFile("sbir-gov/topics_search-20250714.csv");
/** As a Drupal site writes its forms: another form first, and each with its own id. */
const PAGE = `<form id="search-block"><input data-drupal-selector="x" type="hidden" name="form_build_id" value="form-other" />
<input type="hidden" name="form_id" value="search_block" /></form><form id="topics-search" method="post">
<input data-drupal-selector="y" type="hidden" name="form_build_id" value="form-A1_b-C" />
<input data-drupal-selector="z" type="hidden" name="form_id" value="topics_search" /></form>`;
const html = (text: string, headers = {}) => new Response(text, { headers: { "content-type": "text/html; charset=UTF-8", ...headers } });
const down = () =>
  Response.json({ Code: "TooManyRequestsError", Message: "The SBIR Public API is not available at this time." }, { status: 429 });
const working = ({ query }: Asked) => Response.json(query.get("start") === "0" ? solicitations : []);

/** The site; `answer` comes first. */
function site(answer: (asked: Asked) => Response | undefined = () => undefined) {
  return play(
    (asked) => answer(asked) ?? (asked.method === "POST" ? new Response(csv, { headers: { "content-type": "text/csv" } }) : html(PAGE)),
  );
}

describe("pull sbir-gov without its API", () => {
  test("imports the open topics of the site, and says so", async () => {
    const [api, pages] = [play(down), site()];
    const puller = aPuller("sbir-gov");

    const outcome = await puller.turn(api.base, { fallback: new URL(pages.base) });

    const reason = `Cannot fetch ${api.base}solicitations: it returned 429 (tried 5 times); the open topics of ${pages.base} were imported instead`;
    expect(outcome).toMatchObject({ read: 17, rejected: 0, removed: 0, instead_of: reason });
    expect(outcome?.added).toBeGreaterThan(10);
    expect(puller.told).toContain(`sbir-gov: ${reason}`);
    expect(pages.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["GET", "/robots.txt", undefined],
      ["GET", "/topics", undefined],
      ["POST", "/topics", "form_id=topics_search&status=Open&op=Download&form_build_id=form-A1_b-C"],
    ]);
    expect(pages.asked[2]?.headers.get("content-type")).toBe("application/x-www-form-urlencoded");
  });

  test.each<[string, (asked: Asked) => Response | undefined]>([
    ["a message with 200", () => Response.json({ message: "maintenance" })],
    ["a page with 200", () => html("<h1>Maintenance</h1>")],
    ["a refusal", () => new Response("", { status: 403 })],
    ["nothing", () => undefined],
    ["a failure after its first page", (asked) => (asked.query.get("start") === "0" ? working(asked) : down())],
  ])("does so if the API returns %s, and imports nothing of it", async (_, answer) => {
    const puller = aPuller("sbir-gov");
    const keep = aDirectory();
    const outcome = await puller.turn(play(answer).base, { fallback: new URL(site().base), keep });
    expect(outcome).toMatchObject({ read: 17, instead_of: expect.stringContaining("were imported instead") });
    expect(readdirSync(join(keep, readdirSync(keep)[0] ?? ""))).toEqual(["topics.csv"]);
  });

  test("changes nothing the second time, and removes and shortens no record of the API", async () => {
    const puller = aPuller("sbir-gov");
    const fallback = new URL(site().base);
    const api = await puller.turn(play(working).base, { fallback });
    expect(api).not.toHaveProperty("instead_of");
    const before = new Map((await documentsOf(puller.db)).map((document) => [document.id, document]));

    const first = await puller.turn(play(down).base, { fallback });
    expect(first).toMatchObject({ removed: 0, rejected: 0 });
    const after = await documentsOf(puller.db);
    for (const { id, program } of before.values()) expect(after.find((each) => each.id === id)?.program).toEqual(program);

    const contents = await contentsOf(puller.db);
    expect(await puller.turn(play(down).base, { fallback })).toMatchObject({ added: 0, changed: 0, removed: 0, events: 0 });
    expect(await contentsOf(puller.db)).toBe(contents);
  });

  test("is never a snapshot", async () => {
    const upstream = upstreams.find(({ name }) => name === "sbir-gov");
    if (upstream === undefined) throw new Error("There is no upstream sbir-gov");
    const puller = aPuller("sbir-gov");
    const [given, fallback] = [{ upstream: { ...upstream, snapshot: true } }, new URL(site().base)];
    await puller.turn(play(working).base, { ...given, fallback });
    expect(await puller.turn(play(down).base, { ...given, fallback })).toMatchObject({ removed: 0 });
    expect(await puller.db.all(rawSql("select snapshot from imports order by id"))).toEqual([{ snapshot: 1 }, { snapshot: 0 }]);
  });

  test.each<[string, (asked: Asked) => Response | undefined, string]>([
    ["is down as well", () => new Response("", { status: 503 }), "it returned 503"],
    ["has no search", () => html("<h1>Maintenance</h1>"), "it has no search of topics"],
    ["returns a page in place of the file", () => html(PAGE), "it has the content type text/html, not text/csv"],
    [
      "redirects to its search, as it does if nothing is open",
      ({ method }) => (method === "POST" ? new Response(null, { status: 303, headers: { location: "/topics" } }) : undefined),
      "it redirects a POST request",
    ],
    ["returns a cut file", ({ method }) => (method === "POST" ? cut() : undefined), "the file ends inside the quoted field"],
  ])("changes nothing if the site %s", async (_, answer, reason) => {
    const puller = aPuller("sbir-gov");
    await puller.turn(play(working).base);
    const before = await contentsOf(puller.db);
    const failing = puller.turn(play(() => new Response("", { status: 403 })).base, { fallback: new URL(site(answer).base) });
    await expect(failing).rejects.toThrow(reason);
    expect(await contentsOf(puller.db)).toBe(before);
  });

  test("respects the site's robots.txt, and keeps its session", async () => {
    const cookies: (string | null)[] = [];
    const pages = (robots: string) =>
      site(({ path, method, headers }) => {
        if (path === "/robots.txt") return new Response(robots, { headers: { "content-type": "text/plain" } });
        if (method === "POST") cookies.push(headers.get("cookie"));
        return method === "GET" ? html(PAGE, { "set-cookie": "SESS=1; Path=/" }) : undefined;
      });
    const turn = (robots: string) => aPuller("sbir-gov").turn(play(down).base, { fallback: new URL(pages(robots).base) });
    await expect(turn("User-agent: *\nDisallow: /topics")).rejects.toThrow(
      /^Cannot fetch .*429 .*; Cannot fetch .*topics: the robots.txt of .* does not allow/,
    );
    expect(cookies).toEqual([]);
    expect(await turn("User-agent: *\nDisallow: /admin/")).toMatchObject({ read: 17 });
    expect(cookies).toEqual(["SESS=1"]);
  });

  test("says of both why they failed", async () => {
    const [api, pages] = [play(() => new Response("", { status: 403 })), site(() => new Response("", { status: 404 }))];
    await expect(aPuller("sbir-gov").turn(api.base, { fallback: new URL(pages.base) })).rejects.toThrow(
      `Cannot fetch ${api.base}solicitations: it returned 403; Cannot find the search of topics at ${pages.base}topics`,
    );
  });

  test("is not tried after a signal", async () => {
    const stop = new AbortController();
    const api = play(() => {
      stop.abort();
      return down();
    });
    const pages = site();
    await expect(aPuller("sbir-gov").turn(api.base, { fallback: new URL(pages.base), net: { stop: stop.signal } })).rejects.toThrow(
      "it was stopped",
    );
    expect(pages.asked).toEqual([]);
  });
});

describe("fundfeed pull sbir-gov", () => {
  const run = (api: string, env: Record<string, string>, ...args: string[]) =>
    fundfeed(["pull", "sbir-gov", "--allow-http", "--data", aDirectory(), ...args], { FUNDFEED_SBIR_GOV_URL: api, ...env });
  const refusing = () => play(() => new Response("", { status: 403 })).base;

  test("says on standard error and in --json what was imported instead", async () => {
    const [api, pages] = [refusing(), site()];
    const { code, out, err } = await run(api, { FUNDFEED_SBIR_GOV_SITE_URL: pages.base }, "--json");
    const instead = `Cannot fetch ${api}solicitations: it returned 403; the open topics of ${pages.base} were imported instead`;
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ source: "sbir-gov", read: 17, instead_of: instead })]);
    expect(err).toContain(`sbir-gov: ${instead}\n`);
  });

  test("never turns from another address to the upstream's own site", async () => {
    const api = refusing();
    const { code, err } = await run(api, {});
    expect([code, err]).toEqual([1, `Cannot fetch ${api}solicitations: it returned 403\n`]);
  });

  test("refuses an address of the site that is none", async () => {
    const { code, err } = await run(refusing(), { FUNDFEED_SBIR_GOV_SITE_URL: "ftp://example.org/" });
    expect([code, err]).toEqual([1, expect.stringContaining("FUNDFEED_SBIR_GOV_SITE_URL must be an http or https URL")]);
  });
});

function cut(): Response {
  return new Response(csv.subarray(0, csv.length / 2), { headers: { "content-type": "text/csv" } });
}
