/** The packed client, as its users have it: installed into an empty folder without a network, in Node, Bun, Deno and a browser. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packClient } from "../../release/npm.ts";
import { runProgram } from "../../release/run-program.ts";
import { publish } from "../mirror/mirrored.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { afterRun } from "../support/once-per-run.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const CHROMIUM = "/usr/bin/chromium";
const SOURCE = join(import.meta.dir, "../../clients/typescript/src/fundfeed.ts");
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** What a program of a user does, in plain JavaScript. */
const USE = `
import { createClient, pages, ProblemError, sync } from "@fundfeed/client";

export async function use(baseUrl, key) {
  const waits = [];
  const client = createClient({ baseUrl, key, random: () => 0, onWait: (ms, error) => waits.push([ms, error.code]) });
  const copy = new Map();
  let state;
  let count = 0;
  for await (const page of sync(client, { events: true })) {
    for (const { opportunity, events } of page.records) copy.set(opportunity.id, events.length);
    ({ state } = JSON.parse(JSON.stringify(page)));
    count++;
  }
  let later = 0;
  for await (const { records } of sync(client, { from: state })) later += records.length;
  const listed = [];
  for await (const { data } of pages((cursor) => client.listOpportunities({ source: ["SAM"], limit: 10, cursor }))) listed.push(data.length);
  const [id] = copy.keys();
  const { data, etag } = await client.getOpportunity(id);
  const again = await client.getOpportunityIfChanged(id, etag);
  const { data: history } = await client.listOpportunityEvents(id);
  const missing = await client.getOpportunity(id.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))).catch((error) => error);
  const { data: sources } = await client.listSources();
  const { data: meta } = await client.getMeta();
  return {
    copied: copy.size, pages: count, later, listed, waits, unchanged: again === undefined, events: history.map(({ type }) => type),
    isSame: data.id === id, problem: [missing instanceof ProblemError, missing.code, missing.status, missing.isTemporary],
    sources: sources.length > 5, service: meta.name,
  };
}
`;

/** The same in TypeScript, with the mistakes that the types find. */
const TYPED = `
import { type ApiClient, createClient, type Opportunity, ProblemError, type SyncState, sync } from "@fundfeed/client";

const client: ApiClient = createClient({ baseUrl: "https://api.example.org/v1", key: "k" });
let state: SyncState | undefined;
for await (const page of sync(client, { from: state, source: ["SAM_GOV"] })) state = page.state;
const { data } = await client.listOpportunities({ status: ["open"], limit: 5 });
const titles: string[] = data.map(({ title }: Opportunity) => title);
// @ts-expect-error There is no such status.
await client.listOpportunities({ status: ["opened"] });
// @ts-expect-error An amount is a text or null.
const amount: number | undefined = data[0]?.funding?.amount_max;
const again = await client.getOpportunityIfChanged("id", "etag");
// @ts-expect-error It may be unchanged.
again.data;
try {
  await client.getMeta();
} catch (error) {
  if (error instanceof ProblemError && error.code === "rate_limit_exceeded") console.log(error.retryAfterMs, titles, amount);
}
`;

const has = (program: string) => Bun.which(program) !== null;

describe.if(has("npm") && has("node"))("the packed client", () => {
  let folder = "";
  let api: TestApi;
  let server: Bun.Server<undefined>;
  let asked = 0;

  beforeAll(async () => {
    const packed = await packClient(aDirectory());
    folder = aDirectory();
    writeFileSync(join(folder, "package.json"), "{}");
    await runProgram(["npm", "install", "--offline", "--no-audit", "--no-fund", "--cache", join(aDirectory(), "cache"), packed], folder);
    api = await testApi();
    await publish(api, 0, 130, "Title");
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  });
  afterAll(() => server?.stop(true));

  /** The API, which refuses every 50th request, and the files that a page loads. */
  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/v1/")) {
      const limited = () => Response.json({ code: "rate_limit_exceeded" }, { status: 429, headers: { "Retry-After": "0" } });
      return asked++ === 50 ? limited() : api.fetch(request);
    }
    if (pathname === "/") return new Response(pageFor(api.key), { headers: { "Content-Type": "text/html" } });
    if (pathname === "/used") used.resolve(await request.json());
    if (!pathname.endsWith(".js")) return new Response(null, { status: 204 }); // The browser asks for an icon.
    const file = pathname === "/use.js" ? USE : readFileSync(join(folder, "node_modules/@fundfeed/client", pathname), "utf8");
    return new Response(file, { headers: { "Content-Type": "text/javascript" } });
  }
  const used = Promise.withResolvers<unknown>();
  /** Uses the client, and sends what came of it to the server. */
  const pageFor = (key: string) => `<!doctype html>
    <script type="importmap">{"imports": {"@fundfeed/client": "/fundfeed.js"}}</script>
    <script type="module">
      import { use } from "/use.js";
      const used = await use("/v1", ${JSON.stringify(key)}).catch(String);
      await fetch("/used", { method: "POST", body: JSON.stringify(used) });
    </script>`;

  const expected = {
    copied: 130,
    pages: 2,
    later: 0,
    listed: [10, 10, 10, 10, 10, 10, 5],
    waits: [[0, "rate_limit_exceeded"]],
    unchanged: true,
    events: ["opportunity_added"],
    isSame: true,
    problem: [true, "not_found", 404, false],
    sources: true,
    service: "fundfeed",
  };

  test("has its code, types, readme and license, and depends on nothing", () => {
    const package_ = join(folder, "node_modules/@fundfeed/client");
    const names = readdirSync(package_);
    expect(names).toContain("fundfeed.js");
    expect(names.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort()).toEqual(["LICENSE", "README.md", "package.json"]);
    expect(JSON.parse(readFileSync(join(package_, "package.json"), "utf8")).dependencies).toBeUndefined();
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@fundfeed"]);
  });

  const deno: [string, ...string[]] = ["deno", "run", "--quiet", "--no-remote", "--allow-net=127.0.0.1", "--allow-env=KEY"];
  const source = `data:application/json,${JSON.stringify({ imports: { "@fundfeed/client": pathToFileURL(SOURCE) } })}`;
  const programs: [string, [string, ...string[]]][] = [
    ["Node", ["node"]],
    ["Bun", [process.execPath]],
    ["Deno", deno],
    ["Deno, from its source in TypeScript", [...deno, "--check", `--import-map=${source}`]],
  ];

  for (const [name, command] of programs)
    test.if(has(command[0]))(`reads all endpoints in ${name}${has(command[0]) ? "" : ", which is not installed"}`, async () => {
      writeFileSync(join(folder, "use.mjs"), USE);
      writeFileSync(
        join(folder, "run.mjs"),
        'import { use } from "./use.mjs";\nconsole.log(JSON.stringify(await use(process.argv[2], process.env.KEY)));\n',
      );
      asked = 0;
      const child = Bun.spawn([...command, "run.mjs", `http://127.0.0.1:${server.port}/v1`], {
        cwd: folder,
        env: { PATH: process.env.PATH, KEY: api.key, DENO_DIR: join(folder, "deno") },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      expect([code, err]).toEqual([0, ""]);
      expect(JSON.parse(out)).toEqual(expected);
    });

  test.if(existsSync(CHROMIUM))("reads all endpoints in a browser, on a page of the same origin", async () => {
    asked = 0;
    const profile = mkdtempSync(join(tmpdir(), "fundfeed-browser-"));
    afterRun('rm -rf "$0"', profile); // Its processes may still write there when it has ended.
    const browser = Bun.spawn([CHROMIUM, ...FLAGS.split(" "), `--user-data-dir=${profile}`, `http://127.0.0.1:${server.port}/`], {
      env: { ...process.env, TMPDIR: profile },
      stdio: ["ignore", "ignore", "ignore"],
    });
    try {
      const ended = browser.exited.then((code) => `the browser ended with ${code}`);
      expect(await Promise.race([used.promise, ended])).toEqual(expected);
    } finally {
      browser.kill();
      await browser.exited;
    }
  });

  test("has types that a strict project accepts, and that find mistakes", async () => {
    writeFileSync(join(folder, "typed.ts"), TYPED);
    const settings = { module: "nodenext", target: "es2022", lib: ["es2022", "dom"], types: [], strict: true, noEmit: true };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: settings, files: ["typed.ts"] }));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const child = Bun.spawn([process.execPath, "x", "tsc", "--project", folder], {
      cwd: import.meta.dir,
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect([await child.stdout.text(), await child.exited]).toEqual(["", 0]);
  });
});
