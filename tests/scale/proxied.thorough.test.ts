/** Three servers behind HAProxy with one PostgreSQL and one Redis. To a client they are one server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { type CommandResult, fundfeed } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";
import { type HaProxy, haproxyIsInstalled, startHaProxy } from "../support/haproxy.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { aRedis, countedByRedis, metricsIn, type RedisServer, redisIsInstalled } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

const missing = [!hasPostgres && "PostgreSQL", !redisIsInstalled && "redis-server", !haproxyIsInstalled && "haproxy"].filter(Boolean);

const RECORDS = 120;
const PAGE = 10;

type ListPage = { data: { id: string; updated_at: string }[]; meta: { has_more: boolean; next_cursor: string | null }; links: object };

describe.skipIf(missing.length > 0)(
  `three servers behind HAProxy${missing.length > 0 ? ` (skipped: ${missing.join(", ")} not installed)` : ""}`,
  () => {
    let home: Home;
    let redis: RedisServer;
    let proxy: HaProxy;
    let ports: number[] = [];
    let servers: Server[] = [];
    let database: string;
    let env: Record<string, string>;
    let key: string;

    /** Runs a command beside the servers, within this process. */
    const run = async (...args: string[]): Promise<CommandResult> => {
      const result = await fundfeed([...args, "--database", database]);
      expect({ args, code: result.code, err: result.err }).toMatchObject({ code: 0 });
      return result;
    };
    const importRecords = (records: readonly object[]) =>
      run("import", "records", home.file("records.ndjson", records.map((each) => JSON.stringify(each)).join("\n")));
    /** Creates a key with a new plan. */
    const createKey = async (daily: number, perMinute: number): Promise<{ id: string; key: string }> => {
      const name = `plan-${daily}-${perMinute}`;
      await run("plans", "set", name, "--daily", `${daily}`, "--per-minute", `${perMinute}`);
      return JSON.parse((await run("keys", "create", "--account", name, "--plan", name, "--json")).out);
    };
    const start = (port: number, base: string) =>
      home.serve(["serve", "--port", `${port}`, "--base-url", base, "--metrics-port", "0"], { env });
    const get = (path: string, withKey = key, base = proxy.base) => fetch(base + path, { headers: { Authorization: `Bearer ${withKey}` } });
    /** How many lists a server has returned so far, by its log. */
    const listsOf = ({ log }: Server) => log().split('"route":"/opportunities"').length - 1;

    beforeAll(async () => {
      const port = await freePort();
      database = await (await postgresServer()).freshDatabase();
      [redis, home] = [await aRedis(), aHome()];
      env = { FUNDFEED_DATABASE: database, FUNDFEED_QUOTAS: redis.address };
      const records = Array.from({ length: RECORDS }, (_, n) => ({
        source: { code: "OWN", opportunity_id: `${n}` },
        title: `Number ${n}`,
      }));
      for (let first = 0; first < RECORDS; first += 40) await importRecords(records.slice(first, first + 40));
      key = (await createKey(1_000_000_000, 1_000_000_000)).key;
      ports = await Promise.all([freePort(), freePort(), freePort()]);
      servers = await Promise.all(ports.map((each) => start(each, `http://127.0.0.1:${port}/v1`)));
      proxy = await startHaProxy(port, ports);
    });
    afterAll(async () => {
      await proxy?.stop();
      await Promise.all(servers.map((server) => server.stop()));
      await redis?.stop();
    });

    /** Reads all pages, each from another server, and returns them without their request ids. */
    async function readAllPages(path = `/opportunities?limit=${PAGE}`): Promise<{ pages: ListPage[]; ids: string[] }> {
      const pages: ListPage[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const response: Response = await get(cursor === "" ? path : `${path}&cursor=${cursor}`);
        expect(response.status).toBe(200);
        const page = pageOf(await response.text());
        pages.push(page);
        cursor = page.meta.next_cursor;
      }
      return { pages, ids: pages.flatMap(({ data }) => data.map(({ id }) => id)) };
    }
    function pageOf(text: string): ListPage {
      const { data, meta, links } = JSON.parse(text);
      const { request_id: _, ...shared } = meta;
      return { data, meta: shared, links };
    }

    test("a client whose pages come from different servers gets every record once and in order, each time", async () => {
      const before = servers.map(listsOf);
      const { pages, ids } = await readAllPages();
      const exported = (await run("export")).out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as ListPage["data"][number]);
      const newestFirst = exported.sort((left, right) => (`${left.updated_at} ${left.id}` < `${right.updated_at} ${right.id}` ? 1 : -1));
      expect(ids).toEqual(newestFirst.map(({ id }) => id));
      const shares = () => servers.map((server, index) => listsOf(server) - (before[index] as number));
      await waitFor("every page is logged", () => shares().reduce((sum, share) => sum + share) === pages.length);
      for (const share of shares()) expect(Math.abs(share - pages.length / 3)).toBeLessThanOrEqual(1);
      expect((await readAllPages()).pages).toEqual(pages); // From other servers, with the same content.
    });

    test("no record appears twice or out of order while imports commit", async () => {
      let importing = true;
      const imports = (async () => {
        for (let round = 0; round < 3; round++) {
          const source = (n: number) => ({ code: "OWN", opportunity_id: `${n * 5}` });
          await importRecords(Array.from({ length: 20 }, (_, n) => ({ source: source(n), title: `Round ${round} ${n}` })));
        }
        importing = false;
      })();
      for (let reads = 0; importing || reads < 2; reads++) {
        const { pages } = await readAllPages();
        const positions = pages.flatMap(({ data }) => data.map(({ id, updated_at }) => `${updated_at} ${id}`));
        expect(positions).toEqual(positions.toSorted().reverse());
        expect(new Set(positions).size).toBe(positions.length);
        expect(positions.length).toBeGreaterThanOrEqual(RECORDS - 60); // A record that changed meanwhile has moved to the front; the next poll returns it.
      }
      await imports;
      expect(new Set((await readAllPages()).ids).size).toBe(RECORDS);
    });

    test("limits are exact: 12 of 240 simultaneous requests in a minute, 100 of 150 in a day", async () => {
      const metrics = await waitFor("each says where its metrics are", () => {
        const said = servers.flatMap(({ log }) => metricsIn(log()));
        return said.length === servers.length && said;
      });
      const statuses = async (count: number, withKey: string) => {
        const all = await Promise.all(Array.from({ length: count }, () => get("/sources", withKey)));
        return [200, 429].map((status) => all.filter((response) => response.status === status).length);
      };
      const [granted = 0, refused = 0, refilled = 0] = await countedByRedis(metrics, async () => {
        const { key } = await createKey(1000, 12);
        const started = performance.now();
        const counts = await statuses(240, key);
        return [...counts, Math.floor((performance.now() - started) / 5000)]; // On a slow machine the bucket gains tokens meanwhile.
      });
      expect([granted + refused, granted >= 12 && granted <= 12 + refilled]).toEqual([240, true]);
      expect(await countedByRedis(metrics, async () => statuses(150, (await createKey(100, 100_000)).key))).toEqual([100, 50]);
    });

    test("every server knows a new key, an inactive subscription and a revocation at the next request", async () => {
      const statusesOf = (withKey: string) =>
        Promise.all(ports.map(async (port) => (await get("/sources", withKey, `http://127.0.0.1:${port}/v1`)).status));
      for (let n = 0; n < 3; n++) {
        const { id, key: fresh } = await createKey(1000 + n, 1000);
        expect(await statusesOf(fresh)).toEqual([200, 200, 200]);
        await run("accounts", "set", `plan-${1000 + n}-1000`, "--subscription", "inactive");
        expect(await statusesOf(fresh)).toEqual([403, 403, 403]);
        await run("keys", "revoke", id);
        expect(await statusesOf(fresh)).toEqual([401, 401, 401]);
      }
    });

    test("one server gets SIGKILL under load: no wrong response, at most 502 or 503; the others continue, and HAProxy uses it again after a restart", async () => {
      const rightPages = new Map<string, ListPage>();
      const firstPath = `/opportunities?limit=${PAGE}`;
      for (let next = firstPath; ; ) {
        const page = pageOf(await (await get(next)).text());
        rightPages.set(next, page);
        if (page.meta.next_cursor === null) break;
        next = `${firstPath}&cursor=${page.meta.next_cursor}`;
      }
      const counts = { wrong: [] as unknown[], right: 0, refused: 0, broken: 0 };
      let working = true;
      const clients = Array.from({ length: 8 }, async (_, n) => {
        const paths = [...rightPages.keys()];
        for (let turn = n; working; turn++, await Bun.sleep(10)) {
          const path = paths[turn % paths.length] as string;
          try {
            const response = await get(path);
            const text = await response.text();
            if (response.status === 200 && Bun.deepEquals(pageOf(text), rightPages.get(path))) counts.right++;
            else if ([502, 503].includes(response.status) && response.headers.get("content-type") === "application/problem+json")
              counts.refused++;
            else counts.wrong.push([response.status, text.slice(0, 200)]);
          } catch {
            counts.broken++; // The connection broke within a page, which the client notices.
          }
        }
      });
      const waitForPages = async (more: number) => {
        const before = counts.right;
        await waitFor(`${more} more pages`, () => counts.right > before + more);
      };
      await waitForPages(100);
      const [killed] = servers as [Server, ...Server[]];
      killed.kill("SIGKILL");
      await killed.ended;
      await waitForPages(300);
      servers[0] = await start(ports[0] as number, proxy.base);
      await waitFor("HAProxy uses the restarted server", () => listsOf(servers[0] as Server) > 20);
      working = false;
      await Promise.all(clients);
      expect(counts.wrong).toEqual([]);
      expect(counts.refused + counts.broken).toBeLessThanOrEqual(16); // Per client, the request under way and one more.
      expect(counts.right).toBeGreaterThan(400);
    });

    test("without any server, HAProxy returns a problem document with Retry-After", async () => {
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
