/** Who may read the pages of `up`: cookies, keys, addresses of feeds, and what ends each of them. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { setAccount, setPlan } from "../../src/accounts/account.ts";
import { createKey, revokeKey, rotateKey } from "../../src/accounts/key.ts";
import { readPagesSecret, sealedTokens } from "../../src/accounts/sealed.ts";
import { arrivalOf, createAdmission } from "../../src/team/admission.ts";
import { createPageGate } from "../../src/team/page-gate.ts";
import { type TestApi, testApi } from "../support/api.ts";

const ORIGIN = "http://pages.example:8080";
const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const [MINUTE, DAY] = [60_000, 86_400_000];

let api: TestApi;
let key: { id: string; key: string };
let gate: (path: string, init?: RequestInit) => Promise<Response>;
/** What was passed to the reader: path and public address. */
let forwarded: [path: string, address: string][];
let readerStatus: number;

function aGate({ isSecure = false, needsKey = true } = {}): typeof gate {
  const page = createPageGate({
    needsKey,
    access: api.access,
    secret: () => readPagesSecret(api.state, randomBytes),
    now: () => api.clock.now,
    isSecure,
    originOf: () => (isSecure ? ORIGIN.replace("http:", "https:") : ORIGIN),
    admit: createAdmission({ access: api.access, now: () => api.clock.now, settled: async () => undefined }),
    onFailure: (error) => expect.unreachable(`${error}`),
    forward: async (path, arrival, address) => {
      if (!arrival.path.startsWith("/feeds/")) return new Response("page");
      forwarded.push([path, address]);
      return new Response("feed", { status: readerStatus });
    },
  });
  return (path, init = {}) => {
    const request = new Request(ORIGIN + path, { ...init, headers: { host: "pages.example:8080", ...init.headers } });
    return page(arrivalOf(request));
  };
}

beforeEach(async () => {
  api = await testApi();
  key = await createKey(api.state, { account: "Team", plan: "starter" }, randomBytes, api.clock.now);
  [forwarded, readerStatus] = [[], 200];
  gate = aGate();
});
afterEach(() => api.state.close());

const post = (path: string, form: Record<string, string>, headers: Record<string, string> = { "sec-fetch-site": "same-origin" }) =>
  gate(path, { method: "POST", body: new URLSearchParams(form).toString(), headers });
const cookieOf = (response: Response) => (response.headers.get("set-cookie") ?? "").replace(/;.*/, "");
const signIn = async () => cookieOf(await post("/sign-in", { key: key.key }));
const read = async (cookie: string, path = "/") => (await gate(path, { headers: { cookie } })).status;
/** The path of the address that the page of subscriptions has for a kind of feed. */
async function feedAddress(cookie: string, kind = "ics", query = "?words=quantum"): Promise<string> {
  const page = await (await gate(`/subscribe${query}`, { headers: { cookie } })).text();
  return new RegExp(`<code id="${kind}">${ORIGIN}(/feeds/[^<]+\\.${kind})</code>`).exec(page)?.[1] ?? "";
}
const used = () => api.access.keysById.get(key.id)?.use.window.used;

/** What makes a key unusable. */
const ends: Record<string, () => Promise<unknown>> = {
  "is revoked": () => revokeKey(api.state, key.id, api.clock.now),
  "is rotated": () => rotateKey(api.state, key.id, { graceMs: 0 }, randomBytes, api.clock.now),
  "has no subscription": () => setAccount(api.state, "Team", { subscription: "inactive" }),
  "has expired": async () => {
    await rotateKey(api.state, key.id, { graceMs: DAY }, randomBytes, api.clock.now);
    api.clock.now += DAY;
  },
};

describe("without a key", () => {
  test("a page leads to the sign-in, which leads back", async () => {
    const response = await gate("/deadlines?words=a%20b&source=NSF");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/sign-in?to=%2Fdeadlines%3Fwords%3Da%2520b%26source%3DNSF"]);
    expect(await (await gate(response.headers.get("location") ?? "")).text()).toContain('value="/deadlines?words=a%20b&amp;source=NSF"');
    const signedIn = await post("/sign-in", { key: ` ${key.key} `, to: "/deadlines?words=a%20b" });
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/deadlines?words=a%20b"]);
  });

  test.each(["/find.json", "/find.csv?words=a", "/find.ics", "/changes.json", "/events.json", "/changes.atom", "/find.openapi.json"])(
    "%s is refused to programs",
    async (path) => {
      const response = await gate(path);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="fundfeed"']);
    },
  );

  test("the files that the sign-in page loads are served, and nothing that merely resembles them", async () => {
    expect((await gate("/style-0123456789ab.css")).status).toBe(200);
    for (const path of ["/status", "/style.css", "/style-0123456789ab.css/", "/opportunities/x", "/subscribe", "/x/style-0123456789ab.css"])
      expect([path, (await gate(path)).status]).toEqual([path, 303]);
  });

  test("nothing is asked for if the pages are open", async () => {
    const open = aGate({ needsKey: false });
    expect((await open("/")).status).toBe(200);
    expect((await open("/sign-in")).status).toBe(200); // The reader's business.
  });

  test.each(["//evil.example", "/\\evil.example", "https://evil.example/", "javascript:alert(1)", "", "/a\nb", "evil"])(
    "the sign-in leads to no other site: %j",
    async (to) => {
      expect((await post("/sign-in", { key: key.key, to })).headers.get("location")).toBe("/");
      expect(await (await gate(`/sign-in?to=${encodeURIComponent(to)}`)).text()).toContain('name="to" value="/"');
    },
  );
});

describe("a cookie", () => {
  test("opens pages for 30 days, and each counts as one request of the key", async () => {
    const cookie = await signIn();
    expect(await read(cookie)).toBe(200);
    expect(await read(cookie, "/status")).toBe(200);
    expect(used()).toBe(2);
    api.clock.now += 30 * DAY - 1;
    expect(await read(cookie)).toBe(200);
    api.clock.now += 1;
    expect(await read(cookie)).toBe(303);
  });

  test.each(Object.keys(ends))("ends at once when its key %s", async (end) => {
    const cookie = await signIn();
    expect(await read(cookie)).toBe(200);
    await ends[end]?.();
    expect(await read(cookie)).toBe(303);
    expect((await post("/sign-in", { key: key.key })).status).toBe(401);
  });

  test("holds nothing of the key but its id, and is for this host and its own pages alone", async () => {
    const header = (await post("/sign-in", { key: key.key })).headers.get("set-cookie") ?? "";
    const decoded = sealedTokens(await readPagesSecret(api.state, randomBytes), "session").open(header.replace(/^\w+=|;.*/g, ""));
    expect(decoded).toBe(`${key.id} ${api.clock.now + 30 * DAY}`);
    for (const part of [key.key, key.key.slice(9), key.key.slice(-4)]) expect(header + decoded).not.toContain(part);
    expect(header).toMatch(/^fundfeed=[\w-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
    gate = aGate({ isSecure: true });
    const secure = (await post("/sign-in", { key: key.key })).headers.get("set-cookie") ?? "";
    expect(secure).toMatch(/^__Host-fundfeed=[\w-]+; Path=\/; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax$/);
    expect(await read(await signIn())).toBe(200);
    expect(await read(cookieOf(new Response(null, { headers: { "set-cookie": header } })))).toBe(303); // Without __Host- anyone could have set it.
  });

  test("that was changed anywhere is refused", async () => {
    const cookie = await signIn();
    for (let at = "fundfeed=".length; at < cookie.length; at++) {
      const changed = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
      expect([at, await read(changed)]).toEqual([at, 303]);
    }
    for (const last of ALPHABET) if (!cookie.endsWith(last)) expect([last, await read(cookie.slice(0, -1) + last)]).toEqual([last, 303]);
    for (const changed of [`${cookie}A`, `${cookie}=`, cookie.slice(0, -1), `${cookie}.`, "fundfeed=", "fundfeed=."])
      expect([changed, await read(changed)]).toEqual([changed, 303]);
  });

  test("is no feed, and a feed is no cookie; neither is of another installation", async () => {
    const cookie = await signIn();
    const token = (await feedAddress(cookie)).replace(/^\/feeds\/|\.ics$/g, "");
    expect((await gate(`/feeds/${cookie.replace("fundfeed=", "")}.ics`)).status).toBe(404);
    expect(await read(`fundfeed=${token}`)).toBe(303);
    const payload = `${key.id} ${api.clock.now + DAY}`;
    const [other, own] = [randomBytes(32), await readPagesSecret(api.state, randomBytes)];
    expect(await read(`fundfeed=${sealedTokens(other, "session").make(payload)}`)).toBe(303);
    expect(await read(`fundfeed=${sealedTokens(own, "feed").make(payload)}`)).toBe(303);
    expect(await read(`fundfeed=${sealedTokens(own, "session").make(payload)}`)).toBe(200);
  });

  test("is good on every server of the database, and after its restart", async () => {
    const cookie = await signIn();
    gate = aGate();
    expect(await read(cookie)).toBe(200);
  });

  test("is taken away by signing out", async () => {
    const response = await post("/sign-out", {});
    expect([response.status, response.headers.get("location")]).toEqual([303, "/sign-in"]);
    expect(response.headers.get("set-cookie")).toMatch(/^fundfeed=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
  });

  test("over the quota of its key gets 429", async () => {
    await setPlan(api.state, { name: "starter", daily: 1, per_minute: 10 });
    const cookie = await signIn();
    expect(await read(cookie)).toBe(200);
    const response = await gate("/", { headers: { cookie } });
    expect([response.status, Number(response.headers.get("retry-after")) > 0]).toEqual([429, true]);
  });
});

describe("the form", () => {
  test.each<[string, Record<string, string>, number]>([
    ["a browser that says it is of this site", { "sec-fetch-site": "same-origin" }, 303],
    ["an older browser on this site", { origin: ORIGIN }, 303],
    ["another site", { "sec-fetch-site": "cross-site", origin: ORIGIN }, 403],
    ["another subdomain", { "sec-fetch-site": "same-site" }, 403],
    ["an older browser on another site", { origin: "http://evil.example" }, 403],
    ["another port", { origin: "http://pages.example:8081" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a program that says nothing", {}, 403],
  ])("from %s gets its response", async (_, headers, status) => {
    for (const path of ["/sign-in", "/sign-out"]) {
      const response = await post(path, { key: key.key }, headers);
      expect([path, response.status, response.headers.has("set-cookie")]).toEqual([path, status, status === 303]);
    }
  });

  test("lets browsers send their origin with it, and is kept nowhere", async () => {
    for (const path of ["/sign-in", "/sign-out"]) {
      const { headers } = await gate(path);
      expect([headers.get("referrer-policy"), headers.get("cache-control")]).toEqual(["same-origin", "no-store"]);
    }
  });

  test("gets 429 for wrong keys after 30 in a minute, and a right key is taken all the same", async () => {
    const wrong = async () => (await post("/sign-in", { key: "ffk_live_wrong" })).status;
    for (let n = 0; n < 30; n++) expect(await wrong()).toBe(401);
    expect(await wrong()).toBe(429);
    expect((await post("/sign-in", { key: key.key })).status).toBe(303);
    expect(await wrong()).toBe(429);
    api.clock.now += MINUTE;
    expect(await wrong()).toBe(401);
  });

  test("with too much in it, or by another method, is refused", async () => {
    expect((await post("/sign-in", { key: "x".repeat(10_000) })).status).toBe(413);
    expect((await gate("/sign-in", { method: "PUT" })).status).toBe(405);
  });

  test("never shows a key that was sent", async () => {
    expect(await (await post("/sign-in", { key: "ffk_live_wrong" })).text()).not.toContain("ffk_live_wrong");
  });
});

describe("a key in the header", () => {
  const withKey = (sent: string, path = "/find.json") => gate(path, { headers: { authorization: `Bearer ${sent}` } });

  test("opens what a cookie opens, and counts", async () => {
    expect(await (await withKey(key.key)).text()).toBe("page");
    expect(used()).toBe(5);
  });

  test.each(Object.entries({ "is revoked": 401, "is rotated": 401, "has expired": 401, "has no subscription": 403 }))(
    "that %s gets %i",
    async (end, status) => {
      await ends[end]?.();
      expect((await withKey(key.key)).status).toBe(status);
    },
  );

  test("that is wrong is refused, although there is a cookie", async () => {
    const headers = { authorization: "Bearer ffk_live_wrong", cookie: await signIn() };
    expect((await gate("/", { headers })).status).toBe(401);
  });

  test("of another kind is for a proxy, and no key", async () => {
    const headers = { authorization: "Basic dTpw", cookie: await signIn() };
    expect((await gate("/", { headers })).status).toBe(200);
  });
});

describe("the address of a feed", () => {
  test("leads to the search that it was made for, as from its own address, and counts", async () => {
    const cookie = await signIn();
    const query = "?words=quantum+%22a+b%22&source=NSF,DSIP&all_sources=yes&at_least=material&sort=closes&other=x";
    const [ics = "", csv = "", atom = ""] = await Promise.all(["ics", "csv", "atom"].map((kind) => feedAddress(cookie, kind, query)));
    const before = used() ?? 0;
    for (const path of [ics, csv, atom]) expect(await (await gate(path)).text()).toBe("feed");
    const search = "source=NSF,DSIP&words=quantum+%22a+b%22&all_sources=yes";
    expect(forwarded).toEqual([
      [`/find.ics?${search}`, ORIGIN + ics],
      [`/find.csv?${search}&sort=closes&limit=1000`, ORIGIN + csv],
      [`/changes.atom?${search}&at_least=material`, ORIGIN + atom],
    ]);
    expect(used()).toBe(before + 3 * 5);
  });

  test("has all of a search with further question marks", async () => {
    const path = await feedAddress(await signIn(), "csv", "?words=why%3F+how?&source=NSF?,DSIP&agency=energy");
    expect((await gate(path)).status).toBe(200);
    expect(forwarded.map(([output]) => Object.fromEntries(new URLSearchParams(output.slice(output.indexOf("?")))))).toEqual([
      { agency: "energy", source: "NSF?,DSIP", words: "why? how?", limit: "1000" },
    ]);
  });

  test("lives on when its key is rotated, until the new one is revoked", async () => {
    const path = await feedAddress(await signIn());
    const { id } = await rotateKey(api.state, key.id, { graceMs: 0 }, randomBytes, api.clock.now);
    expect((await gate(path)).status).toBe(200);
    expect(api.access.keysById.get(id)?.use.window.used).toBeGreaterThan(0);
    await revokeKey(api.state, id, api.clock.now);
    expect((await gate(path)).status).toBe(410);
  });

  test("is gone when its key has expired and nothing replaced it", async () => {
    const expires_at = api.clock.now + DAY;
    const other = await createKey(api.state, { account: "Team", expires_at }, randomBytes, api.clock.now);
    const path = await feedAddress(cookieOf(await post("/sign-in", { key: other.key })));
    expect((await gate(path)).status).toBe(200);
    api.clock.now += DAY;
    expect((await gate(path)).status).toBe(410);
  });

  test.each(["is revoked", "has no subscription"])("is gone when its key %s", async (end) => {
    const path = await feedAddress(await signIn());
    expect((await gate(path)).status).toBe(200);
    await ends[end]?.();
    expect((await gate(path)).status).toBe(410);
    expect(forwarded).toHaveLength(1);
  });

  test("that was changed anywhere is none", async () => {
    const path = await feedAddress(await signIn());
    const end = path.length - ".ics".length;
    for (let at = "/feeds/".length; at < end; at++) {
      const changed = path.slice(0, at) + (path[at] === "A" ? "B" : "A") + path.slice(at + 1);
      expect([at, (await gate(changed)).status]).toEqual([at, 404]);
    }
    for (const changed of [
      path.replace(".ics", ".atom"),
      path.replace(".ics", ".csv"),
      `${path}x`,
      path.replace(".ics", ""),
      "/feeds/",
      "/feeds/x.ics",
      "/feeds/.ics",
    ])
      expect([changed, (await gate(changed)).status]).toEqual([changed, 404]);
    expect(forwarded).toEqual([]);
  });

  test("holds nothing of the key but its id", async () => {
    const path = await feedAddress(await signIn());
    const decoded = sealedTokens(await readPagesSecret(api.state, randomBytes), "feed").open(path.replace(/^\/feeds\/|\..*$/g, "")) ?? "";
    expect(await feedAddress(await signIn())).toBe(path); // The same each time.
    expect(JSON.parse(decoded)).toEqual([key.id, "/find.ics?words=quantum"]);
    for (const part of [key.key, key.key.slice(9), key.key.slice(-4)]) expect(path + decoded).not.toContain(part);
  });

  test("only reads, needs no cookie, and works where pages are open", async () => {
    const path = await feedAddress(await signIn());
    for (const method of ["POST", "PUT", "DELETE"]) expect((await gate(path, { method })).status).toBe(405);
    expect((await gate(path, { method: "HEAD" })).status).toBe(200);
    expect((await aGate({ needsKey: false })(path)).status).toBe(200);
  });

  test("over the quota of its key gets 429", async () => {
    const path = await feedAddress(await signIn());
    await setPlan(api.state, { name: "starter", daily: 6, per_minute: 10 });
    expect((await gate(path)).status).toBe(200);
    expect((await gate(path)).status).toBe(429);
  });

  test("with a search that the program no longer knows is none", async () => {
    const path = await feedAddress(await signIn());
    readerStatus = 400;
    expect((await gate(path)).status).toBe(404);
  });

  test("is not made for a search that is too long for one", async () => {
    const response = await gate(`/subscribe?words=${"x".repeat(1600)}`, { headers: { cookie: await signIn() } });
    expect(response.status).toBe(400);
  });
});

test.each([
  ["/", 1],
  ["/?words=quantum", 1],
  ["/opportunities/8f", 1],
  ["/opportunities/8f?as_of=2026-01-01", 1],
  ["/find.json?words=quantum", 5],
  ["/changes.csv", 5],
  ["/events.json", 2],
  ["/none", 1],
])("%s costs %i uses of a key", async (path, uses) => {
  await gate(path, { headers: { authorization: `Bearer ${key.key}` } });
  expect(used()).toBe(uses);
});

describe("a refusal", () => {
  const refused = (accept: string) => post("/sign-in", { key: "x" }, { "sec-fetch-site": "cross-site", accept });

  test("is a page for a browser, which says why and leads on", async () => {
    const response = await refused("text/html,application/xhtml+xml,*/*;q=0.8");
    const page = await response.text();
    expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
      403,
      "text/html; charset=utf-8",
      "no-store",
    ]);
    for (const part of ["<h1>Not allowed</h1>", "Open this page of the server itself", 'href="/"']) expect(page).toContain(part);
  });

  test("is a line of text for programs, and of feeds", async () => {
    const response = await refused("*/*");
    expect(await response.text()).toBe("Open this page of the server itself, and send its form.\n");
    const feed = await gate("/feeds/x.ics", { headers: { accept: "text/html" } });
    expect([feed.status, feed.headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
  });
});
