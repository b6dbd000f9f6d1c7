/** `pull` of DARPA and NASA, whose pages and feeds are fetched with the permission of robots.txt. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { download } from "../../src/pull/download.ts";
import { aDirectory, documentsOf, dropScratch } from "../support/imports.ts";
import { realFile, realJson } from "../support/real-data.ts";
import { type Asked, aNet, aPuller, play, playRaw, rawAnswer } from "./upstream.ts";

afterAll(dropScratch);

const FEED = realFile("darpa/opportunity-20260905.json");
const LIST = realJson<{ aaData: object[] }>("nasa-nspires/solicitationsJSON-20261005.reconstructed.json");
const TABLE = realFile("nasa-roses/roses-2025-table3.html");

type Answer = (asked: Asked) => Response | undefined;

/** Answers without a robots.txt unless there is one. */
const site = (answer: Answer, robots?: string | Response) =>
  play((asked) => {
    if (asked.path !== "/robots.txt") return answer(asked);
    return typeof robots === "string" ? new Response(robots, { headers: { "content-type": "text/plain" } }) : robots;
  });
const feed: Answer = ({ path, headers }) => {
  if (path !== "/opportunity.json") return undefined;
  if (headers.get("if-none-match") === '"1"') return new Response(null, { status: 304 });
  return new Response(FEED, { headers: { "content-type": "application/json", etag: '"1"' } });
};
const page = (body: string | Uint8Array) => new Response(body, { headers: { "content-type": "text/html; charset=ISO-8859-1" } });

describe("pull darpa", () => {
  test("imports the feed, and downloads it again only if it has changed", async () => {
    const puller = aPuller("darpa");
    const { base, asked } = site(feed);

    expect(await puller.turn(base)).toMatchObject({ read: 20, added: 10, merged: 10, rejected: 0, removed: 0 });
    expect(await puller.turn(base)).toBeUndefined();
    expect(await puller.turn(base, { force: true })).toMatchObject({ unchanged: 10, events: 0 });

    const paths = asked.map(({ path }) => path);
    expect(paths).toEqual(Array(3).fill(["/robots.txt", "/opportunity.json"]).flat());
  });

  test("removes nothing that has left the feed", async () => {
    const puller = aPuller("darpa");
    await puller.turn(site(feed).base);
    const shorter = JSON.stringify(JSON.parse(FEED.toString()).slice(2));
    const { base } = site(({ path }) =>
      path === "/opportunity.json" ? new Response(shorter, { headers: { "content-type": "application/json" } }) : undefined,
    );
    expect(await puller.turn(base)).toMatchObject({ read: 18, unchanged: 9, removed: 0 });
  });

  test.each([
    ["a page of maintenance", () => page("<html>Down"), "it has the content type text/html, not application/json"],
    ["no feed", () => undefined, "Cannot find the feed at"],
    ["an empty feed", () => Response.json([]), "the download contains no records"],
    ["another list", () => Response.json([{ hello: "world" }]), "element 1 has no nid"],
    [
      "a cut feed",
      () => new Response(FEED.subarray(0, 5000), { headers: { "content-type": "application/json" } }),
      "it ends in the middle",
    ],
  ])("changes nothing if the response is %s", async (_, answer, reason) => {
    const puller = aPuller("darpa");
    await expect(puller.turn(site(answer).base)).rejects.toThrow(reason);
    expect(await documentsOf(puller.db)).toEqual([]);
  });
});

const withType = (text: string, type?: string) =>
  new Response(Buffer.from(text), type === undefined ? {} : { headers: { "content-type": type } });

describe("robots.txt", () => {
  test("is read again from its beginning if the connection breaks, and never asked for in part", async () => {
    const rules = "User-agent: *\nDisallow: /opportunity.json\n";
    const head = rawAnswer(
      "200 OK",
      { "content-type": "text/plain", "content-length": `${rules.length}`, "accept-ranges": "bytes", etag: '"1"' },
      Buffer.from(rules.slice(0, 20)),
    );
    const { base, asked } = await playRaw([
      { write: head, ending: "end" },
      {
        write: rawAnswer("200 OK", { "content-type": "text/plain", "content-length": `${rules.length}` }, Buffer.from(rules)),
        ending: "end",
      },
    ]);
    await expect(aPuller("darpa").turn(base)).rejects.toThrow("does not allow programs to fetch");
    expect(asked.map(({ headers }) => headers.get("range"))).toEqual([null, null]);
  });

  test.each([
    ["disallows everything", "User-agent: *\nDisallow: /"],
    ["disallows the path", "User-agent: *\nDisallow: /*.json$"],
    ["disallows it after a byte-order mark", "\ufeffUser-agent: *\nDisallow: /"],
    ["disallows it in a file with a type in capitals", withType("User-agent: *\nDisallow: /", "Text/Plain")],
    ["disallows it in a file of another type", withType("User-agent: *\nDisallow: /")],
    ["disallows it within the first 500 KiB of a longer file", `User-agent: *\nDisallow: /\n${"# filler\n".repeat(100_000)}`],
    ["disallows this program", "User-agent: *\nAllow: /\n\nUser-agent: fundfeed\nDisallow: /"],
  ])("that %s ends the pull before the request", async (_, robots) => {
    const { base, asked } = site(feed, robots);
    const { host } = new URL(base);
    await expect(aPuller("darpa").turn(base)).rejects.toThrow(
      `Cannot fetch ${base}opportunity.json: the robots.txt of ${host} does not allow programs to fetch ${base}opportunity.json`,
    );
    expect(asked.map(({ path }) => path)).toEqual(["/robots.txt"]);
  });

  test.each([
    ["allows it", "User-agent: *\nDisallow: /admin/\nDisallow: /user"],
    ["names other programs", "User-agent: GPTBot\nDisallow: /"],
    ["is empty", ""],
    ["disallows it only after the first 512 KiB", `User-agent: *\n${"# filler\n".repeat(100_000)}Disallow: /`],
    ["is cut off inside a line", `User-agent: *\n#${"x".repeat(512 * 1024 - "User-agent: *\n#\nDisallow: /".length)}\nDisallow: /other`],
    ["is refused", new Response("", { status: 403 })],
    ["is a page", page("<html>Not found")],
  ])("that %s lets it through", async (_, robots) => {
    expect(await aPuller("darpa").turn(site(feed, robots).base)).toMatchObject({ added: 10 });
  });

  test("that cannot be read for a time ends the pull (RFC 9309 §2.3.1.4)", async () => {
    const puller = aPuller("darpa");
    const { base, asked } = play(() => new Response("", { status: 503 }));
    await expect(puller.turn(base)).rejects.toThrow(`Cannot fetch ${base}robots.txt: it returned 503 (tried 5 times)`);
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(["/robots.txt"]));
  });

  test("is not asked for bulk files and APIs", async () => {
    const { base, asked } = play(() => Response.json([]));
    await aPuller("sbir-gov").turn(base);
    expect(asked.map(({ path }) => path)).toEqual(["/solicitations"]);
  });
});

describe("the User-Agent", () => {
  test.each([
    [undefined, /^Mozilla\/5\.0 \(compatible; fundfeed\/[\d.]+\)$/],
    ["grants@example.org", /^Mozilla\/5\.0 \(compatible; fundfeed\/[\d.]+; grants@example\.org\)$/],
  ])("with the contact %p is in every request", async (contact, userAgent) => {
    const { base, asked } = site(feed);
    await aPuller("darpa").turn(base, { net: { contact } });
    expect(asked).toHaveLength(2);
    for (const { headers } of asked) expect(headers.get("user-agent")).toMatch(userAgent);
  });
});

describe("pull nasa-nspires", () => {
  const nspires =
    (body: unknown = LIST): Answer =>
    ({ path, query, headers }) => {
      if (path === "/solicitations.do" && query.get("method") === "init")
        return new Response("<html>Solicitations", {
          headers: [
            ["content-type", "text/html"],
            ["set-cookie", "JSESSIONID=abc; Path=/; HttpOnly"],
            ["set-cookie", "route=2; Secure"],
          ],
        });
      if (path !== "/solicitationsJSON.do" || query.get("path") !== "open") return undefined;
      return headers.get("cookie") === "JSESSIONID=abc; route=2" ? Response.json(body) : page("<html>Your session has expired");
    };

  test("opens a session and imports the open solicitations", async () => {
    const puller = aPuller("nasa-nspires");
    const keep = aDirectory();
    const { base } = site(nspires());
    expect(await puller.turn(base, { keep })).toMatchObject({ read: 13, added: 13, rejected: 0 });
    expect(await puller.turn(base)).toMatchObject({ read: 13, unchanged: 13, events: 0 });
    const [kept = ""] = readdirSync(keep);
    expect(readdirSync(`${keep}/${kept}`)).toEqual(["solicitations.json"]);
  });

  test("keeps the session that a redirect opens, and sends it to no other host", async () => {
    const other = play(() => page("<html>Solicitations"));
    const { base, asked } = site(({ path, headers }) => {
      if (path === "/solicitations.do")
        return new Response(null, { status: 302, headers: { location: "/start", "set-cookie": "JSESSIONID=abc; Path=/; HttpOnly" } });
      if (path === "/start")
        return new Response(null, { status: 302, headers: { location: `${other.base}page`, "set-cookie": "route=2" } });
      return headers.get("cookie") === "JSESSIONID=abc; route=2" ? Response.json(LIST) : page("<html>Splash");
    });
    const hosts = [base, other.base].map((url) => new URL(url).host);
    const net = aNet(base, { hosts });
    const init = { url: new URL("solicitations.do", base), types: ["text/html"], bytesMax: 1000 };
    const opened = await download(net, init, `${aDirectory()}/page.html`);
    expect(opened).toMatchObject({ outcome: "saved", cookies: "JSESSIONID=abc; route=2" });
    expect([...asked, ...other.asked].map(({ headers }) => headers.get("cookie"))).toEqual([null, "JSESSIONID=abc", null]);
  });

  test.each([
    [
      "the page of a lost session",
      (asked: Asked) => (asked.path.includes("JSON") ? page("<html>Splash") : nspires()(asked)),
      "it is not JSON",
    ],
    ["another document", nspires({ error: "busy" }), 'it has no array "aaData"'],
    ["no solicitation", nspires({ aaData: [] }), "the download contains no records"],
    ["nothing", () => undefined, "Cannot find the list of solicitations at"],
  ])("changes nothing if the response is %s", async (_, answer, reason) => {
    const puller = aPuller("nasa-nspires");
    await expect(puller.turn(site(answer).base)).rejects.toThrow(reason);
    expect(await documentsOf(puller.db)).toEqual([]);
  });
});

describe("pull nasa-roses", () => {
  /** The clock of the puller stands in 2026. */
  const roses =
    (published: Record<string, string | Uint8Array>): Answer =>
    ({ path, headers }) => {
      const document = published[path];
      if (document !== undefined) return new Response(null, { status: 302, headers: { location: `/documents${path}.html` } });
      const body = published[path.replace(/^\/documents|\.html$/g, "")];
      if (body === undefined) return undefined;
      const etag = `"${path}"`;
      if (headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
      return new Response(body, { headers: { "content-type": "text/html", etag } });
    };

  test("imports the newest table, and again only if it has changed", async () => {
    const puller = aPuller("nasa-roses");
    const { base, asked } = site(roses({ "/ROSES2025table3": TABLE }));
    expect(await puller.turn(base)).toMatchObject({ read: 70, added: 70, rejected: 0 });
    expect(await puller.turn(base)).toBeUndefined();
    expect(asked.slice(0, 4).map(({ path }) => path)).toEqual([
      "/robots.txt",
      "/ROSES2026table3",
      "/ROSES2025table3",
      "/documents/ROSES2025table3.html",
    ]);
  });

  test("turns to the next year's table when it is there", async () => {
    const puller = aPuller("nasa-roses");
    await puller.turn(site(roses({ "/ROSES2025table3": TABLE })).base);
    const next = TABLE.toString("latin1").replaceAll("ROSES-2025", "ROSES-2026");
    const { base } = site(roses({ "/ROSES2025table3": TABLE, "/ROSES2026table3": next }));
    expect(await puller.turn(base)).toMatchObject({ read: 70, added: 70, removed: 0 });
  });

  test("takes a page without a table for a year that is not published yet", async () => {
    const { base } = site(roses({ "/ROSES2026table3": "<html>Not found", "/ROSES2025table3": TABLE }));
    expect(await aPuller("nasa-roses").turn(base)).toMatchObject({ added: 70 });
  });

  test("fails if there is no table", async () => {
    const { base } = site(roses({ "/ROSES2026table3": "<html>Maintenance" }));
    await expect(aPuller("nasa-roses").turn(base)).rejects.toThrow(`Cannot find a table of ROSES-2026 or ROSES-2025 at ${base}`);
  });
});
