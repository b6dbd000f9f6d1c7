/**
 * What each hook costs, found by leaving it out. The product has no switches for that: this file starts the app with one of its modules
 * replaced (`bun bench/hooks.ts "no quota" <data directory>` serves), and without arguments measures every variant beside the whole.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "bun";
import { catalogOf } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { createBenchKey, medians } from "./load.ts";
import { measure, type Pressure } from "./pressure.ts";
import { type Server, serve } from "./processes.ts";
import { printAlone, round, type Section, table } from "./report.ts";

const RECORDS = 100_000;
const ROUNDS = 3;
const SECONDS = 2;

/** Module of src/ → what becomes of its text. "none of them" leaves routing, reading and joining. */
type Replacements = Record<string, (text: string) => string>;

const noKey: Replacements = {
  "http/admission.ts": (text) =>
    text.replace("authenticate(access, call.headers, call.startedAt)", "(globalThis.anyKey ??= access.keys.values().next().value)"),
};
const noQuota: Replacements = {
  "quota/allowance.ts": (text) => `
    ${text.replace("takeRequest(key.use, key, now)", "({ use: key.use, allowance })")}
    const allowance = { limit: 1, remaining: 1, reset: 1, retryAfterSeconds: 0 };`,
};
const noHeaders: Replacements = { "http/respond.ts": (text) => text.replaceAll(/^ *headers(\["[^"]+"\]|\.\w+) = .*$/gm, "") };
const noLog: Replacements = {
  "monitoring/log.ts": () => "export const createLog = () => ({ request() {}, failure() {}, recurring() {}, notice() {}, flush() {} });",
};

const variants: Record<string, Replacements> = {
  "all hooks": {},
  "no key lookup": noKey,
  "no quota": noQuota,
  "no headers": noHeaders,
  "no log line": noLog,
  "none of them": { ...noKey, ...noQuota, ...noHeaders, ...noLog },
};

export async function hooksBenchmark(): Promise<Section> {
  const directory = await catalogOf(RECORDS);
  const headers = { Authorization: `Bearer ${await createBenchKey(directory)}` };
  const paths = { list: "/opportunities", detail: `/opportunities/${generatedId(1, 4711)}` };
  const servers: [string, Server][] = [];
  try {
    for (const name of Object.keys(variants)) servers.push([name, await serve([process.execPath, import.meta.path, name, directory])]);
    const samples = new Map(servers.map(([name]) => [name, { list: [] as Pressure[], detail: [] as Pressure[] }]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const request of ["list", "detail"] as const) {
        for (const [name, server] of servers) samples.get(name)?.[request].push(await measure(server, paths[request], headers, SECONDS));
      }
    }
    return report([...samples].map(([name, { list, detail }]) => ({ name, list: medians(list), detail: medians(detail) })));
  } finally {
    for (const [, server] of servers) await server.stop();
  }
}

function report(measured: { name: string; list: Pressure; detail: Pressure }[]): Section {
  const [whole] = measured;
  const cell = (of: "list" | "detail", { computedUs }: Pressure) => {
    const saved = (whole?.[of].computedUs ?? 0) - computedUs;
    return saved === 0 ? round(computedUs) : `${round(computedUs)} (${round(saved)} less)`;
  };
  const rows = measured.map(({ name, list, detail }) => ({
    "µs computed a request": name,
    list: cell("list", list),
    detail: cell("detail", detail),
  }));
  return { title: "What each hook costs", text: table(rows), bars: [] };
}

async function serveVariant(variant: string, directory: string): Promise<void> {
  const source = join(import.meta.dir, "../src");
  plugin({
    name: "hooks left out",
    setup: (build) => {
      for (const [path, replace] of Object.entries(variants[variant] ?? {})) {
        const filter = new RegExp(`${join(source, path).replaceAll(".", "\\.")}$`);
        build.onLoad({ filter }, ({ path }) => ({ contents: replace(readFileSync(path, "utf8")), loader: "ts" }));
      }
    },
  });
  const { openCatalog, openState } = await import("../db/sqlite/open.ts");
  const { createAccess } = await import("../src/accounts/access.ts");
  const { createReadModel } = await import("../src/opportunities/read-model.ts");
  const { createApp } = await import("../src/http/app.ts");
  const { listen } = await import("../src/http/listen.ts");
  const { createLog } = await import("../src/monitoring/log.ts");
  const now = Date.now;
  const app = createApp({
    model: await createReadModel(openCatalog(directory, now())),
    access: await createAccess(openState(directory, now())),
    baseUrl: "http://127.0.0.1/v1",
    files: () => new Map(),
    now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    log: createLog("json", (lines) => process.stderr.write(lines)),
  });
  const server = await listen(app, { hostname: "127.0.0.1", port: 0 });
  process.stdout.write(`listening on http://127.0.0.1:${server.port}/v1\n`);
}

if (import.meta.main) {
  const [variant, directory] = process.argv.slice(2);
  if (variant !== undefined && directory !== undefined) await serveVariant(variant, directory);
  else await printAlone(hooksBenchmark);
}
