/** Quotas in Redis: the same allowances as without it, and what happens if it loses its data or is unavailable. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { dayOf, type LimitedKey, takeRequest, unused } from "../../src/quota/allowance.ts";
import { isRedisAddress, type SharedQuotas, shareQuotas } from "../../src/quota/redis.ts";
import { knownKey } from "../accounts/known-key.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { selfSigned } from "../support/certificates.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { expectProblem } from "../support/problem.ts";
import { aRedis, type RedisServer, redisIsInstalled } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const take = async (quotas: SharedQuotas, key: LimitedKey, now: number, uses = 1) => {
  const taken = await quotas.take(key, now, uses);
  return typeof taken === "function" ? taken() : taken;
};
const remaining = ({ headers }: Response) => Number(headers.get("ratelimit-remaining"));

test.each([
  ["redis://127.0.0.1:6379/0", true],
  ["rediss://user:p%40ss@redis.example.org:6380", true],
  ["redis://[::1]/3", true],
  ["redis://", false],
  ["redis:///0", false],
  ["http://127.0.0.1:6379", false],
  ["redis://127.0.0.1/none", false],
  ["redis://127.0.0.1/0?password=secret", false],
  ["redis://user:100%@127.0.0.1:6379", false],
  ["127.0.0.1:6379", false],
  ["", false],
])("isRedisAddress() of %p is %p", (text, is) => {
  expect(isRedisAddress(text)).toBe(is);
});

test.each([
  ["at once", ["+OK"]],
  ["after its connection", ["*3\r\n:1\r\n:1\r\n:0", "+OK"]],
  ["after its connection, a list of something else", ["*3\r\n:1\r\n:1\r\n:0", "*2\r\n:1\r\n$1\r\na"]],
])("a server that returns something else than the script does is unavailable: %s", async (_, responses) => {
  const hello = "%1\r\n$6\r\nserver\r\n$5\r\nredis";
  let asked = 0;
  const data = (socket: Bun.Socket, text: Buffer) =>
    void socket.write(`${text.includes("HELLO") ? hello : responses[Math.min(asked++, responses.length - 1)]}\r\n`);
  using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
  const reasons: string[] = [];
  const address = `redis://127.0.0.1:${server.port}/0`;
  using quotas = await shareQuotas({
    address,
    sharePercent: 50,
    onUnavailable: (reason) => void reasons.push(reason),
    onBack: () => undefined,
  });
  const { allowance } = await take(quotas, { id: "key_1", daily: 5, per_minute: 5, use: unused }, NOON);
  expect(allowance).toMatchObject({ remaining: 4, retryAfterSeconds: 0 });
  expect([quotas.isShared(), reasons.length > 0]).toEqual([false, true]);
});

describe.skipIf(!redisIsInstalled)(redisIsInstalled ? "quotas in Redis" : "quotas in Redis: redis-server is not installed", () => {
  let redis: RedisServer;
  const opened: SharedQuotas[] = [];
  let calls: string[] = [];

  /** Quotas as a server opens them. `calls` gets what the callbacks are called with. */
  const share = async (given: { clock?: () => number; address?: string; sharePercent?: number } = {}): Promise<SharedQuotas> => {
    const onUnavailable = (reason: string) => void calls.push(`unavailable: ${reason}`);
    const quotas = await shareQuotas({
      address: redis.address,
      sharePercent: 50,
      onUnavailable,
      onBack: () => void calls.push("back"),
      ...given,
    });
    opened.push(quotas);
    return quotas;
  };
  const stored = (id: string) => redis.command("HGETALL", `fundfeed:quota:${id}`);
  const close = () => {
    for (const quotas of opened.splice(0)) quotas[Symbol.dispose]();
    calls = [];
  };
  /**
   * A test that is run again, with an empty Redis, if Redis answered too late more often than the test makes it `hang`: on a busy machine
   * that happens.
   */
  const testOfRedis = (name: string, body: () => Promise<void>, { hangs = 0 } = {}) =>
    test(
      name,
      () =>
        waitFor("Redis answers in time", async () => {
          const failure = await body().then(
            () => undefined,
            (error: unknown) => ({ error }),
          );
          if (calls.filter((text) => /no response|timeout/i.test(text)).length > hangs) {
            close();
            redis.kill("SIGKILL");
            await redis.start();
            return false;
          }
          if (failure !== undefined) throw failure.error;
          return true;
        }),
      300_000,
    );

  beforeAll(async () => {
    redis = await aRedis();
  });
  afterEach(close);
  afterAll(() => redis.stop());

  testOfRedis("any requests at any instants with any limits get the same allowances as without Redis", async () => {
    const clock = { now: 0 };
    const quotas = await share({ clock: () => clock.now });
    const quota = fc.record({ daily: fc.integer({ min: 1, max: 60 }), per_minute: fc.integer({ min: 1, max: 20 }) });
    const pause = fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: 8_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: -DAY, max: 2 * DAY }) },
      { weight: 2, arbitrary: fc.integer({ min: -90_000, max: 0 }) },
      { weight: 1, arbitrary: fc.constant(0) },
    );
    const step = fc.record({ pause, quota: fc.option(quota, { freq: 8 }), uses: fc.integer({ min: 1, max: 8 }) });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(quota, fc.array(step, { minLength: 20, maxLength: 80 }), async (first, steps) => {
        const key: LimitedKey = { ...first, id: `property-${runs++}`, use: unused };
        let use = unused;
        clock.now = NOON + 12 * HOUR - 60_000;
        for (const { pause, quota, uses } of steps) {
          clock.now += pause;
          Object.assign(key, quota);
          const expected = takeRequest(use, key, clock.now, uses);
          const taken = await take(quotas, key, clock.now, uses);
          use = expected.use;
          key.use = taken.use;
          expect([taken.allowance, taken.use.window, taken.taken]).toEqual([expected.allowance, use.window, expected.taken]);
        }
        const { taken, refilledAtMs } = use.bucket;
        expect(await stored(key.id)).toMatchObject({ taken: `${taken}`, refilled_at: `${refilledAtMs}` });
      }),
      { numRuns: 150 },
    );
    expect(calls).toEqual([]);
  });

  testOfRedis("a request that is taken back leaves the day in Redis, but not the minute", async () => {
    const quotas = await share({ clock: () => NOON });
    const key: LimitedKey = { id: "taken-back", daily: 10, per_minute: 10, use: unused };
    for (let n = 0; n < 3; n++) await take(quotas, key, NOON);
    quotas.takeBack?.(key, dayOf(NOON));
    quotas.takeBack?.(key, dayOf(NOON) - 1); // A day that is over.
    await waitFor("Redis has taken it back", async () => JSON.stringify(await stored("taken-back")).includes('"used":"2"'));
    expect(await stored("taken-back")).toMatchObject({ used: "2", taken: "180000" });
  });

  testOfRedis("the largest limits are counted exactly", async () => {
    const quotas = await share({ clock: () => NOON });
    const key: LimitedKey = { id: "largest", daily: 1_000_000_000, per_minute: 1_000_000_000, use: unused };
    for (const left of [999_999_999, 999_999_998]) expect((await take(quotas, key, NOON)).allowance.remaining).toBe(left);
    expect(await stored("largest")).toMatchObject({ taken: "120000", refilled_at: `${NOON}` });
  });

  testOfRedis("servers count together, and by Redis's clock, however far apart their own clocks are", async () => {
    const limits = { id: "apart", daily: 100, per_minute: 3 };
    const ahead = 30 * HOUR;
    const servers = [
      { quotas: await share(), key: { ...limits, use: unused }, now: () => Date.now() },
      { quotas: await share(), key: { ...limits, use: unused }, now: () => Date.now() + ahead },
    ];
    const seen = [];
    for (const { quotas, key, now } of [...servers, ...servers, ...servers]) {
      const { use, allowance } = await take(quotas, key, now());
      key.use = use;
      seen.push([allowance.remaining, Math.ceil(allowance.retryAfterSeconds / 20), dayOf(Date.now()) - use.window.day]);
    }
    expect(seen).toEqual([
      [99, 0, 0],
      [98, 0, 0],
      [97, 0, 0],
      [97, 1, 0], // Within the 20 s that one token takes.
      [97, 1, 0],
      [97, 1, 0],
    ]);
  });

  test.each<[string, (address: string) => string]>([
    ["nobody listens", () => "redis://127.0.0.1:1/0"],
    ["it refuses the user", (address) => address.replace("//", "//nobody:wrong@")],
  ])("is unavailable if %s, with a reason that names every possible cause", async (_, of) => {
    const quotas = await share({ address: of(redis.address) });
    const reason = "no connection: it must listen there, accept user and password, and speak TLS for rediss:// alone";
    expect([quotas.isShared(), calls]).toEqual([false, [`unavailable: ${reason}`]]);
  });

  test("is unavailable if it speaks no TLS", async () => {
    const quotas = await share({ address: redis.address.replace("redis:", "rediss:") });
    expect(quotas.isShared()).toBe(false);
    // The handshake times out if it contains no end of a line, for which Redis waits.
    expect(calls.join()).toMatch(/^unavailable: (no connection: .* speak TLS for rediss:\/\/ alone|no response within 1000 ms)$/);
  });

  testOfRedis("the stored use of a key expires an hour after its day, and contains no secret", async () => {
    const quotas = await share({ clock: () => NOON });
    await take(quotas, { id: "key_1", daily: 5, per_minute: 5, use: unused }, NOON);
    expect(await stored("key_1")).toEqual({ day: `${NOON / DAY - 0.5}`, used: "1", taken: "60000", refilled_at: `${NOON}` });
    const names = (await redis.command("KEYS", "*")) as string[];
    expect(names).toContain("fundfeed:quota:key_1");
    for (const name of names) expect(Number(await redis.command("PTTL", name))).toBeGreaterThan(0);
    const left = Number(await redis.command("PTTL", "fundfeed:quota:key_1"));
    expect(left > 13 * HOUR - 60_000 && left <= 13 * HOUR).toBe(true);
  });

  testOfRedis("a flushed script is sent again", async () => {
    const quotas = await share({ clock: () => NOON });
    const key: LimitedKey = { id: "flushed", daily: 5, per_minute: 5, use: unused };
    for (const left of [4, 3]) {
      await redis.command("SCRIPT", "FLUSH");
      expect((await take(quotas, key, NOON)).allowance.remaining).toBe(left);
    }
    expect(calls).toEqual([]);
  });

  describe("a service with shared quotas", () => {
    let api: TestApi;
    let quotas: SharedQuotas;
    beforeAll(async () => {
      api = await testApi();
    });
    const shareNow = async () => {
      quotas = await share({ clock: () => api.clock.now });
      api.access.quotas = quotas;
    };

    testOfRedis("returns the same headers and refusals", async () => {
      await shareNow();
      const { key, id } = await api.newKey({ daily: 3, per_minute: 2 });
      const responses = [];
      for (const pause of [0, 0, 0, 30_000, 60_000]) {
        api.clock.now += pause;
        responses.push(await api.get("/sources", { key }));
      }
      const seen = responses.map((response) => [
        response.status,
        response.headers.get("ratelimit-limit"),
        remaining(response),
        response.headers.get("retry-after"),
      ]);
      expect(seen).toEqual([
        [200, "3", 2, null],
        [200, "3", 1, null],
        [429, "3", 1, "30"],
        [200, "3", 0, null],
        [429, "3", 0, `${12 * 3600 - 90}`],
      ]);
      for (const { headers } of responses) expect(headers.get("ratelimit-reset")).toBe(`${(NOON + 12 * HOUR) / 1000}`);
      for (const refused of responses.filter(({ status }) => status === 429)) await expectProblem(refused, { code: "rate_limit_exceeded" });
      await api.saveUse();
      expect(api.access.keys.values().find((known) => known.id === id)?.use.window.used).toBe(3);
    });

    testOfRedis("a Redis that lost everything continues the day from the stored use, and begins the minute again", async () => {
      await shareNow();
      const { key } = await api.newKey({ daily: 6, per_minute: 4 });
      for (const status of [200, 200, 200, 200, 429]) expect((await api.get("/sources", { key })).status).toBe(status);
      await redis.command("FLUSHALL");
      for (const left of [1, 0]) expect(remaining(await api.get("/sources", { key }))).toBe(left);
      expect((await api.get("/sources", { key })).status).toBe(429);
    });

    testOfRedis("a server that starts with an empty Redis continues from the stored use", async () => {
      await shareNow();
      const { key } = await api.newKey({ daily: 6, per_minute: 60 });
      for (let n = 0; n < 4; n++) await api.get("/sources", { key });
      await api.saveUse();
      await redis.command("FLUSHALL");
      const known = knownKey(api.access, key);
      const { use } = await take(quotas, { ...known, use: { window: { ...known.use.window }, bucket: unused.bucket } }, api.clock.now);
      expect(use.window.used).toBe(5);
    });

    testOfRedis(
      "while Redis is unavailable, half of the minute is granted and the day continues; onUnavailable is called once",
      async () => {
        await shareNow();
        const { key } = await api.newKey({ daily: 9, per_minute: 5 });
        for (const left of [8, 7, 6]) expect(remaining(await api.get("/sources", { key }))).toBe(left);
        redis.kill("SIGKILL");
        const statuses = [];
        for (let n = 0; n < 6; n++) statuses.push((await api.get("/sources", { key })).status);
        expect([statuses, quotas.isShared(), quotas.countedAlone()]).toEqual([[200, 200, 200, 429, 429, 429], false, 6]);
        expect(calls).toEqual(["unavailable: Connection closed"]);
        await redis.start();
        await waitFor("it is back", () => quotas.isShared());
        for (const left of [2, 1, 0]) expect(remaining(await api.get("/sources", { key }))).toBe(left);
        expect((await api.get("/sources", { key })).status).toBe(429);
        expect(calls).toEqual(["unavailable: Connection closed", "back"]);
      },
    );

    testOfRedis(
      "requests that wait for a hanging Redis count alone, none twice, and later ones do not wait",
      async () => {
        await shareNow();
        const { key } = await api.newKey({ daily: 10, per_minute: 100 });
        expect(remaining(await api.get("/sources", { key }))).toBe(9);
        redis.kill("SIGSTOP");
        const statuses = (await Promise.all([1, 2].map(() => api.get("/sources", { key })))).map(({ status }) => status);
        for (let n = 0; n < 3; n++) statuses.push((await api.get("/sources", { key })).status);
        const other: LimitedKey = { id: "other", daily: 1, per_minute: 1, use: unused };
        expect(quotas.take(other, NOON)).not.toBeInstanceOf(Promise);
        redis.kill("SIGCONT");
        expect([statuses, calls]).toEqual([[200, 200, 200, 200, 200], ["unavailable: no response within 100 ms"]]);
        await waitFor("it is back", () => quotas.isShared());
        expect(remaining(await api.get("/sources", { key }))).toBe(3);
      },
      { hangs: 1 },
    );

    testOfRedis(
      "of many requests that wait for a hanging Redis, the share of a minute is granted",
      async () => {
        await shareNow();
        const { key } = await api.newKey({ daily: 1000, per_minute: 12 });
        await api.get("/sources", { key });
        redis.kill("SIGSTOP");
        const statuses = (await Promise.all(Array.from({ length: 60 }, () => api.get("/sources", { key })))).map(({ status }) => status);
        redis.kill("SIGCONT");
        expect(statuses.filter((status) => status === 200)).toHaveLength(6);
        expect(calls.slice(0, 1)).toEqual(["unavailable: no response within 100 ms"]);
        await waitFor("it is back", () => quotas.isShared());
      },
      { hangs: 1 },
    );
  });

  testOfRedis("a Redis that refuses to count is unavailable until it counts again", async () => {
    const quotas = await share();
    const key: LimitedKey = { id: "full", daily: 5, per_minute: 5, use: unused };
    await redis.command("CONFIG", "SET", "maxmemory", "1");
    expect((await take(quotas, key, NOON)).allowance.remaining).toBe(4);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toContain("OOM");
    await Bun.sleep(1_500);
    expect([quotas.isShared(), calls.length]).toEqual([false, 1]);
    await redis.command("CONFIG", "SET", "maxmemory", "0");
    await waitFor("it is back", () => quotas.isShared());
  });

  testOfRedis("a pause of the server is not mistaken for one of Redis", async () => {
    const quotas = await share();
    const key: LimitedKey = { id: "pause", daily: 5, per_minute: 5, use: unused };
    const taking = take(quotas, key, NOON);
    Bun.sleepSync(300);
    expect((await taking).allowance.remaining).toBe(4);
    expect([quotas.isShared(), calls]).toEqual([true, []]);
  });

  test("rediss:// is TLS, with a certificate that must be trusted", async () => {
    const directory = aDirectory();
    selfSigned(directory, "localhost");
    const [crt, key] = [join(directory, "localhost.crt"), join(directory, "localhost.key")];
    const files = ["--tls-cert-file", crt, "--tls-key-file", key, "--tls-ca-cert-file", crt];
    const guarded = await aRedis(({ port }) => ["--port", "0", "--tls-port", `${port}`, "--tls-auth-clients", "no", ...files]);
    const shares = `import { shareQuotas } from "${join(import.meta.dir, "../../src/quota/redis.ts")}";
      using quotas = await shareQuotas({ address: "rediss://localhost:${guarded.port}/0", sharePercent: 50, onUnavailable() {}, onBack() {} });
      process.stdout.write(String(quotas.isShared()));`;
    const isShared = (env: Record<string, string>) =>
      Bun.spawnSync([process.execPath, "-e", shares], { env: { PATH: process.env.PATH ?? "", ...env } }).stdout.toString();
    try {
      expect(isShared({})).toBe("false");
      await waitFor("a trusted one is shared", () => isShared({ NODE_EXTRA_CA_CERTS: crt }) === "true");
    } finally {
      await guarded.stop();
    }
  });

  test("a wrong password, user or database makes Redis unavailable; no reason contains a password", async () => {
    const guarded = await aRedis(() => ["--requirepass", "p@ss/word"]);
    try {
      const at = (login: string, db = 0) => `redis://${login}127.0.0.1:${guarded.port}/${db}`;
      for (const address of [at(":wrong-secret@"), at(""), at("nobody:p%40ss%2Fword@"), at(":p%40ss%2Fword@", 99)])
        expect((await share({ address })).isShared()).toBe(false);
      expect([calls.length, calls.filter((text) => /secret|ss.word/.test(text))]).toEqual([4, []]);
      for (const address of [at(":p%40ss%2Fword@"), at("default:p%40ss%2Fword@", 3)])
        await waitFor("it is shared", (await share({ address })).isShared);
    } finally {
      await guarded.stop();
    }
  });
});
