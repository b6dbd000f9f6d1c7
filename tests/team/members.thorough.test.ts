/** Members from outside: commands, a browser's requests, and a mail server. One server serves all tests, which follow each other. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { freePort } from "../support/free-port.ts";
import { aMailSink, type MailSink } from "../support/mail-sink.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Receiver, startReceiver } from "../watch/receiver.ts";

setDefaultTimeout(300_000);

let home: Home;
let sink: MailSink;
let channel: Receiver;
let server: Server;
let origin: string;
let env: Record<string, string>;

const ff = (...args: string[]) => home.run(args, { env });
const SAME = { "sec-fetch-site": "same-origin" };
const get = (path: string, cookie = "", headers: Record<string, string> = {}) =>
  fetch(origin + path, { redirect: "manual", headers: { ...(cookie !== "" && { cookie }), ...headers } });
const html = async (path: string, cookie: string) => (await get(path, cookie)).text();
const post = (path: string, form: Record<string, string>, cookie = "", headers: Record<string, string> = SAME) =>
  fetch(origin + path, {
    method: "POST",
    redirect: "manual",
    headers: { ...(cookie !== "" && { cookie }), ...headers },
    body: new URLSearchParams(form),
  });
const placeOf = (response: Response) => response.headers.get("location") ?? "";
const cookieOf = (response: Response) => (response.headers.get("set-cookie") ?? "").replace(/;.*/, "");
const linkIn = (text: string) => new RegExp(`${origin}(/sign-in/[\\w-]+)`).exec(text)?.[1] ?? "";

/** Asks for a link, and returns its path when the mail is there. */
async function ask(address: string, to = "/"): Promise<string> {
  const before = sink.mails.length;
  expect((await post("/sign-in", { address, to })).status).toBe(200);
  return linkIn(await waitFor(`a link for ${address}`, () => sink.mails[before]?.text));
}
const signIn = async (address: string) => cookieOf(await post(await ask(address), {}));

/** Imports the records with this close date, so that each import is a change of each of them. */
async function importAll(closes: string): Promise<void> {
  const lines = Array.from({ length: 30 }, (_, n) => {
    const title = `${n % 2 === 0 ? "Quantum research" : "Marine biology"} ${n}`;
    return JSON.stringify({ source: { code: "OWN", opportunity_id: `N-${n}` }, title, status: "open", dates: { closes_at: closes } });
  });
  expect((await ff("import", "records", home.file("records.jsonl", lines.join("\n")))).code).toBe(0);
}

type Row = { name: string; owner: string; paused: string | null; definition: string };
function stored<T>(file: "state.db" | "watch.db", sql: string): T[] {
  const db = new Database(home.at(`fundfeed-data/${file}`), { readonly: true });
  try {
    return db.query<T, []>(sql).all();
  } finally {
    db.close();
  }
}
const watchRows = (where = "true") =>
  stored<Row>("watch.db", `select name, owner, paused, definition from watches where owner is not null and ${where}`);
const options = { title: "Research", when: "now", time: "08:00", zone: "America/Chicago", at_least: "material", remind: "" };
const feedIn = (page: string, kind: string) => new RegExp(`${origin}(/feeds/[\\w.-]+\\.${kind})`).exec(page)?.[1] ?? "";

beforeAll(async () => {
  [home, sink, channel] = [aHome(), await aMailSink(), startReceiver()];
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "fundfeed@feeds.example", FUNDFEED_PAGES_URL: origin };
  env.FUNDFEED_MEMBER_HOSTS = `logic.azure.com,${new URL(channel.url).origin}`;
  await importAll("2099-01-15T17:00:00Z");
  server = await home.serve(["up", "--port", `${port}`, "--pages", "key", "--pull", "none", "--watch-every", "none"], { env });
});
afterAll(async () => {
  sink.close();
  await channel.stop();
  await dropHomes();
});

let [ann, bob] = ["", ""];
let saved = "";

describe("the operator", () => {
  test("allows addresses and domains, in any letter case, and refuses anything else", async () => {
    expect((await ff("members", "add", "A@Uni.Example", "@lab.example", "!nobody@lab.example")).out).toBe(
      "Added a@uni.example, @lab.example, !nobody@lab.example\n",
    );
    for (const wrong of ["cookie", "a b@uni.example", '"a"@uni.example', "!@lab.example", `${"x".repeat(320)}@uni.example`])
      expect(await ff("members", "add", wrong)).toMatchObject({ code: 1, err: expect.stringContaining("it must be an address such as") });
    expect((await ff("members", "list")).out).toContain("@lab.example");
  });
});

describe("sign-in by a link", () => {
  test("answers every address the same, and mails only those who may sign in", async () => {
    const addresses = ["a@uni.example", "nobody@lab.example", "x@sub.lab.example", "a@uni.example.evil.example"];
    const answers = await Promise.all(addresses.map(async (address) => (await post("/sign-in", { address })).text()));
    expect(new Set(answers).size).toBe(1);
    await waitFor("a mail", () => sink.mails.length > 0);
    await Bun.sleep(500); // Others would have come.
    expect(sink.mails.map(({ to }) => to)).toEqual(["a@uni.example"]);
    const [mail] = sink.mails;
    expect(mail?.head).toMatch(/Auto-Submitted: auto-generated/i);
    const link = linkIn(mail?.text ?? "");
    expect(Buffer.from(link.slice("/sign-in/".length), "base64url").toString("latin1")).not.toContain("uni.example");
    for (const method of ["GET", "HEAD", "GET"]) expect((await fetch(origin + link, { method })).status).toBe(200);
    for (const headers of [{ "sec-fetch-site": "cross-site", origin: "https://evil.example" }, {}])
      expect((await post(link, {}, "", headers)).status).toBe(403);
    const both = await Promise.all([post(link, {}), post(link, {})]);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 410]);
    ann = both.map(cookieOf).join("");
    const setCookie = both.map(({ headers }) => headers.get("set-cookie") ?? "").join("");
    for (const part of ["HttpOnly", "SameSite=Lax"]) expect(setCookie).toContain(part);
    expect(Buffer.from(ann.split("=")[1] ?? "", "base64url").toString("latin1")).not.toContain("uni.example");
    for (const used of [link, `${link.slice(0, -3)}AAA`, "/sign-in/AAAA"]) {
      expect([used, (await get(used)).status]).toEqual([used, 410]);
      expect([used, (await post(used, {})).status]).toEqual([used, 410]);
    }
  });

  test("ends the other links of the address, leads where one wanted to go, and to no other site", async () => {
    const [older, newer] = [await ask("b@lab.example"), await ask("b@lab.example")];
    bob = cookieOf(await post(newer, {}));
    expect((await get(older)).status).toBe(410);
    expect(placeOf(await post(await ask("d@lab.example", "/deadlines?words=x"), {}))).toBe("/deadlines?words=x");
    expect(placeOf(await post(await ask("c@lab.example", "//evil.example/"), {}))).toBe("/");
  });

  test("mails an address at most three links in 15 minutes", async () => {
    const before = sink.mails.length;
    for (let n = 0; n < 6; n++) await post("/sign-in", { address: "e@lab.example" });
    await waitFor("three mails", () => sink.mails.length - before === 3);
    await Bun.sleep(500); // Others would have come.
    expect(sink.mails.length - before).toBe(3);
  });

  test("says what is no address", async () => {
    const response = await post("/sign-in", { address: "a@uni.example, b@uni.example" });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("This is no mail address.")]);
  });

  test("leaves the sign-in by key, which has no watches; and no header makes a member", async () => {
    const key = await home.key();
    const byKey = cookieOf(await post("/sign-in", { key }));
    expect((await get("/", byKey)).status).toBe(200);
    expect((await get("/watches", byKey)).status).toBe(403);
    expect([(await get("/watches")).status, (await get("/following.csv")).status]).toEqual([303, 401]);
    const [{ id } = { id: "" }] = stored<{ id: string }>("state.db", "select id from keys where member = 'a@uni.example'");
    expect((await get("/watches", "", { "x-fundfeed-member": id })).status).toBe(303);
    const asMember = await get("/?words=research", byKey, { "x-fundfeed-member": id });
    expect(await asMember.text()).not.toContain("/watches/new");
  });
});

describe("a watch of a member", () => {
  test("is saved from results; the page says first what it means", async () => {
    expect(await html("/?words=research", ann)).toContain('href="/watches/new?words=research"');
    const page = await html("/watches/new?words=research", ann);
    expect(page).toContain("Words research: 15 now");
    expect(page).not.toMatch(/<script/i);
    const response = await post("/watches", { query: "words=research", ...options }, ann);
    saved = /^\/watches\/(w-\w+)\?/.exec(placeOf(response))?.[1] ?? "";
    expect([response.status, saved]).toEqual([303, expect.stringMatching(/^w-/)]);
    expect(await html("/watches", ann)).toContain("Research");
  });

  test.each([
    ["without a cookie", () => post("/watches", { query: "words=x", ...options }), 303],
    ["from another site", () => post("/watches", { query: "words=x", ...options }, ann, { "sec-fetch-site": "cross-site" }), 403],
    ["with a search that means nothing", () => post("/watches", { query: "status=sideways", ...options }, ann), 400],
    ["with words of nothing", () => post("/watches", { query: "words=---", ...options }, ann), 400],
    ["with a form that is too long", () => post("/watches", { query: "words=x", ...options, title: "x".repeat(50_000) }, ann), 413],
  ] as const)("%s nothing is stored", async (_, send, status) => {
    expect((await send()).status).toBe(status);
    expect(watchRows()).toHaveLength(1);
  });

  test.each([
    ["zone", "Mars/Base", "Choose a time zone"],
    ["time", "25:99", "Choose a time, such as 08:00"],
    ["when", "someday", "Choose a day"],
    ["title", "", "Give it a name"],
    ["title", "n".repeat(10_000), "Give it a name"],
    ["at_least", "all", "Choose which changes"],
    ["remind", "400", "numbers of days"],
  ])("a form with a wrong %s (%p) comes back with the reason and what was typed", async (field, value, reason) => {
    const form = { query: "words=research", ...options, when: "monday", title: "Kept name", [field]: value };
    const response = await post("/watches", form, ann);
    const page = await response.text();
    expect([response.status, page.includes(reason)]).toEqual([400, true]);
    if (field !== "when") expect(page).toContain('<option value="monday" selected=""');
    if (field !== "title") expect(page).toContain('value="Kept name"');
    expect(watchRows()).toHaveLength(1);
  });

  test("a form whose every field is long comes back", async () => {
    const form = Object.fromEntries(["channel", ...Object.keys(options)].map((name) => [name, "\u{6f22}".repeat(500)]));
    const response = await post("/watches", { ...form, query: "words=research", to: "channel" }, ann);
    expect([response.status, (await response.text()).includes("Give it a name")]).toEqual([400, true]);
    expect(watchRows()).toHaveLength(1);
  });

  test("belongs to who made it", async () => {
    expect(await html("/watches", bob)).not.toContain(saved);
    expect((await get(`/watches/${saved}`, bob)).status).toBe(404);
    for (const action of ["edit", "pause", "remove", "test", "search"])
      expect((await post(`/watches/${saved}`, { action, ...options, title: "Stolen", query: "words=x" }, bob)).status).toBe(404);
    expect(watchRows()[0]).toMatchObject({ paused: null, definition: expect.not.stringContaining("Stolen") });
  });

  test("can be edited, its search too, and tested", async () => {
    await post(`/watches/${saved}`, { action: "edit", ...options, when: "monday", time: "09:30", zone: "UTC" }, ann);
    expect(JSON.parse(watchRows()[0]?.definition ?? "")).toMatchObject({ every: "monday 09:30", filter: { words: "research" } });
    expect(await html(`/watches/${saved}`, ann)).toContain("Mondays at 9:30 in the morning, UTC");
    await post(`/watches/${saved}`, { action: "edit", ...options }, ann);
    const preview = await html(`/watches/${saved}/search?words=marine`, ann);
    expect(preview).toContain("15 opportunities more than before, and 15 no longer");
    expect((await post(`/watches/${saved}`, { action: "search", query: "status=sideways" }, ann)).status).toBe(400);
    expect(placeOf(await post(`/watches/${saved}`, { action: "search", query: "words=marine" }, ann))).toBe(
      `/watches/${saved}?done=search`,
    );
    expect(JSON.parse(watchRows()[0]?.definition ?? "").filter).toEqual({ words: "marine" });
    await post(`/watches/${saved}`, { action: "search", query: "words=research" }, ann);
    const before = sink.mails.length;
    await post(`/watches/${saved}`, { action: "test" }, ann);
    expect(sink.mails.slice(before)).toMatchObject([{ to: "a@uni.example", head: expect.stringContaining("Subject: Test: Research") }]);
  });

  test("goes to a channel in Teams, if the operator allows its host", async () => {
    expect(await html("/watches/new?words=marine", ann)).toContain('name="channel"');
    const form = { query: "words=marine", ...options, title: "To Teams", to: "channel" };
    for (const [address, reason] of [
      ["", "Enter the address that Teams shows"],
      ["https://evil.example/hook?sig=1", "Its operator can allow evil.example"],
      [`https://logic.azure.com/${"x".repeat(10_000)}`, "Enter the address that Teams shows"],
    ] as const) {
      const page = await (await post("/watches", { ...form, channel: address }, ann)).text();
      expect(page).toContain(reason);
      expect(page).toContain('aria-describedby="channel-hint"');
      expect(page).toContain('<option value="channel" selected=""');
      if (address.length < 100) expect(page).toContain(`value="${address}"`);
    }
    expect(watchRows()).toHaveLength(1);
    const name = /^\/watches\/(w-\w+)\?/.exec(placeOf(await post("/watches", { ...form, channel: channel.url }, ann)))?.[1] ?? "";
    expect(placeOf(await post(`/watches/${name}`, { action: "test" }, ann))).toBe(`/watches/${name}?done=test`);
    expect(channel.posted.map(({ body }) => JSON.parse(body).attachments[0].content.body[0].text)).toEqual([
      expect.stringContaining("Test: To Teams"),
    ]);
    await post(`/watches/${name}`, { action: "edit", ...options, title: "Renamed", to: "channel", channel: "" }, ann);
    channel.respond = () => new Response(null, { status: 403 });
    const failed = await post(`/watches/${name}`, { action: "test" }, ann);
    expect(await failed.text()).toContain(`The test was not sent. Cannot deliver to ${new URL(channel.url).host}: it returned 403.</p>`);
    expect(await html(`/watches/${name}`, ann)).toContain("Teams, by 127.0.0.1");
    expect(watchRows(`name = '${name}'`)[0]?.definition).not.toContain("/hook");
    expect((await ff("watch", "show", name)).out).toContain("its member in Teams, by 127.0.0.1");
    await post(`/watches/${name}`, { action: "edit", ...options, to: "mailbox" }, ann);
    expect(JSON.parse(watchRows(`name = '${name}'`)[0]?.definition ?? "").receiver).toEqual({ to: "member" });
    await post(`/watches/${name}`, { action: "remove" }, ann);
    expect(watchRows()).toHaveLength(1);
  });

  test("is one of at most 20", async () => {
    const codes: number[] = [];
    for (let n = 0; n < 24; n += 4) {
      const some = [0, 1, 2, 3].map((m) => post("/watches", { query: `words=w${n + m}`, ...options, title: `n${n + m}` }, bob));
      codes.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    expect(codes.filter((code) => code === 303)).toHaveLength(20);
    expect(codes.filter((code) => code === 400)).toHaveLength(4);
  });
});

let [one, two] = ["", ""];

describe("following", () => {
  test("begins and ends on the page of an opportunity", async () => {
    const found = await (await get("/find.json?words=marine&limit=40", ann)).text();
    const ids = [...new Set([...found.matchAll(/"id":"([0-9a-f-]{36})"/g)].map(([, id = ""]) => id))];
    [one = "", two = ""] = ids;
    expect(await html(`/opportunities/${one}`, ann)).toContain('value="follow"');
    for (const id of [one, one, two])
      expect((await post("/follow", { id, action: "follow", back: `/opportunities/${id}` }, ann)).status).toBe(303);
    expect(JSON.parse(watchRows("name like 'f-%'")[0]?.definition ?? "").filter.id).toEqual([one, two]);
    const page = await html("/following", ann);
    for (const id of [one, two]) expect(page).toContain(`/opportunities/${id}"`);
    expect((await post("/follow", { id: "00000000-0000-0000-0000-000000000000", action: "follow" }, ann)).status).toBe(400);
    await post("/follow", { id: two, action: "unfollow" }, ann);
    expect(await html("/following", ann)).not.toContain(two);
  });

  test("has addresses that follow the list", async () => {
    const page = await html("/subscribe?following", ann);
    expect(await (await get(feedIn(page, "csv"))).text()).toContain(one);
    expect(await (await get(feedIn(page, "ics"))).text()).toStartWith("BEGIN:VCALENDAR");
    await post("/follow", { id: two, action: "follow" }, ann);
    expect(await (await get(feedIn(page, "csv"))).text()).toContain(two);
    for (const kind of ["csv", "ics", "atom"]) expect((await get(`/following.${kind}`, ann)).status).toBe(200);
  });
});

describe("the mails", () => {
  test("tell what changes and not what matched already, all of a member in one mail, and no output names her", async () => {
    const before = sink.mails.length;
    expect((await ff("watch", "run")).code).toBe(0);
    expect(sink.mails).toHaveLength(before);
    await importAll("2099-02-15T17:00:00Z");
    const run = await ff("watch", "run");
    expect(run.out + run.err).not.toMatch(/uni\.example|lab\.example/);
    const mails = sink.mails.slice(before).filter(({ to }) => to === "a@uni.example");
    expect(mails).toHaveLength(1);
    const { head = "", text = "" } = mails[0] ?? {};
    expect(head).toContain("Subject: 2 watches: Following, Research");
    expect(head).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    expect(head).toMatch(/^List-Id: <watches\.127\.0\.0\.1>/im);
    for (const part of [`${origin}/watches/${saved}`, `${origin}/opportunities/`, 'You get this because you saved "Research"'])
      expect(text).toContain(part);
    const stop = /List-Unsubscribe: <([^>]+)>/i.exec(head)?.[1]?.slice(origin.length) ?? "";
    expect(await html(stop, "")).toContain("<form");
    expect(watchRows(`name = '${saved}'`)[0]?.paused).toBeNull();
    for (let n = 0; n < 2; n++) {
      const response = await post(stop, { "List-Unsubscribe": "One-Click" }, "", {});
      expect([response.status, watchRows(`name = '${saved}'`)[0]?.paused]).toEqual([200, "you stopped these mails"]);
    }
    const changed = stop.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    expect((await post(changed, {}, "", {})).status).toBe(200);
    for (const { name } of watchRows(`owner = (select owner from watches where name = '${saved}')`))
      await post(`/watches/${name}`, { action: "resume" }, ann);
    expect(watchRows("paused is not null")).toEqual([]);
  });

  test("that are refused are told without the address, and on My watches", async () => {
    sink.refuses = (address) => address === "a@uni.example" && 550;
    await importAll("2099-03-15T17:00:00Z");
    const refused = await ff("watch", "run");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("550");
    expect(refused.err).not.toContain("uni.example");
    expect(await html("/watches", ann)).toContain("The last mail was not accepted");
    sink.refuses = () => false;
  });

  test("are not lost and not sent anew when the run is killed while a member edits", async () => {
    for (const action of ["pause", "resume"]) await post(`/watches/${saved}`, { action }, ann); // It may then be sent at once.
    await ff("watch", "run");
    await importAll("2099-04-15T17:00:00Z");
    const held = Promise.withResolvers<void>();
    sink.hold = held.promise;
    const run = home.start(["watch", "run"], { env });
    await waitFor("a message on its way", () => stored("watch.db", "select id from pending where mail is not null").length > 0);
    const edits = await Promise.all([
      post(`/watches/${saved}`, { action: "edit", ...options, title: "Renamed" }, ann),
      post("/watches", { query: "words=biology", ...options, title: "While" }, ann),
      post("/follow", { id: two, action: "unfollow" }, ann),
    ]);
    expect(edits.map(({ status }) => status)).toEqual([303, 303, 303]);
    run.kill("SIGKILL");
    await run.exited;
    const mails = stored<{ mail: string }>("watch.db", "select distinct mail from pending where mail is not null");
    const before = sink.mails.length;
    sink.hold = Promise.resolve();
    held.resolve();
    await ff("watch", "run");
    for (const { mail } of mails) expect(sink.mails.slice(before).some(({ head }) => head.includes(`Message-ID: <${mail}@`))).toBe(true);
    expect(watchRows(`name = '${saved}'`)[0]?.definition).toContain("Renamed");
  });
});

describe("an end", () => {
  test("no file, log or report has an address but state.db", async () => {
    const files = readdirSync(home.at("fundfeed-data"), { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const having = (part: string) => files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(part));
    expect(files.map(({ name }) => name)).toContain("watch.db");
    for (const part of ["uni.example", "lab.example"]) expect(having(part).filter(({ name }) => !name.startsWith("state.db"))).toEqual([]);
    expect(having(new URL(channel.url).pathname)).toEqual([]);
    const page = await html("/subscribe?following", ann);
    for (const kind of ["csv", "ics", "atom"])
      expect(
        Buffer.from(feedIn(page, kind).split(/[/.]/)[2] ?? "", "base64url").toString() + (await (await get(feedIn(page, kind))).text()),
      ).not.toMatch(/uni\.example|lab\.example/);
    const report = await ff("report");
    for (const text of [server.log(), report.out, (await ff("watch", "list")).out])
      expect(text).not.toMatch(/uni\.example|lab\.example|%40/);
    expect((await ff("keys", "list")).out).not.toContain("members");
    expect((await ff("check")).code).toBe(0);
    expect((await ff("watch", "show", saved)).code).toBe(0);
  });

  test("of a member holds at once, for cookies, feeds and mails, even where it does not reach watch.db", async () => {
    const page = await html("/subscribe?words=research", ann);
    await importAll("2099-05-15T17:00:00Z");
    expect((await ff("members", "remove", "a@uni.example", "--watch-data", home.at("elsewhere"))).code).toBe(0);
    expect((await get("/watches", ann)).status).toBe(303);
    expect((await get(feedIn(page, "csv"))).status).toBe(410);
    const before = sink.mails.length;
    await ff("watch", "run");
    expect(sink.mails.slice(before).filter(({ to }) => to === "a@uni.example")).toEqual([]);
    expect(watchRows("definition like '%Renamed%'")).toEqual([]);
    await post("/sign-in", { address: "a@uni.example" });
    await Bun.sleep(800);
    expect(sink.mails.slice(before).filter(({ to }) => to === "a@uni.example")).toEqual([]);
    expect(JSON.stringify(stored("state.db", "select member, label from keys"))).not.toContain("a@uni.example");
  });

  test("of a domain, a denial, and keys revoke end members, who may come again where they are allowed", async () => {
    expect((await ff("members", "add", "!b@lab.example")).out).toContain("removed 1 member, with 20 watches");
    expect((await get("/watches", bob)).status).toBe(303);
    const dan = await signIn("d@lab.example");
    expect((await ff("members", "remove", "d@lab.example")).err).toContain("The domain still allows d@lab.example");
    expect((await get("/watches", dan)).status).toBe(303);
    const again = await signIn("d@lab.example");
    const [{ id } = { id: "" }] = stored<{ id: string }>("state.db", "select id from keys where member = 'd@lab.example'");
    expect((await ff("keys", "rotate", id)).err).toContain("it is a member, who has no key");
    expect((await ff("keys", "revoke", id)).code).toBe(0);
    expect((await get("/watches", again)).status).toBe(303);
    expect((await ff("members", "remove", "@lab.example")).code).toBe(0);
    expect(watchRows()).toEqual([]);
  });

  test("--members off leaves the sign-in by key alone", async () => {
    expect(await server.stop()).toBe(0);
    server = await home.serve(["up", "--port", origin.split(":")[2] ?? "", "--pages", "key", "--pull", "none", "--members", "off"], {
      env,
    });
    expect(await html("/sign-in", "")).not.toContain('name="address"');
    expect((await get("/sign-in/abc")).status).not.toBe(410);
    expect(await server.stop()).toBe(0);
  });
});
