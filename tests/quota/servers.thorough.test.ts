/** Three servers with one data directory and one Redis: exact limits, and what clients see while Redis is unavailable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { aRedis, countedByRedis, type RedisServer, redisIsInstalled } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

describe.skipIf(!redisIsInstalled)(redisIsInstalled ? "three servers" : "three servers: redis-server is not installed", () => {
  let redis: RedisServer;
  let home: Home;
  let servers: Server[] = [];

  beforeAll(async () => {
    [redis, home] = [await aRedis(() => ["--requirepass", "quota-secret"]), aHome()];
    await printed("plans", "set", "first", "--daily", "1", "--per-minute", "1"); // Creates the files.
    const env = { FUNDFEED_QUOTAS: `redis://:quota-secret@127.0.0.1:${redis.port}/0` };
    const start = () => home.serve(["serve", "--port", "0", "--metrics-port", "0", "--log-level", "failure"], { env });
    servers = await Promise.all([start(), start(), start()]);
  }, 300_000);
  afterAll(async () => {
    const codes = await Promise.all(servers.map((server) => server.stop()));
    await redis.stop();
    expect(codes).toEqual([0, 0, 0]);
    for (const server of servers) expect(server.log()).not.toContain("quota-secret");
  });

  /** Runs a command beside the servers, within this process, and returns what it printed. */
  const printed = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await fundfeed([...args, "--data", home.at("fundfeed-data")]);
    expect([code, err]).toEqual([0, expect.any(String)]);
    return out;
  };
  let plans = 0;
  /** A key of an account with its own plan of the same name. */
  const aKey = async (daily: number, perMinute: number) => {
    const plan = `plan-${++plans}`;
    await printed("plans", "set", plan, "--daily", `${daily}`, "--per-minute", `${perMinute}`);
    return { plan, key: (await printed("keys", "create", "--account", plan, "--plan", plan)).trim() };
  };
  const listedKey = async (account: string) =>
    (JSON.parse(await printed("keys", "list", "--json")) as { id: string; account: string; used_today: number }[]).find(
      (key) => key.account === account,
    );
  const usedToday = async (account: string) => (await listedKey(account))?.used_today;
  type Seen = { status: number; remaining: number; retryAfter: number };
  const ask = async (server: Server, key: string): Promise<Seen> => {
    const { status, headers } = await server.get("/sources", key);
    const [remaining, retryAfter] = [Number(headers.get("ratelimit-remaining")), Number(headers.get("retry-after") ?? 0)];
    return { status, remaining, retryAfter };
  };
  /** `count` requests at once, sent to the servers in turn. */
  const burst = (count: number, key: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => ask(servers[n % servers.length] as Server, key)));
  const granted = (seen: readonly Seen[]) => seen.filter(({ status }) => status === 200);
  /** Tokens that may have been refilled since `from`: none, unless the machine is slow. */
  const backSince = (from: number, perMinute: number) => Math.floor(((performance.now() - from) * perMinute) / 60_000);
  const expectWithin = (count: number, least: number, most: number) =>
    expect([count, count >= least && count <= most]).toEqual([count, true]);
  const lines = (server: Server, words: string) => server.log().split(words).length - 1;
  const metricsOf = (server: Server) =>
    waitFor("it says where its metrics are", () => /The metrics are at ([^"\s]+)/.exec(server.log())?.[1] ?? false);
  const metric = async (server: Server, name: string): Promise<number> => {
    const text = await (await fetch(await metricsOf(server))).text();
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
  };
  /** Sends requests to all servers during `work`, with pauses that leave the processors to them, and returns what they saw. */
  const underLoad = async (key: string, work: (seen: readonly Seen[]) => Promise<void>): Promise<Seen[]> => {
    let [going, seen] = [true, [] as Seen[]];
    const clients = Array.from({ length: 12 }, async (_, n) => {
      for (; going; await Bun.sleep(10)) seen.push(await ask(servers[n % servers.length] as Server, key));
    });
    await work(seen).finally(() => {
      going = false;
    });
    await Promise.all(clients);
    return seen;
  };
  const countedAlone = async () => {
    const counts = await Promise.all(servers.map((server) => metric(server, "fundfeed_quotas_counted_alone_total")));
    return counts.reduce((sum, count) => sum + count);
  };
  const untilShared = (expected: number) =>
    Promise.all(
      servers.map((server) =>
        waitFor(`fundfeed_quotas_shared is ${expected}`, async () => (await metric(server, "fundfeed_quotas_shared")) === expected),
      ),
    );

  /** A key after a burst of requests that Redis counted, all of them: on a busy machine it may be too slow to. */
  const usedKey = async (daily: number, perMinute: number, count: number) =>
    countedByRedis(await Promise.all(servers.map(metricsOf)), async () => {
      const made = await aKey(daily, perMinute);
      const from = performance.now();
      return { ...made, from, seen: await burst(count, made.key) };
    });

  test("grant exactly the minute's limit of 240 requests at once", async () => {
    const { seen, from } = await usedKey(1000, 12, 240);
    const [count, refused] = [200, 429].map((status) => seen.filter((each) => each.status === status).length) as [number, number];
    expectWithin(count, 12, 12 + backSince(from, 12));
    expect(count + refused).toBe(240);
    expect(granted(seen).map(({ remaining }) => remaining)).toContainAllValues(Array.from({ length: count }, (_, n) => 999 - n));
    for (const { status, retryAfter } of seen) if (status === 429) expect(retryAfter >= 1 && retryAfter <= 5).toBe(true);
  });

  test("grant exactly the day's limit of 240 requests at once, and store together what they granted", async () => {
    const { seen, plan } = await usedKey(100, 100_000, 240);
    expect(
      granted(seen)
        .map(({ remaining }) => remaining)
        .sort((a, b) => b - a),
    ).toEqual(Array.from({ length: 100 }, (_, n) => 99 - n));
    const refused = seen.filter(({ status }) => status === 429);
    expect(refused.map(({ remaining }) => remaining)).toEqual(new Array(140).fill(0));
    for (const { retryAfter } of refused) expect(Math.abs(retryAfter - (86_400 - ((Date.now() / 1000) % 86_400)))).toBeLessThan(60);
    await waitFor("the use of the day is stored", async () => (await usedToday(plan)) === 100);
  });

  test("apply a revocation and another plan at once", async () => {
    const { plan, key, counts } = await countedByRedis(await Promise.all(servers.map(metricsOf)), async () => {
      const made = await aKey(50, 1000);
      const first = await burst(60, made.key);
      await printed("plans", "set", made.plan, "--daily", "56", "--per-minute", "1000");
      const second = await burst(30, made.key);
      return { ...made, counts: [first, second].map((seen) => granted(seen).length) };
    });
    expect(counts).toEqual([50, 6]);
    await printed("keys", "revoke", (await listedKey(plan))?.id ?? "");
    expect((await burst(9, key)).map(({ status }) => status)).toEqual(new Array(9).fill(401));
  });

  test("do not grant the day again if Redis loses everything", async () => {
    const counts = await countedByRedis(await Promise.all(servers.map(metricsOf)), async () => {
      const { plan, key } = await aKey(70, 1000);
      const first = granted(await burst(60, key)).length;
      await waitFor("it is stored", async () => (await usedToday(plan)) === first);
      await Bun.$`redis-cli -p ${redis.port} --no-auth-warning -a quota-secret flushall`.quiet();
      return [first, granted(await burst(60, key)).length];
    });
    expect(counts).toEqual([60, 10]);
  });

  test.each(["SIGKILL", "SIGSTOP"] as const)(
    "survive %s of Redis under load: no failure, no hang, half the minute each, a line in the log; then shared again",
    async (signal) => {
      const number = 12;
      const { key: busy } = await aKey(1_000_000_000, 1_000_000_000);
      const { key: counted, from, seen: first } = await usedKey(1000, number, 60);
      expectWithin(granted(first).length, number, number + backSince(from, number));
      const before = servers.map((server) => [lines(server, "is unavailable"), lines(server, "is back")] as const);

      const seen = await underLoad(busy, async (seen) => {
        await waitFor("responses arrive", () => seen.length > 100);
        redis.kill(signal);
        await untilShared(0);
        const [since, first] = [performance.now(), seen.length];
        const ofShares = granted(await burst(90, counted)).length;
        expectWithin(ofShares, 1.5 * number, 1.5 * number + 3 * Math.ceil(backSince(since, number) / 2 + 1));
        await waitFor("requests go on", () => seen.length > first + 300);
        await (signal === "SIGKILL" ? redis.start() : redis.kill("SIGCONT"));
        await untilShared(1);
        const back = seen.length;
        await waitFor("requests go on", () => seen.length > back + 100);
      });

      expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]));
      for (const [n, server] of servers.entries()) {
        const [lost = 0, back = 0] = before[n] ?? [];
        // More than once on a busy machine, whose last line may still be to come.
        await waitFor("Redis is back as often as it was away", () => {
          const times = lines(server, "is unavailable") - lost;
          return times > 0 && lines(server, "is back") - back === times;
        });
      }
      for (const server of servers) expect(await metric(server, "fundfeed_quotas_counted_alone_total")).toBeGreaterThan(0);
      // Redis still knows the minute.
      if (signal === "SIGSTOP") {
        const countAlone = await countedAlone();
        const again = granted(await burst(60, counted)).length;
        const ofShares = (await countedAlone()) > countAlone ? 1.5 * number : 0; // On a busy machine Redis may answer too late.
        expectWithin(again, 0, 2 + backSince(from, number) + ofShares);
      }
      const another = await usedKey(1000, number + 1, 90);
      expectWithin(granted(another.seen).length, number + 1, number + 1 + backSince(another.from, number + 1));
    },
    300_000,
  );

  test("share the day through stored use while Redis is unavailable", async () => {
    const { plan, key } = await aKey(50, 1001);
    redis.kill("SIGKILL");
    expect(granted(await burst(50, key))).toHaveLength(50);
    await waitFor("it is stored", async () => (await usedToday(plan)) === 50);
    expect(granted(await burst(30, key))).toHaveLength(0);
    await redis.start();
    await untilShared(1);
    expect(granted(await burst(30, key))).toHaveLength(0);
  });

  test("refuse a bad --quotas without repeating its password", async () => {
    const { code, err } = await home.run(["serve"], { env: { FUNDFEED_QUOTAS: "redis://:hidden-word@127.0.0.1/zero" } });
    expect([code, err.includes("--quotas must be a percent-encoded URL"), err.includes("hidden")]).toEqual([2, true, false]);
  });
});
