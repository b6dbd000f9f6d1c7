/** The whole service inside the test: the real app over new databases, with a clock that only the test moves and reproducible random bytes. */
import type { StateDb } from "../../db/engine.ts";
import { type Access, createAccess, saveUse } from "../../src/accounts/access.ts";
import { setAccount, setPlan } from "../../src/accounts/account.ts";
import { createKey } from "../../src/accounts/key.ts";
import { createApp } from "../../src/http/app.ts";
import type { StaticFile } from "../../src/http/call.ts";
import { staticFiles } from "../../src/http/docs.ts";
import type { Draft } from "../../src/import/format.ts";
import type { RequestEntry } from "../../src/monitoring/log.ts";
import { createReadModel, type ReadModel } from "../../src/opportunities/read-model.ts";
import { addSource } from "../../src/sources/source.ts";
import type { EpochMs } from "../../src/text/instant.ts";
import { defaultLocation, type TestLocation } from "./database-locations.ts";
import { expectDescribed } from "./described.ts";
import { NOON } from "./imports.ts";
import { storeRecords } from "./records.ts";

export const BASE_URL = "https://api.example.com/v1";

/** `key: null` sends no key; without `key`, the request has `TestApi.key`. */
type RequestOptions = { key?: string | null; method?: string; headers?: Record<string, string> };

export type TestApi = {
  /** Sends a request for a path as it follows the origin, for example `/v1/sources`. */
  send: (path: string, options?: RequestOptions) => Promise<Response>;
  get: (path: string, options?: RequestOptions) => Promise<Response>;
  /** Sends any request. This and the functions above throw if the response does not match the API description. */
  fetch: (request: Request) => Promise<Response>;
  /** A key whose quotas no test exhausts. */
  key: string;
  /** Creates a key of a new account, with a new plan for its quotas. */
  newKey: (quota?: { daily: number; per_minute: number }) => Promise<{ id: string; key: string; account: string }>;
  /** The instant that the service sees. Tests move it by assignment. */
  clock: { now: EpochMs };
  randomBytes: (count: number) => Uint8Array;
  model: ReadModel;
  state: StateDb;
  access: Access;
  entries: RequestEntry[];
  /** What was logged as a failure so far. */
  failures: { error: unknown; request_id: string | null }[];
  saveUse: () => Promise<void>;
};

const HTML = "<!doctype html><title>docs</title>";
export const testAssets: Omit<StaticFile, "etag">[] = [
  { path: "/openapi.json", contentType: "application/json", body: Buffer.from('{"openapi":"3.1.0"}') },
  {
    path: "/docs",
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(HTML),
    headers: { "Content-Security-Policy": "default-src 'none'" },
  },
  { path: "/docs/script-1.js", contentType: "text/javascript; charset=utf-8", body: Buffer.from("void 0") },
];

/** Returns a new service. It stores `records` at `now`, one transaction each, in new databases unless `location` is given. */
export async function testApi({
  records = [],
  sources = [],
  now = NOON,
  location,
  files = staticFiles(testAssets),
}: {
  records?: readonly Draft[];
  sources?: readonly string[];
  now?: EpochMs;
  location?: TestLocation;
  files?: ReadonlyMap<string, StaticFile>;
} = {}): Promise<TestApi> {
  const clock = { now };
  const randomBytes = reproducibleBytes();
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
  const app = createApp({ model, access, baseUrl: BASE_URL, files: () => files, now: () => clock.now, randomBytes, log });
  const fetch = (request: Request) => app.fetch(request).then((response) => expectDescribed(request, response));

  const send: TestApi["send"] = (path, { key: other, method = "GET", headers = {} } = {}) => {
    const authorization = other === null ? {} : { Authorization: `Bearer ${other ?? key}` };
    return fetch(new Request(`http://localhost${path}`, { method, headers: { ...authorization, ...headers } }));
  };
  return {
    send,
    get: (path, options) => send(`/v1${path}`, options),
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

/** Returns a function whose bytes look random but are the same in every run. */
function reproducibleBytes(): (count: number) => Uint8Array {
  let calls = 0;
  return (count) => {
    const bytes = Buffer.alloc(count);
    const seed = calls++;
    for (let offset = 0; offset < count; offset += 32) {
      const digest = new Bun.CryptoHasher("sha256").update(`${seed}.${offset}`).digest();
      bytes.set(digest.subarray(0, count - offset), offset);
    }
    return bytes;
  };
}
