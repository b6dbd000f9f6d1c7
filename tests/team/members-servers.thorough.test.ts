/** Members of two servers on PostgreSQL, and of servers and runs that are killed at random. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { openWatchFile } from "../../db/sqlite/open.ts";
import { addOwnWatch, LIMITS, follow as setFollowed } from "../../src/watch/member-watches.ts";
import { listWatches, removeWatch } from "../../src/watch/watches.ts";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { freePort } from "../support/free-port.ts";
import { aMailSink } from "../support/mail-sink.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { waitFor } from "../support/wait-for.ts";
import { aDefinition } from "../watch/watched.ts";

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
  await ff("plans", "set", "starter", "--per-minute", "10000"); // Waiting for the index takes requests of the same member.
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

/** Rounds of two requests at once. */
const ROUNDS = 9;

describe.each([
  ["SQLite", true],
  ["PostgreSQL", hasPostgres],
] as const)("two servers on %s", (engine, isThere) => {
  test.if(isThere)("store one of two requests at once for the last place, and tell the other why not", async () => {
    const homes = [aHome(), aHome()] as const;
    const watchData = homes[0].at("watches");
    const database = engine === "SQLite" ? {} : { FUNDFEED_DATABASE: await (await postgresServer()).freshDatabase() };
    const { sink, origin, start, linkFor, isReady } = await members(homes[0], { ...database, FUNDFEED_WATCH_DATA: watchData });
    const first = await start(homes[0]);
    const signIn = async (address: string) => cookieOf(await post(origin + (await linkFor(origin, address)), {}));
    const [ann, bob] = [await signIn("ann@lab.example"), await signIn("bob@lab.example")];
    expect(await first.stop()).toBe(0);
    cpSync(homes[0].at("fundfeed-data"), homes[1].at("fundfeed-data"), { recursive: true }); // Files have the same members at both.
    const servers = [await start(homes[0]), await start(homes[1], 0)] as const;
    const other = `http://127.0.0.1:${servers[1].port}`;
    for (const at of [origin, other]) await isReady(at, ann);
    const found = await (await fetch(`${other}/find.csv?words=research`, { headers: { cookie: ann } })).text();
    const [one = "", two = "", three = ""] = found.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [];
    const follow = (at: string, id: string, cookie: string, action = "follow") => post(`${at}/follow`, { id, action }, cookie);
    const save = (at: string, cookie: string) => post(`${at}/watches`, { query: "words=research", ...options }, cookie);

    expect((await follow(origin, one, ann)).status).toBe(303);
    const db = openWatchFile(watchData, Date.now());
    const followed = async () => (await listWatches(db)).find(({ definition }) => definition.follows);
    const owner = (await followed())?.owner ?? "";
    const beginning = { at: 0, feed: null };
    for (let n = 1; n < LIMITS.followed - 1; n++) await setFollowed(db, owner, `id-${n}`, true, { ...beginning, name: "unused" });
    for (let round = 0; round < ROUNDS; round++) {
      expect((await followed())?.definition.filter.id).toHaveLength(199);
      const answers = await Promise.all([follow(origin, two, ann), follow(other, three, ann)]);
      expect(await reasonsOf(answers)).toEqual(["303", "409 You follow 200 opportunities, which is the most."]);
      expect((await followed())?.definition.filter.id).toHaveLength(200);
      for (const id of [two, three]) expect((await follow(other, id, ann, "unfollow")).status).toBe(303);
    }

    const definition = aDefinition({ receiver: { to: "member" } });
    for (let n = 1; n < LIMITS.watchesOfAll - 1; n++)
      await addOwnWatch(db, `owner-${n}`, `seed-${n}`, definition, { ...beginning, matched: [] });
    for (let round = 0; round < ROUNDS; round++) {
      expect(await listWatches(db)).toHaveLength(1999);
      const answers = await Promise.all([save(origin, ann), round % 2 === 0 ? save(other, bob) : follow(other, two, bob)]);
      const [stored, refused = ""] = await reasonsOf(answers);
      expect([stored, refused.slice(4)]).toEqual(["303", "This server has as many watches as it takes. Ask its operator."]);
      const watches = await listWatches(db);
      expect(watches).toHaveLength(2000);
      for (const watch of watches)
        if (!watch.name.startsWith("seed-") && !watch.definition.filter.id?.includes(one)) await removeWatch(db, watch);
    }
    await db.close();
    for (const server of servers) expect(await server.stop()).toBe(0);
    sink.close();
  });
});

/** The statuses of answers, with the reason of a refusal. */
async function reasonsOf(answers: readonly Response[]): Promise<string[]> {
  const texts = answers.map(async (answer) => {
    const [reason = ""] = /(You follow|This server has)[^<]*/.exec(await answer.text()) ?? [];
    return `${answer.status} ${reason}`.trim();
  });
  return (await Promise.all(texts)).sort();
}

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
