/**
 * Quotas that several servers share through one Redis 7 or Valkey: one script call a request.
 *
 * Redis's clock is the one that counts, so that servers whose clocks differ refill no bucket twice and begin the day together. While
 * Redis is away a server counts by itself, with a share of each minute's number; the day goes on from what it knows of it.
 */
import { RedisClient } from "bun";
import { isPercentEncoded } from "../../db/percent-encoded.ts";
import { codeOf, reasonOf } from "../../db/reason.ts";
import { allowanceOf, type Limited, type Quotas, type Taken, takeRequest, unused } from "./allowance.ts";
import script from "./take-request.lua" with { type: "text" };

/** How long a request waits for Redis. */
const ANSWER_MS = 100;
/** How long Redis is left alone once it is away, and how long a connection may take. */
const RETRY_MS = 1000;
const CONNECT_MS = 1000;

const PREFIX = "fundfeed:quota:";
const DIGEST = new Bun.CryptoHasher("sha1").update(script).digest("hex");

/** All of these are one to Bun's client (1.4.5). */
const NO_CONNECTION = "no connection: it must listen there, accept user and password, and speak TLS for rediss:// alone";

/** A key that nobody has. It is counted to see whether Redis can count. */
const PROBE: Limited = { id: "probe", daily: 1, per_minute: 1, use: unused };

export type SharedQuotas = Quotas &
  Disposable & {
    /** Whether Redis counts at present. */
    isShared: () => boolean;
    /** Requests that this server counted by itself, because Redis was away. */
    countedAlone: () => number;
  };

type Sharing = {
  /** `redis://user:password@host:port/db`, or `rediss://` for TLS. */
  address: string;
  /** How much of a minute's number this server grants by itself while Redis is away. */
  sharePercent: number;
  /** Told once each time that Redis goes away, with a reason that holds no password, and once when it is back. */
  onAway: (reason: string) => void;
  onBack: () => void;
  /** In place of Redis's clock. */
  clock?: () => number;
};

/**
 * Connects, or leaves that for later when Redis is away. No request ever fails because of Redis, or waits longer than 0.1 s for it,
 * pauses of this process itself aside.
 */
export async function shareQuotas({ address, sharePercent, onAway, onBack, clock }: Sharing): Promise<SharedQuotas> {
  let redis: RedisClient | undefined;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let alone = 0;

  const retryLater = () => {
    if (!closed) timer = setTimeout(() => void reconnect().then(onBack, retryLater), RETRY_MS);
  };
  const reconnect = async () => {
    const connected = await connect(address);
    if (closed) connected.close();
    else redis = connected;
  };
  const lose = (reason: string) => {
    redis = undefined;
    onAway(reason);
    retryLater();
  };

  const takeAlone = (key: Limited, now: number): Taken => {
    alone++;
    return takeRequest(key.use, { daily: key.daily, per_minute: Math.ceil((key.per_minute * sharePercent) / 100) }, now);
  };
  const takeShared = async (asked: RedisClient, key: Limited, now: number): Promise<Taken> => {
    try {
      const { window, retryAfterSeconds } = await within(ANSWER_MS, ask(asked, key, clock?.()));
      return { use: { window, bucket: key.use.bucket }, allowance: allowanceOf(window, key, retryAfterSeconds) };
    } catch (error) {
      if (asked === redis) lose(reasonOf(error)); // The first that notices: what others wait for ends with the connection.
      asked.close();
      return takeAlone(key, now);
    }
  };

  await reconnect().catch((error) => lose(reasonOf(error)));
  return {
    take: (key, now) => (redis === undefined ? takeAlone(key, now) : takeShared(redis, key, now)),
    isShared: () => redis !== undefined,
    countedAlone: () => alone,
    [Symbol.dispose]: () => {
      closed = true;
      clearTimeout(timer);
      redis?.close();
      redis = undefined;
    },
  };
}

/** Whether a text is the address of a Redis. */
export function isRedisAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === "") return false;
  return /^(\/\d*)?$/.test(url.pathname) && url.search === "" && isPercentEncoded(url);
}

/** A connection over which Redis has counted. Each is used until it fails once: what is still under way on it is then nobody's. */
async function connect(address: string): Promise<RedisClient> {
  const redis = new RedisClient(address, { connectionTimeout: CONNECT_MS, autoReconnect: false, enableOfflineQueue: false });
  try {
    await within(CONNECT_MS, redis.connect()).catch((error) => {
      throw codeOf(error) === "ERR_REDIS_CONNECTION_CLOSED" ? new Error(NO_CONNECTION, { cause: error }) : error;
    });
    await within(ANSWER_MS, redis.send("EVAL", [script, ...argumentsFor(PROBE)]));
    return redis;
  } catch (error) {
    redis.close();
    throw error;
  }
}

async function ask(redis: RedisClient, key: Limited, now?: number) {
  const given = argumentsFor(key, now);
  const [day, used, retryAfterSeconds]: [number, number, number] = await redis.send("EVALSHA", [DIGEST, ...given]).catch((error) => {
    if (!reasonOf(error).startsWith("NOSCRIPT")) throw error;
    return redis.send("EVAL", [script, ...given]); // Its scripts were flushed.
  });
  return { window: { day, used }, retryAfterSeconds };
}

/** The count that the server knows goes along: a Redis that lost its own begins with that, and one that was away catches up. */
function argumentsFor({ id, daily, per_minute, use: { window } }: Limited, now?: number): string[] {
  return ["1", PREFIX + id, `${daily}`, `${per_minute}`, `${window.day}`, `${window.used}`, `${now ?? ""}`];
}

/** In two halves, so that a pause of this process itself (garbage collection, a long query) passes for no more than one of them. */
function within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let timer = setTimeout(() => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs / 2);
  }, limitMs / 2);
  answer.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
