/**
 * The cost of each hook, measured by leaving it out. The program has no switches for that, so this file serves the app with
 * some modules replaced: `bun bench/hooks.ts "no quota" <data directory>`. Without arguments it measures all variants.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "bun";
import { generatedCatalog } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { type LoadResult, measure } from "./http-load.ts";
import { createBenchKey, medians } from "./load.ts";
import { type Server, serve } from "./processes.ts";
import { printAlone, round, type Section, table } from "./report.ts";

const RECORDS = 100_000;
const ROUNDS = 3;
const SECONDS = 2;

/** For each replaced module of src/, a function from its text to the new text. */
type Replacements = Record<string, (text: string) => string>;

const noKey: Replacements = {
  "http/admission.ts": (text) =>
    substitute(text, "findSentKey(access, call.headers)", "(globalThis.anyKey ??= access.keys.values().next().value)"),
};
const noQuota: Replacements = {
  "quota/allowance.ts": (text) => `
    ${substitute(text, "takeRequest(key.use, key, now, uses)", "({ use: key.use, allowance, taken: 1 })")}
    const allowance = { limit: 1, remaining: 1, reset: 1, retryAfterSeconds: 0 };`,
};
const noHeaders: Replacements = { "http/respond.ts": (text) => text.replaceAll(/^ *headers(\["[^"]+"\]|\.\w+) = .*$/gm, "") };
const noLog: Replacements = {
  "monitoring/log.ts": () => "export const createLog = () => ({ request() {}, failure() {}, recurring() {}, notice() {}, flush() {} });",
};

/** Replaces `old` in a module. Throws if the module does not have it. */
function substitute(text: string, old: string, replacement: string): string {
  if (!text.includes(old)) throw new Error(`bench/hooks.ts replaces "${old}", which is missing in its module: update bench/hooks.ts`);
  return text.replace(old, replacement);
}

/** "no hooks" leaves routing, reading documents and joining them. */
const variants: Record<string, Replacements> = {
  "all hooks": {},
  "no key lookup": noKey,
  "no quota": noQuota,
  "no headers": noHeaders,
  "no log line": noLog,
  "no hooks": { ...noKey, ...noQuota, ...noHeaders, ...noLog },
};

/** Measures all variants in turn. */
export async function hooksBenchmark(): Promise<Section> {
  const directory = await generatedCatalog(RECORDS);
  const headers = { Authorization: `Bearer ${await createBenchKey(directory)}` };
  const paths = { list: "/opportunities", detail: `/opportunities/${generatedId(1, 4711)}` };
  const servers: [string, Server][] = [];
  try {
    for (const name of Object.keys(variants)) servers.push([name, await serve([process.execPath, import.meta.path, name, directory])]);
    const samples = new Map(servers.map(([name]) => [name, { list: [] as LoadResult[], detail: [] as LoadResult[] }]));
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

function report(measured: { name: string; list: LoadResult; detail: LoadResult }[]): Section {
  const [whole] = measured;
  const cell = (of: "list" | "detail", { cpuUs }: LoadResult) => {
    const saved = (whole?.[of].cpuUs ?? 0) - cpuUs;
    return saved === 0 ? round(cpuUs) : `${round(cpuUs)} (${round(saved)} less)`;
  };
  const rows = measured.map(({ name, list, detail }) => ({
    "CPU µs per request": name,
    list: cell("list", list),
    detail: cell("detail", detail),
  }));
  return { title: "What each hook costs", text: table(rows), goals: [] };
}

async function serveVariant(variant: string, directory: string): Promise<void> {
  const source = join(import.meta.dir, "../src");
  const replacements = variants[variant] ?? {};
  const missing = new Set(Object.keys(replacements));
  plugin({
    name: "replaced modules",
    setup: (build) => {
      for (const [module, replace] of Object.entries(replacements)) {
        const filter = new RegExp(`${join(source, module).replaceAll(".", "\\.")}$`);
        build.onLoad({ filter }, ({ path }) => {
          const text = readFileSync(path, "utf8");
          const contents = replace(text);
          if (contents === text) throw new Error(`Cannot leave out "${variant}": src/${module} has changed; update bench/hooks.ts`);
          missing.delete(module);
          return { contents, loader: "ts" };
        });
      }
    },
  });
  const { openCatalog, openState } = await import("../db/sqlite/open.ts");
  const { createAccess } = await import("../src/accounts/access.ts");
  const { createReadModel } = await import("../src/opportunities/read-model.ts");
  const { createApp } = await import("../src/http/app.ts");
  const { listen } = await import("../src/http/listen.ts");
  const { createLog } = await import("../src/monitoring/log.ts");
  if (missing.size > 0)
    throw new Error(`Cannot leave out "${variant}": nothing loads ${[...missing].map((module) => `src/${module}`).join(", ")}`);
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
