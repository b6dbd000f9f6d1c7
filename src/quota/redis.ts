/** Quotas that servers share through one Redis 7 or Valkey, by a script that reads Redis's clock: theirs may differ. Without Redis, each counts alone. */
import { RedisClient } from "bun";
import { isPercentEncoded } from "../../db/percent-encoded.ts";
import { codeOf, reasonOf } from "../../db/reason.ts";
import type { EpochMs } from "../text/instant.ts";
import { arrayOf } from "../text/json-value.ts";
import { allowanceOf, type LimitedKey, type Quotas, type Taken, takeRequest, unused, usesTaken } from "./allowance.ts";
import script from "./take-request.lua" with { type: "text" };

const RESPONSE_MS = 100;
const RETRY_MS = 1000;
const CONNECT_MS = 1000;

const PREFIX = "fundfeed:quota:";
const DIGEST = new Bun.CryptoHasher("sha1").update(script).digest("hex");

/** KEYS: the use of the key. ARGV: the day from which one request is taken back. */
const TAKE_BACK = "if redis.call('hget', KEYS[1], 'day') == ARGV[1] then redis.call('hincrby', KEYS[1], 'used', -1) end";

/** Bun's client (1.4.5) gives the same error for all of these. */
const NO_CONNECTION = "no connection: it must listen there, accept user and password, and speak TLS for rediss:// alone";

/** A key that no caller has. Counting it shows whether Redis can count. */
const PROBE: LimitedKey = { id: "probe", daily: 1, per_minute: 1, use: unused };

export type SharedQuotas = Quotas &
  Disposable & {
    isShared: () => boolean;
    countedAlone: () => number;
  };

type Sharing = {
  address: string;
  /** The percentage of each minute that this server grants while Redis is unavailable. */
  sharePercent: number;
  /** Called once each time Redis becomes unavailable. The reason contains no password. */
  onUnavailable: (reason: string) => void;
  onBack: () => void;
  clock?: () => EpochMs;
};

/** Connects to Redis, and tries again every second. A request waits at most `RESPONSE_MS`, and for none while it is unavailable. */
export async function shareQuotas({ address, sharePercent, onUnavailable, onBack, clock }: Sharing): Promise<SharedQuotas> {
  let redis: RedisClient | undefined;
  let isDisposed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let countedAlone = 0;

  const retryLater = () => {
    if (!isDisposed) timer = setTimeout(() => void reconnect().then(onBack, retryLater), RETRY_MS);
  };
  const reconnect = async () => {
    const connected = await connect(address);
    if (isDisposed) connected.close();
    else redis = connected;
  };
  const lose = (reason: string) => {
    redis = undefined;
    onUnavailable(reason);
    retryLater();
  };

  const takeAlone = (key: LimitedKey, now: EpochMs, uses: number): Taken => {
    countedAlone++;
    return takeRequest(key.use, { daily: key.daily, per_minute: Math.ceil((key.per_minute * sharePercent) / 100) }, now, uses);
  };
  const takeShared = async (client: RedisClient, key: LimitedKey, now: EpochMs, uses: number): Promise<() => Taken> => {
    try {
      const { window, retryAfterSeconds } = await within(RESPONSE_MS, runScript(client, key, uses, clock?.()));
      const taken = retryAfterSeconds === 0 ? usesTaken(uses, key) : 0;
      return () => ({ use: { window, bucket: key.use.bucket }, allowance: allowanceOf(window, key, retryAfterSeconds), taken });
    } catch (error) {
      if (client === redis) lose(reasonOf(error)); // Only the first of the requests that wait for this connection.
      client.close();
      return () => takeAlone(key, now, uses);
    }
  };

  await reconnect().catch((error) => lose(reasonOf(error)));
  return {
    take: (key, now, uses = 1) => (redis === undefined ? takeAlone(key, now, uses) : takeShared(redis, key, now, uses)),
    takeBack: ({ id }, day) => void redis?.send("EVAL", [TAKE_BACK, "1", PREFIX + id, `${day}`]).catch(() => undefined), // It then counts.
    isShared: () => redis !== undefined,
    countedAlone: () => countedAlone,
    [Symbol.dispose]: () => {
      isDisposed = true;
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

/** A connection that has counted once. It is used until its first failure, and never reconnects. */
async function connect(address: string): Promise<RedisClient> {
  const redis = new RedisClient(address, { connectionTimeout: CONNECT_MS, autoReconnect: false, enableOfflineQueue: false });
  try {
    await within(CONNECT_MS, redis.connect()).catch((error) => {
      throw codeOf(error) === "ERR_REDIS_CONNECTION_CLOSED" ? new Error(NO_CONNECTION, { cause: error }) : error;
    });
    countsOf(await within(RESPONSE_MS, redis.send("EVAL", [script, ...argumentsFor(PROBE, 1)])));
    return redis;
  } catch (error) {
    redis.close();
    throw error;
  }
}

async function runScript(redis: RedisClient, key: LimitedKey, uses: number, now?: EpochMs) {
  const args = argumentsFor(key, uses, now);
  const response = await redis.send("EVALSHA", [DIGEST, ...args]).catch((error) => {
    if (!reasonOf(error).startsWith("NOSCRIPT")) throw error; // Redis's own error code. Its scripts were flushed.
    return redis.send("EVAL", [script, ...args]);
  });
  return countsOf(response);
}

/** What the script returned. Throws if it is anything else, which would refuse every request. */
function countsOf(response: unknown) {
  const [day = Number.NaN, used = Number.NaN, retryAfterSeconds = Number.NaN] = arrayOf(response).map(Number);
  if (![day, used, retryAfterSeconds].every(Number.isSafeInteger)) throw new Error("it does not return what the script does");
  return { window: { day, used }, retryAfterSeconds };
}

/** The arguments include the count that the server knows, so that a Redis that lost its data continues from it. */
function argumentsFor({ id, daily, per_minute, use: { window } }: LimitedKey, uses: number, now?: EpochMs): string[] {
  return ["1", PREFIX + id, `${daily}`, `${per_minute}`, `${window.day}`, `${window.used}`, `${now ?? ""}`, `${uses}`];
}

/** Rejects after `limitMs`. In two halves, so that one pause of this process (garbage collection, a long query) uses up only one of them. */
function within<T>(limitMs: number, response: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let timer = setTimeout(() => {
    timer = setTimeout(() => reject(new Error(`no response within ${limitMs} ms`)), limitMs / 2);
  }, limitMs / 2);
  response.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
