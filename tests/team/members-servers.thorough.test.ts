/** Members of two servers on PostgreSQL, and of servers and runs that are killed at random. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { freePort } from "../support/free-port.ts";
import { aMailSink } from "../support/mail-sink.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(600_000);
afterAll(dropHomes);

/** FUNDFEED_KILLS=100 for a thorough run. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 6);
const RECORDS = 15;
const options = { title: "Research", when: "now", time: "08:00", zone: "America/Chicago", at_least: "material", remind: "" };

const post = (url: string, form: Record<string, string>, cookie = "") =>
  fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin", ...(cookie !== "" && { cookie }) },
    body: new URLSearchParams(form),
  });
const cookieOf = (response: Response) => (response.headers.get("set-cookie") ?? "").replace(/;.*/, "");

/** The text of an import that moves the deadline of each record. */
function records(day: number): string {
  const closes_at = new Date(Date.UTC(2099, 0, 1 + day, 17)).toISOString();
  return Array.from({ length: RECORDS }, (_, n) =>
    JSON.stringify({ source: { code: "OWN", opportunity_id: `N-${n}` }, title: `Research ${n}`, status: "open", dates: { closes_at } }),
  ).join("\n");
}

/** Servers with these settings, and a mail sink. `start` starts one in a home. */
async function members(first: Home, settings: Record<string, string> = {}) {
  const sink = await aMailSink();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "f@feeds.example", FUNDFEED_PAGES_URL: origin, ...settings };
  const ff = async (...words: string[]) => {
    const done = await first.run(words, { env });
    expect([words, done.code, done.err]).toEqual([words, 0, expect.any(String)]);
    return done;
  };
  await ff("import", "records", first.file("records.jsonl", records(0)));
  await ff("members", "add", "@lab.example");
  const start = (home: Home, at = port) =>
    home.serve(["up", "--port", `${at}`, "--pages", "key", "--pull", "none", "--watch-every", "none"], { env });
  const linkFor = async (server: string, address: string) => {
    const before = sink.mails.length;
    expect((await post(`${server}/sign-in`, { address })).status).toBe(200);
    const text = await waitFor("a link", () => sink.mails[before]?.text);
    return new RegExp(`${origin}(/sign-in/[\\w-]+)`).exec(text)?.[1] ?? "";
  };
  const isReady = (server: string, cookie: string) =>
    waitFor("the search index", async () => {
      const page = await (await fetch(`${server}/?words=research`, { headers: { cookie } })).text();
      return page.includes("/watches/new?") || undefined;
    });
  return { sink, origin, env, ff, start, linkFor, isReady };
}

describe.skipIf(!hasPostgres)("two servers on PostgreSQL", () => {
  test("use a link once, share sessions and limits, and refuse a member who was removed at the next request", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const homes = [aHome(), aHome()] as const;
    const settings = { FUNDFEED_DATABASE: url, FUNDFEED_WATCH_DATA: homes[0].at("watches") };
    const { sink, origin, ff, start, linkFor, isReady } = await members(homes[0], settings);
    const servers = [await start(homes[0]), await start(homes[1], 0)] as const;
    const other = `http://127.0.0.1:${servers[1].port}`;
    const link = await linkFor(other, "ann@lab.example");
    const used = await Promise.all([origin, other, origin, other, origin, other].map((server) => post(server + link, {})));
    expect(used.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410, 410, 410]);
    const cookie = used.map(cookieOf).join("");
    for (const server of [origin, other]) await isReady(server, cookie);
    const saved: number[] = [];
    for (let n = 0; n < 24; n += 4) {
      const four = [origin, other, origin, other].map((server, m) =>
        post(`${server}/watches`, { query: `words=w${n + m}`, ...options, title: `n${n + m}` }, cookie),
      );
      saved.push(...(await Promise.all(four)).map(({ status }) => status));
    }
    expect(saved.filter((status) => status === 303)).toHaveLength(20);
    expect(saved.filter((status) => status === 400)).toHaveLength(4);
    const listed = await ff("watch", "list", "--json");
    expect(JSON.parse(listed.out)).toHaveLength(20);
    const page = await (await fetch(`${other}/watches`, { headers: { cookie } })).text();
    expect(page).toContain("n0");
    expect((await ff("members", "remove", "@lab.example")).out).toContain("1 member, with 20 watches");
    for (const server of [origin, other])
      expect((await fetch(`${server}/watches`, { headers: { cookie }, redirect: "manual" })).status).toBe(303);
    for (const server of servers) expect(await server.stop()).toBe(0);
    sink.close();
  });
});

test("kills of the server and of runs lose no change and tell none twice, while a member edits", async () => {
  const home = aHome();
  const { sink, origin, env, ff, start, linkFor, isReady } = await members(home);
  let server = await start(home);
  const cookie = cookieOf(await post(origin + (await linkFor(origin, "ann@lab.example")), {}));
  await isReady(origin, cookie);
  const saved = await post(`${origin}/watches`, { query: "words=research", ...options }, cookie);
  const [, name = ""] = /^\/watches\/(w-\w+)/.exec(saved.headers.get("location") ?? "") ?? [];
  expect(name).toStartWith("w-");
  for (let kill = 1; kill <= KILLS; kill++) {
    await ff("import", "records", home.file("records.jsonl", records(kill)));
    const run = home.start(["watch", "run"], { env });
    const edits = Promise.allSettled(
      ["edit", "pause", "resume", "edit"].map((action, n) =>
        post(`${origin}/watches/${name}`, { action, ...options, title: `Title ${kill}.${n}` }, cookie),
      ),
    );
    await Bun.sleep(Math.random() * 400);
    if (kill % 2 === 0) run.kill("SIGKILL");
    else server.kill("SIGKILL");
    await Promise.all([run.exited, edits, kill % 2 === 0 || server.ended]);
    if (kill % 2 === 1) server = await start(home);
    await isReady(origin, cookie);
    await post(`${origin}/watches/${name}`, { action: "resume" }, cookie);
  }
  await ff("watch", "run");
  const shown = JSON.parse((await ff("watch", "show", name, "--json")).out);
  expect(shown.title).toMatch(/^(Research|Title \d+\.\d)$/);
  const deliveries: { id: string; counts: { changed: number } }[] = JSON.parse((await ff("watch", "deliveries", name, "--json")).out);
  expect(deliveries.reduce((sum, { counts }) => sum + counts.changed, 0)).toBe(KILLS * RECORDS);
  const sent = new Set(sink.mails.flatMap(({ head }) => /^X-Fundfeed-Messages: (.*)$/im.exec(head)?.[1]?.trim().split(" ") ?? []));
  expect(deliveries.map(({ id }) => id).sort()).toEqual([...sent].sort());
  expect((await ff("check")).code).toBe(0);
  expect(await server.stop()).toBe(0);
  sink.close();
});
