/** Three servers behind HAProxy, over one PostgreSQL and one Redis: to a client they are one. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import type { CommandResult } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { aRedis, type RedisServer, redisIsInstalled } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";
import { aProxy, type HaProxy, haproxyIsInstalled } from "./haproxy-server.ts";

setDefaultTimeout(300_000); // Processes on a busy machine take their time.
afterAll(dropHomes);

const missing = [!hasPostgres && "PostgreSQL", !redisIsInstalled && "redis-server", !haproxyIsInstalled && "haproxy"].filter(Boolean);

const RECORDS = 330;
const PAGE = 25;

type Answer = { data: { id: string; updated_at: string }[]; meta: { has_more: boolean; next_cursor: string | null }; links: object };

describe.skipIf(missing.length > 0)(
  `three servers behind HAProxy${missing.length > 0 ? ` (there is no ${missing.join(", ")} here)` : ""}`,
  () => {
    let home: Home;
    let redis: RedisServer;
    let proxy: HaProxy;
    let ports: number[] = [];
    let servers: Server[] = [];
    let env: Record<string, string>;
    let key: string;

    const run = async (args: readonly string[], stdin = ""): Promise<CommandResult> => {
      const ran = await home.run(args, { env, stdin });
      expect({ args, code: ran.code, err: ran.err }).toMatchObject({ code: 0 });
      return ran;
    };
    /** A key of a plan of its own. */
    const aKey = async (daily: number, perMinute: number): Promise<{ id: string; key: string }> => {
      const name = `plan-${daily}-${perMinute}`;
      await run(["plans", "set", name, "--daily", `${daily}`, "--per-minute", `${perMinute}`]);
      return JSON.parse((await run(["keys", "create", "--account", name, "--plan", name, "--json"])).out);
    };
    const start = (port: number, base: string) => home.serve(["serve", "--port", `${port}`, "--base-url", base], { env });
    const get = (path: string, by = key, base = proxy.base) => fetch(base + path, { headers: { Authorization: `Bearer ${by}` } });
    /** Lists that a server has answered so far. */
    const answeredBy = ({ log }: Server) => log().split('"route":"/opportunities"').length - 1;

    beforeAll(async () => {
      const [database, port] = [await (await postgresServer()).freshDatabase(), await freePort()];
      [redis, home] = [await aRedis(), aHome()];
      env = { FUNDFEED_DATABASE: database, FUNDFEED_QUOTAS: redis.address };
      const records = Array.from({ length: RECORDS }, (_, n) =>
        JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Number ${n}` }),
      );
      for (let first = 0; first < RECORDS; first += 110)
        await run(["import", "records", "-"], records.slice(first, first + 110).join("\n"));
      key = (await aKey(1_000_000_000, 1_000_000_000)).key;
      ports = await Promise.all([freePort(), freePort(), freePort()]);
      servers = await Promise.all(ports.map((each) => start(each, `http://127.0.0.1:${port}/v1`)));
      proxy = await aProxy(port, ports);
    });
    afterAll(async () => {
      await proxy?.stop();
      await Promise.all(servers.map((server) => server.stop()));
      await redis?.stop();
    });

    /** All pages, as they are but for the request's id, each from the next server. */
    async function walk(path = `/opportunities?limit=${PAGE}`): Promise<{ pages: Answer[]; ids: string[] }> {
      const pages: Answer[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const response: Response = await get(cursor === "" ? path : `${path}&cursor=${cursor}`);
        expect(response.status).toBe(200);
        const page = pageOf(await response.text());
        pages.push(page);
        cursor = page.meta.next_cursor;
      }
      return { pages, ids: pages.flatMap(({ data }) => data.map(({ id }) => id)) };
    }
    function pageOf(text: string): Answer {
      const { data, meta, links } = JSON.parse(text);
      const { request_id: _, ...shared } = meta;
      return { data, meta: shared, links };
    }

    test("a walk that changes the server with each page has every record once, in order, as every other walk", async () => {
      const before = servers.map(answeredBy);
      const { pages, ids } = await walk();
      const exported = (await run(["export"])).out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Answer["data"][number]);
      const newestFirst = exported.sort((left, right) => (`${left.updated_at} ${left.id}` < `${right.updated_at} ${right.id}` ? 1 : -1));
      expect(ids).toEqual(newestFirst.map(({ id }) => id));
      const shares = () => servers.map((server, index) => answeredBy(server) - (before[index] as number));
      await waitFor("all are logged", () => shares().reduce((sum, share) => sum + share) === pages.length);
      for (const share of shares()) expect(Math.abs(share - pages.length / 3)).toBeLessThanOrEqual(1);
      expect((await walk()).pages).toEqual(pages); // Other servers, the same bytes.
    });

    test("a walk is exact while imports commit and the servers change", async () => {
      let importing = true;
      const imports = (async () => {
        for (let round = 0; round < 3; round++) {
          const changed = Array.from({ length: 60 }, (_, n) =>
            JSON.stringify({ source: { code: "OWN", opportunity_id: `${n * 5}` }, title: `Round ${round} ${n}` }),
          );
          await run(["import", "records", "-"], changed.join("\n"));
        }
        importing = false;
      })();
      for (let walks = 0; importing || walks < 2; walks++) {
        const { pages } = await walk();
        const places = pages.flatMap(({ data }) => data.map(({ id, updated_at }) => `${updated_at} ${id}`));
        expect(places).toEqual(places.toSorted().reverse());
        expect(new Set(places).size).toBe(places.length);
        expect(places.length).toBeGreaterThanOrEqual(RECORDS - 180); // Whatever moved up meanwhile is in the next poll.
      }
      await imports;
      expect(new Set((await walk()).ids).size).toBe(RECORDS);
    });

    test("limits are exact: 12 a minute of 240 at once, 100 a day of 150", async () => {
      const [minute, day] = [await aKey(1000, 12), await aKey(100, 100_000)];
      const statuses = async (count: number, by: string) => {
        const all = await Promise.all(Array.from({ length: count }, () => get("/sources", by)));
        return [200, 429].map((status) => all.filter((response) => response.status === status).length);
      };
      const from = performance.now();
      const [granted = 0, refused = 0] = await statuses(240, minute.key);
      const back = Math.floor((performance.now() - from) / 5000); // Tokens that a slow machine has got back meanwhile.
      expect([granted + refused, granted >= 12 && granted <= 12 + back]).toEqual([240, true]);
      expect(await statuses(150, day.key)).toEqual([100, 50]);
    });

    test("a key is known to every server at the next request, and so is its end", async () => {
      const all = (by: string) => Promise.all(ports.map(async (port) => (await get("/sources", by, `http://127.0.0.1:${port}/v1`)).status));
      for (let n = 0; n < 3; n++) {
        const { id, key: fresh } = await aKey(1000 + n, 1000);
        expect(await all(fresh)).toEqual([200, 200, 200]);
        await run(["accounts", "set", `plan-${1000 + n}-1000`, "--subscription", "inactive"]);
        expect(await all(fresh)).toEqual([403, 403, 403]);
        await run(["keys", "revoke", id]);
        expect(await all(fresh)).toEqual([401, 401, 401]);
      }
    });

    test("one gets SIGKILL under load: no wrong answer, at most a 502 or 503; the others go on, and it comes back", async () => {
      const right = new Map<string, Answer>();
      const path = `/opportunities?limit=${PAGE}`;
      for (let at = path; ; ) {
        const page = pageOf(await (await get(at)).text());
        right.set(at, page);
        if (page.meta.next_cursor === null) break;
        at = `${path}&cursor=${page.meta.next_cursor}`;
      }
      const seen = { wrong: [] as unknown[], right: 0, refused: 0, broken: 0 };
      let going = true;
      const clients = Array.from({ length: 8 }, async (_, n) => {
        const paths = [...right.keys()];
        for (let at = n; going; at++) {
          const asked = paths[at % paths.length] as string;
          try {
            const response = await get(asked);
            const text = await response.text();
            if (response.status === 200 && Bun.deepEquals(pageOf(text), right.get(asked))) seen.right++;
            else if ([502, 503].includes(response.status) && response.headers.get("content-type") === "application/problem+json")
              seen.refused++;
            else seen.wrong.push([response.status, text.slice(0, 200)]);
          } catch {
            seen.broken++; // Cut off within a page: the client knows.
          }
        }
      });
      const busy = async (more: number) => {
        const before = seen.right;
        await waitFor("pages are answered", () => seen.right > before + more);
      };
      await busy(100);
      const [killed] = servers as [Server, ...Server[]];
      killed.kill("SIGKILL");
      await killed.ended;
      await busy(300);
      servers[0] = await start(ports[0] as number, proxy.base);
      await waitFor("it is asked again", () => answeredBy(servers[0] as Server) > 20);
      going = false;
      await Promise.all(clients);
      expect(seen.wrong).toEqual([]);
      expect(seen.refused + seen.broken).toBeLessThanOrEqual(16); // Each client's request under way, and one more.
      expect(seen.right).toBeGreaterThan(400);
    });

    test("without any server, HAProxy's own answer is a problem document with Retry-After", async () => {
      await Promise.all(servers.map((server) => server.stop()));
      const response = await get("/sources");
      expect([response.status, response.headers.get("content-type"), response.headers.get("retry-after")]).toEqual([
        503,
        "application/problem+json",
        "5",
      ]);
      expect(await response.json()).toMatchObject({ status: 503 });
    });
  },
);
