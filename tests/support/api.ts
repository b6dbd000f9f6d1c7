/** The whole service in one process: the real app over new databases, with a clock that stands and counted randomness. */
import type { StateDb } from "../../db/engine.ts";
import { type Access, createAccess, saveUse } from "../../src/accounts/access.ts";
import { setAccount } from "../../src/accounts/account.ts";
import { createKey } from "../../src/accounts/key.ts";
import { setPlan } from "../../src/accounts/plan.ts";
import { createApp } from "../../src/http/app.ts";
import { type Asset, staticFiles } from "../../src/http/static-files.ts";
import type { Draft } from "../../src/import/record.ts";
import type { RequestEntry } from "../../src/monitoring/log.ts";
import { createReadModel, type ReadModel } from "../../src/opportunities/read-model.ts";
import { addSource } from "../../src/sources/source.ts";
import { defaultLocation, type TestLocation } from "./database-locations.ts";
import { expectDescribed } from "./described.ts";
import { storeRecords } from "./records.ts";

export const BASE_URL = "https://api.example.com/v1";

/** 2026-03-01T12:00:00Z */
export const NOON = Date.UTC(2026, 2, 1, 12);

type Sent = { key?: string | null; method?: string; headers?: Record<string, string> };

export type TestApi = {
  /** `path` as a client spells it after the origin. Sends the api's own key, unless another or `null` is given. */
  send: (path: string, sent?: Sent) => Promise<Response>;
  /** GET of a path below /v1. */
  get: (path: string, sent?: Sent) => Promise<Response>;
  fetch: (request: Request) => Promise<Response>;
  key: string;
  /** Another key, of an account of its own. */
  newKey: (quota?: { daily: number; per_minute: number }) => Promise<{ id: string; key: string; account: string }>;
  clock: { now: number };
  randomBytes: (count: number) => Uint8Array;
  model: ReadModel;
  state: StateDb;
  access: Access;
  entries: RequestEntry[];
  failures: { error: unknown; request_id: string | null }[];
  saveUse: () => Promise<void>;
};

const HTML = "<!doctype html><title>docs</title>";
export const testAssets: Asset[] = [
  { path: "/openapi.json", contentType: "application/json", body: Buffer.from('{"openapi":"3.1.0"}') },
  {
    path: "/docs",
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(HTML),
    headers: { "Content-Security-Policy": "default-src 'none'" },
  },
  { path: "/docs/script-1.js", contentType: "text/javascript; charset=utf-8", body: Buffer.from("void 0") },
];

/** `records` are stored at `now`, each in a transaction of its own. `location` is where the databases are. */
export async function testApi({
  records = [],
  sources = [],
  now = NOON,
  location,
  assets = testAssets,
}: {
  records?: readonly Draft[];
  sources?: readonly string[];
  now?: number;
  location?: TestLocation;
  assets?: readonly Asset[];
} = {}): Promise<TestApi> {
  const clock = { now };
  const randomBytes = countedBytes();
  const { catalog: openCatalog, state: openState } = location ?? (await defaultLocation());
  const catalogDb = await openCatalog(now);
  for (const code of sources) await addSource(catalogDb, { code, name: code, description: `Records of ${code}.` });
  for (const record of records) await storeRecords(catalogDb, [record], now);
  const state = await openState(now);
  await setPlan(state, { name: "unlimited", daily: 1_000_000, per_minute: 1_000_000 });
  const { key } = await createKey(state, { account: "Test account", plan: "unlimited" }, randomBytes, now);

  const model = await createReadModel(catalogDb);
  const access = await createAccess(state);
  const entries: RequestEntry[] = [];
  const failures: { error: unknown; request_id: string | null }[] = [];
  const fail = (_: number, error: unknown, request_id: string | null) => void failures.push({ error, request_id });
  const log = { request: (entry: RequestEntry) => void entries.push(entry), failure: fail, recurring: fail };
  const files = staticFiles(assets);
  const app = createApp({ model, access, baseUrl: BASE_URL, files: () => files, now: () => clock.now, randomBytes, log });
  const fetch = (request: Request) => app.fetch(request).then((response) => expectDescribed(request, response));

  const send: TestApi["send"] = (path, { key: other, method = "GET", headers = {} } = {}) => {
    const authorization = other === null ? {} : { Authorization: `Bearer ${other ?? key}` };
    return fetch(new Request(`http://localhost${path}`, { method, headers: { ...authorization, ...headers } }));
  };
  return {
    send,
    get: (path, sent) => send(`/v1${path}`, sent),
    fetch,
    key,
    newKey: async (quota = { daily: 1_000_000, per_minute: 1_000_000 }) => {
      const name = `Account ${randomBytes(4).toHex()}`;
      await setPlan(state, { name, ...quota });
      return createKey(state, { account: name, plan: "trial" }, randomBytes, clock.now).then(async (created) => {
        await setAccount(state, name, { plan: name });
        return created;
      });
    },
    clock,
    randomBytes,
    model,
    state,
    access,
    entries,
    failures,
    saveUse: () => saveUse(access),
  };
}

/** As good as random, and the same in every run. */
function countedBytes(): (count: number) => Uint8Array {
  let calls = 0;
  return (count) => {
    const bytes = Buffer.alloc(count);
    const seed = calls++;
    for (let at = 0; at < count; at += 32)
      bytes.set(
        new Bun.CryptoHasher("sha256")
          .update(`${seed}.${at}`)
          .digest()
          .subarray(0, count - at),
        at,
      );
    return bytes;
  };
}
