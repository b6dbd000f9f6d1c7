/** `fundfeed up` as a process: one address, its children, and how all of it ends. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { readJobs } from "../../src/team/job-file.ts";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { selfSigned } from "../support/certificates.ts";
import { fundfeed } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { childrenOf, environmentOf, runs } from "../support/processes.ts";
import { realFile } from "../support/real-data.ts";
import { waitFor } from "../support/wait-for.ts";
import { zipArchive } from "../support/zip-archive.ts";

afterAll(dropHomes);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

const upOn = (home: Home, ...more: string[]) =>
  home.serve(["up", ...(more.includes("--port") ? [] : ["--port", "0"]), "--pull", "none", ...more]);
const page = (server: Server, path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
/** The children whose environment says what they are. */
const childNamed = (server: Server, name: string) =>
  childrenOf(server.pid).find((pid) => environmentOf(pid).includes(`FUNDFEED_CHILD=${name}`));
const record = `${JSON.stringify({ source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing", description: "Sensors." })}\n`;

/** Runs a command on the data of a home without a process. */
const here = (home: Home, ...args: string[]) => fundfeed([...args, "--data", home.at("fundfeed-data")]);

/** The names of the tools that agents are offered. */
async function toolsOf(origin: string, key: string, init: BunFetchRequestInit = {}): Promise<string[]> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const text = await (await fetch(`${origin}/mcp`, { ...init, method: "POST", headers, body })).text();
  const [, json = ""] = /^data: (.*)$/m.exec(text) ?? ["", text];
  return (JSON.parse(json) as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
}

/** A receiver that never responds. */
const silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => undefined) });
afterAll(() => silent.stop(true));
const HANGING_WATCH =
  `watch add w quantum --to webhook --url http://127.0.0.1:${silent.port}/ --allow-private --allow-http --from-start`.split(" ");

describe("up", () => {
  test("serves the API, its reference, the pages and the jobs on one address, and stops with 0", async () => {
    const home = aHome();
    await here(home, "import", "records", home.file("records.jsonl", record));
    const server = await upOn(home);
    const key = await home.key();
    expect(await (await server.get("/opportunities", key)).json()).toMatchObject({ data: [{ title: "Quantum sensing" }] });
    expect(await (await server.get("/docs")).text()).toContain('<a href="../">Pages</a>');
    const reader = await waitFor("the reader runs before the first page", () => childNamed(server, "reader") ?? false);
    await waitFor("the index is built", async () => (await page(server, "/?words=quantum")).status === 200);
    const found = await (await page(server, "/?words=quantum")).text();
    expect(found).toContain("Quantum sensing");
    expect(found).toContain('<a href="/v1/docs">');
    const jobs = await (await page(server, "/status")).text();
    for (const name of ["index", "watch"]) expect(jobs).toContain(`<h2>${name} <small>every 1`);
    expect((await page(server, "/none")).status).toBe(404);
    expect((await home.run(["status"])).code).toBe(0);
    expect(childNamed(server, "reader")).toBe(reader);
    expect(getPriority(reader)).toBeGreaterThanOrEqual(5); // The API goes first.
    expect(await server.stop()).toBe(0);
    expect(runs(reader)).toBe(false);
    expect(await home.run(["status"])).toMatchObject({ code: 1, err: "fundfeed up does not run on fundfeed-data\n" });
  });

  test("has room for an address of 13,900 characters, and refuses a longer one with its limit", async () => {
    const home = aHome();
    const server = await upOn(home);
    await waitFor("the reader listens", async () => (await page(server, "/sources")).status === 200);
    for (const length of [8000, 8192, 9000, 12_000, 13_900]) {
      const start = "/sources?words=";
      const address = `http://127.0.0.1:${server.port}${start}`;
      const response = await page(server, start + "a".repeat(length - address.length));
      expect([length, response.status, (await response.text()).includes("<h1>Sources</h1>")]).toEqual([length, 200, true]);
    }
    const response = await page(server, `/sources?words=${"a".repeat(14_000)}`);
    expect([response.status, await response.text()]).toEqual([414, "An address may have 14000 characters.\n"]);
    expect(await server.stop()).toBe(0);
  });

  test("says at the start what it does and what it lacks", async () => {
    const server = await upOn(aHome());
    await waitFor("it has said all", () => server.log().includes("keys create"));
    await server.stop();
    const messages = server
      .log()
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { message: string }).message);
    const origin = `http://127.0.0.1:${server.port}`;
    expect(messages.slice(1)).toEqual([
      `The pages are at ${origin}/, the jobs at ${origin}/status and the manual at ${origin}/help, open to all who reach this address`,
      `Agents connect to ${origin}/mcp, with an API key`,
      "Nothing is pulled (--pull none)",
      "Watches deliver every 15 minutes",
      "There is no mail server for watches: set FUNDFEED_SMTP_URL",
      "No backups are made: --backups DIR makes them",
      "There is no API key yet. To make one: fundfeed keys create --data fundfeed-data --account NAME --plan starter",
    ]);
  });

  test("shows what another program imports, and what a job has found", async () => {
    const home = aHome();
    const server = await upOn(home);
    expect(await (await page(server, "/?words=quantum")).text()).not.toContain("Quantum sensing");
    await here(home, "import", "records", home.file("records.jsonl", record));
    await waitFor("the page shows it", async () => (await (await page(server, "/?words=quantum")).text()).includes("Quantum sensing"));
    await waitFor("the index job has ended", () => readJobs(home.at("fundfeed-data"))[0]?.result === "ok");
    expect(await server.stop()).toBe(0);
  });

  test.each([
    [["--host", "0.0.0.0"], 303],
    [["--base-url", "https://api.example.org/v1"], 303],
    [["--base-url", "http://localhost:8080/v1"], 200],
    [["--host", "0.0.0.0", "--pages", "open"], 200],
    [["--pages", "key"], 303],
  ])("with %j responds with %i to who has not signed in", async (args, status) => {
    const port = await freePort(); // With --base-url, the program does not say where it listens.
    const server = await upOn(aHome(), "--port", `${port}`, ...args);
    const response = await fetch(`http://127.0.0.1:${port}/status`, { redirect: "manual" });
    expect(response.status).toBe(status);
    expect(await server.stop()).toBe(0);
  });

  test("lets who has a key read and subscribe, and logs neither key nor cookie nor the address of a feed", async () => {
    const home = aHome();
    const dates = { closes_at: new Date(Date.now() + 30 * 86_400_000).toISOString() };
    await here(home, "import", "records", home.file("records.jsonl", record.replace("{", `{"dates":${JSON.stringify(dates)},`)));
    const key = await home.key();
    const server = await upOn(home, "--pages", "key", "--log-level", "request");
    const origin = `http://127.0.0.1:${server.port}`;
    const form = { method: "POST", body: new URLSearchParams({ key }), headers: { origin }, redirect: "manual" } as const;
    const signedIn = await fetch(`${origin}/sign-in`, form);
    const cookie = (signedIn.headers.get("set-cookie") ?? "").replace(/;.*/, "");
    const read = (path: string, headers: Record<string, string>) => fetch(origin + path, { headers, redirect: "manual" });
    await waitFor("the index is built", async () => (await read("/?words=quantum", { cookie })).status === 200);
    const page = await (await read("/?words=quantum", { cookie })).text();
    expect(page).toContain("Quantum sensing");
    expect(page).toContain('<a href="/sign-out">');
    const subscriptions = await (await read("/subscribe?words=quantum", { cookie })).text();
    const feeds = [...subscriptions.matchAll(/<code id="[a-z]+">([^<]+)<\/code>/g)].map(([, address = ""]) => address);
    expect(feeds).toHaveLength(3);
    for (const address of feeds) {
      const response = await fetch(address);
      const text = await response.text();
      expect(text).toContain("Quantum sensing");
      expect(text).toContain(
        address.endsWith(".atom") ? address : address.endsWith(".ics") ? `${origin}/opportunities/`.slice(0, 20) : "OWN",
      );
      const known = { "if-none-match": response.headers.get("etag") ?? "" };
      expect((await fetch(address, { headers: known })).status).toBe(304);
    }
    expect((await read("/find.json?words=quantum", { authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await read("/find.json?words=quantum", {})).status).toBe(401);
    expect((await read("/v1/opportunities", { cookie })).status).toBe(401); // A cookie is for pages.
    const [{ id = "" } = {}] = JSON.parse((await here(home, "keys", "list", "--json")).out) as { id?: string }[];
    await here(home, "keys", "revoke", id);
    expect((await read("/", { cookie })).status).toBe(303);
    for (const address of feeds) expect((await fetch(address)).status).toBe(410);
    expect(await server.stop()).toBe(0);
    const [session = ""] = cookie.split("=").slice(1);
    for (const secret of [key, session, ...feeds.map((address) => address.replace(/.*\//, ""))]) expect(server.log()).not.toContain(secret);
  });

  test("says where the pages are by the public address, and refuses backups that cannot be written", async () => {
    const port = await freePort();
    const server = await upOn(aHome(), "--port", `${port}`, "--base-url", "https://api.example.org/v1");
    await waitFor("it has said all", () => server.log().includes("keys create"));
    expect(server.log()).toContain(
      "The pages are at https://api.example.org/, the jobs at https://api.example.org/status and the manual at https://api.example.org/help",
    );
    expect(await server.stop()).toBe(0);
    const { code, err } = await aHome().run(["up", "--port", "0", "--pull", "none", "--backups", "/proc/none"]);
    expect([code, err]).toEqual([1, expect.stringContaining("Cannot back up into /proc/none: ")]);
  });

  test.each([["https://feeds.example/v1"], [undefined]])(
    "with the base URL %s gives its public address, whatever a proxy adds",
    async (baseUrl) => {
      const home = aHome();
      const dates = { closes_at: new Date(Date.now() + 30 * 86_400_000).toISOString() };
      await here(home, "import", "records", home.file("records.jsonl", record.replace("{", `{"dates":${JSON.stringify(dates)},`)));
      const port = await freePort();
      const server = await upOn(home, "--port", `${port}`, "--pages", "open", ...(baseUrl === undefined ? [] : ["--base-url", baseUrl]));
      const read = async (path: string) => {
        const headers = { "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", Forwarded: "host=evil.example" };
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
        return { status: response.status, text: (await response.text()).replaceAll("\r\n ", "") };
      };
      await waitFor("the index is built", async () => (await read("/?words=quantum")).status === 200);
      const origin = baseUrl === undefined ? `http://127.0.0.1:${port}` : new URL(baseUrl).origin;
      const webcal = origin.replace(/^https?/, "webcal");
      for (const path of ["/subscribe?words=quantum", "/changes.atom?since=all", "/find.ics?words=quantum"]) {
        const addresses = (await read(path)).text.match(/(?:https?|webcal):\/\/(?:127\.|localhost|feeds|evil|reader)[^/<"\s]*/g) ?? [];
        expect([path, addresses.length > 0, addresses.filter((each) => each !== origin && each !== webcal)]).toEqual([path, true, []]);
      }
      expect(await server.stop()).toBe(0);
    },
  );

  test("with --pages off serves the API alone, on any address", async () => {
    const server = await upOn(aHome(), "--host", "0.0.0.0", "--pages", "off");
    expect(await (await server.get("/docs")).text()).not.toContain(">Pages</a>");
    expect(await (await page(server, "/")).json()).toMatchObject({ status: 404 });
    expect(await (await page(server, "/status")).json()).toMatchObject({ status: 404 });
    expect(childNamed(server, "reader")).toBeUndefined(); // It starts with the first agent.
    expect(await server.stop()).toBe(0);
  });

  test.each([
    [["--pages", "on"], "Allowed choices are open, key, off."],
    [["--pull", "grants-gv=1h"], 'There is no source "grants-gv". Did you mean grants-gov?'],
    [["--pull", "grants-gov=1s"], "It must be at least 1m."],
    [["--watch-every", "soon"], "It must be a number with a unit: 90s, 15m, 6h or 2d."],
    [["--tls-cert", "x.pem"], "--tls-cert and --tls-key must be given together"],
    [["--database", "postgres://127.0.0.1:1/x", "--backups", "b"], "--backups copies files; back up --database with pg_dump"],
  ])("refuses %j", async (args, message) => {
    const data = aHome().at("fundfeed-data");
    const { code, out, err } = await fundfeed(["up", "--port", "0", ...args], { FUNDFEED_DATA: data });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(existsSync(data)).toBe(false);
  });

  test("refuses a second one on the same data, also while the first has been killed and its children end", async () => {
    const home = aHome();
    const server = await upOn(home);
    const second = () => home.run(["up", "--port", "0", "--pull", "none"]);
    expect(await second()).toEqual({ code: 1, out: "", err: "Cannot start: another fundfeed up runs on fundfeed-data\n" });
    server.kill("SIGKILL");
    await server.ended;
    expect(await (await upOn(home)).stop()).toBe(0);
  });
});

describe("up works", () => {
  test("over TLS, with its pages and agents", async () => {
    const home = aHome();
    selfSigned(home.directory, "server");
    const server = await upOn(home, "--tls-cert", "server.crt", "--tls-key", "server.key");
    const tls = { ca: readFileSync(home.at("server.crt")) };
    expect(server.base).toBe(`https://127.0.0.1:${server.port}/v1`);
    for (const path of ["/", "/status", "/v1/meta"]) {
      expect([path, (await fetch(`https://127.0.0.1:${server.port}${path}`, { tls })).status]).toEqual([path, 200]);
    }
    expect(await toolsOf(`https://127.0.0.1:${server.port}`, await home.key(), { tls })).toContain("find");
    expect(await server.stop()).toBe(0);
  });

  test("from source", async () => {
    const main = join(import.meta.dir, "../../src/main.ts");
    const child = Bun.spawn([process.execPath, main, "up", "--port", "0", "--pull", "none", "--data", aHome().at("data")], {
      stdout: "pipe",
      stderr: "ignore",
    });
    const { value } = await child.stdout.getReader().read();
    const [, base = ""] = /listening on (\S+)\/v1/.exec(new TextDecoder().decode(value)) ?? [];
    expect((await fetch(`${base}/`)).status).toBe(200);
    const children = childrenOf(child.pid);
    child.kill("SIGTERM");
    expect([await child.exited, children.length > 0, children.filter(runs)]).toEqual([0, true, []]);
  });

  test.if(hasPostgres)("on PostgreSQL, with its own files in the data directory", async () => {
    const home = aHome();
    const env = { FUNDFEED_DATABASE: await (await postgresServer()).freshDatabase({ empty: true }), FUNDFEED_DATA: home.at("own") };
    const server = await home.serve(["up", "--port", "0", "--pull", "none"], { env });
    await home.run(["import", "records", "-"], { stdin: record, env });
    await waitFor("the page shows it", async () => (await (await page(server, "/?words=quantum")).text()).includes("Quantum sensing"));
    const key = (await home.run(["keys", "create", "--account", "A", "--plan", "starter"], { env })).out.trim();
    expect(await toolsOf(`http://127.0.0.1:${server.port}`, key)).toContain("find");
    await waitFor("the index job has ended", () => readJobs(home.at("own"))[0]?.result === "ok");
    expect(readdirSync(home.at("own")).sort()).toEqual(expect.arrayContaining(["jobs.json", "search.db", "up.lock"]));
    expect(existsSync(home.at("own/catalog.db"))).toBe(false);
    expect(await server.stop()).toBe(0);
  });
});

test("the dashboard asks only for metrics and labels that there are", async () => {
  const home = aHome();
  await here(home, "import", "records", home.file("records.jsonl", record));
  expect((await here(home, "watch", "add", "w", "quantum", "--to", "stdout")).code).toBe(0);
  const server = await upOn(home, "--metrics-port", "0");
  await server.get("/meta");
  await waitFor("a job has ended", () => readJobs(home.at("fundfeed-data")).some(({ result }) => result === "ok"));
  const [, port] = await waitFor("it is logged", () => /metrics are at http:\/\/127\.0\.0\.1:(\d+)/.exec(server.log()) ?? false);
  const lines = (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).split("\n").filter((line) => !line.startsWith("#"));
  expect(await server.stop()).toBe(0);
  const samples = Map.groupBy(lines.slice(0, -1), (line) => line.replace(/[{ ].*/, ""));
  const { panels } = JSON.parse(readFileSync(join(import.meta.dir, "../../deploy/grafana.json"), "utf8")) as {
    panels: { targets?: { expr: string; legendFormat: string }[] }[];
  };
  const targets = panels.flatMap((panel) => panel.targets ?? []);
  expect(targets.length).toBeGreaterThan(20);
  const namesIn = (text: string, name: RegExp) => Array.from(text.matchAll(name), ([, label = ""]) => label);
  for (const { expr, legendFormat } of targets) {
    const [name = ""] = /(fundfeed|process)_\w+/.exec(expr) ?? [];
    const own = namesIn(samples.get(name)?.[0] ?? "", /(\w+)="/g);
    expect([name, samples.has(name)]).toEqual([name, true]);
    expect(own).not.toContainAnyValues(["job", "instance"]); // Prometheus adds these, and would rename ours.
    const grouped = /by \(([\w, ]+)\)/.exec(expr)?.[1]?.split(", ") ?? [];
    const asked = [...grouped, ...namesIn(legendFormat, /\{\{(\w+)\}\}/g), ...namesIn(expr, /(\w+)=~?"/g)];
    expect([expr, asked.filter((label) => !["job", "instance", ...own].includes(label))]).toEqual([expr, []]);
  }
});

// At the same time, because they wait for jobs, which start one second after another.
describe.concurrent("the jobs of up", () => {
  test("do not run again at the next start", async () => {
    const home = aHome();
    const data = home.at("fundfeed-data");
    const startedAt = () => readJobs(data).find(({ name }) => name === "backup")?.started_at;
    const first = await upOn(home, "--backups", "b");
    const ended = () => readJobs(data).filter(({ result }) => result === "ok").length === 2;
    await waitFor("the jobs have ended", ended);
    expect(await first.stop()).toBe(0);
    const before = startedAt();
    const second = await upOn(home, "--backups", "b");
    const jobs = await (await page(second, "/status")).text();
    expect(jobs).toContain("<dt>Result</dt><dd>ok</dd>");
    expect(await second.stop()).toBe(0);
    expect(startedAt()).toEqual(before);
  });

  test("with a source: it pulls it, the page shows it, and a restart does not pull it again", async () => {
    const home = aHome();
    selfSigned(home.directory, "upstream");
    const xml = realFile("grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz");
    const extract = Uint8Array.from(zipArchive("GrantsDBExtract20260803v2.xml", xml));
    let downloads = 0;
    const upstream = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert: readFileSync(home.at("upstream.crt")), key: readFileSync(home.at("upstream.key")) },
      fetch: ({ method }) => {
        if (method === "GET") downloads++;
        return new Response(extract);
      },
    });
    const env = { FUNDFEED_GRANTS_GOV_URL: `https://127.0.0.1:${upstream.port}/`, NODE_EXTRA_CA_CERTS: home.at("upstream.crt") };
    const start = () => home.serve(["up", "--port", "0", "--pull", "grants-gov", "--metrics-port", "0"], { env });
    const first = await start();
    const resultOf = (name: string) => readJobs(home.at("fundfeed-data")).find((job) => job.name === name)?.result;
    await waitFor("it is pulled", () => resultOf("pull grants-gov") === "ok", { saw: () => first.log() });
    await waitFor("it is logged", () => /pull grants-gov: grants-gov: \d+ read/.test(first.log()), { saw: () => first.log() });
    expect(first.log()).toContain("simpler-grants-gov is not pulled: it needs a key, in FUNDFEED_SIMPLER_KEY");
    expect(first.log()).toContain("sam-gov-api is not pulled: it needs a key, in FUNDFEED_SAM_GOV_KEY");
    await waitFor("the page shows it", async () => (await (await page(first, "/sources")).text()).includes("GRANTS_GOV"));
    const [, metricsPort] = /metrics are at http:\/\/127\.0\.0\.1:(\d+)/.exec(first.log()) ?? [];
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toContain('fundfeed_job_runs_total{job_name="pull grants-gov",result="ok"} 1\n');
    expect(metrics).toMatch(/fundfeed_job_last_success_timestamp_seconds\{job_name="pull grants-gov"\} \d+/);
    expect(metrics).toContain("fundfeed_reader_starts_total 1\n");
    expect(await first.stop()).toBe(0);
    const before = downloads;
    const second = await start();
    expect(await (await page(second, "/status")).text()).toContain("pull grants-gov");
    expect(await second.stop()).toBe(0);
    expect([before > 0, downloads]).toEqual([true, before]);
    await upstream.stop(true);
  });

  test("an upstream that sends 20 MB of brackets fails its job alone, and pages go on", async () => {
    const home = aHome();
    selfSigned(home.directory, "upstream");
    const upstream = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert: readFileSync(home.at("upstream.crt")), key: readFileSync(home.at("upstream.key")) },
      fetch: ({ url }) =>
        url.endsWith("/robots.txt")
          ? new Response(null, { status: 404 })
          : new Response("[".repeat(20_000_000), { headers: { "content-type": "application/json" } }),
    });
    const env = { FUNDFEED_DARPA_URL: `https://127.0.0.1:${upstream.port}/`, NODE_EXTRA_CA_CERTS: home.at("upstream.crt") };
    const server = await home.serve(["up", "--port", "0", "--pull", "darpa"], { env });
    const pull = () => readJobs(home.at("fundfeed-data")).find(({ name }) => name === "pull darpa");
    const statuses = new Set<number>();
    await waitFor("the job has ended", async () => {
      statuses.add((await page(server, "/sources")).status);
      return pull()?.result !== undefined && pull()?.result !== null;
    });
    const { result, error } = pull() ?? {};
    expect([result, error, [...statuses]]).toEqual(["failed", expect.stringContaining("it ends in the middle, after 0 elements"), [200]]);
    expect(childNamed(server, "reader")).toBeDefined();
    expect(await server.stop()).toBe(0);
    await upstream.stop(true);
  });

  test("a job that fails is one line of the log without a stack, and status says why", async () => {
    const home = aHome();
    const env = { FUNDFEED_GRANTS_GOV_URL: "http://127.0.0.1:1/" };
    const server = await home.serve(["up", "--port", "0", "--pull", "grants-gov"], { env });
    const line = await waitFor("it is logged", () =>
      server
        .log()
        .split("\n")
        .find((each) => each.includes('"level":"error"')),
    );
    const reason =
      /^Cannot fetch http:\/\/127.0.0.1:1\/GrantsDBExtract\d+v2.zip: http:\/\/127.0.0.1:1 is not https; use --allow-http to fetch without TLS$/;
    const [, why = ""] =
      /^The job pull grants-gov failed: (.*)\. It runs again in 60 seconds$/.exec((JSON.parse(line) as { error: string }).error) ?? [];
    expect(why).toMatch(reason);
    const { code, out } = await here(home, "status", "--json");
    const { jobs } = JSON.parse(out) as { jobs: { name: string; error: string | null }[] };
    expect([code, jobs.find(({ name }) => name === "pull grants-gov")?.error]).toEqual([1, why]);
    expect(await server.stop()).toBe(0);
  });
});

describe.concurrent("the children of up", () => {
  test("a killed reader is replaced, and the API does not notice", async () => {
    const server = await upOn(aHome());
    expect((await page(server, "/")).status).toBe(200);
    const first = childNamed(server, "reader") ?? 0;
    process.kill(first, "SIGKILL");
    expect((await server.get("/meta")).status).toBe(200);
    await waitFor("the pages are back", async () => (await page(server, "/")).status === 200 && childNamed(server, "reader") !== first);
    await waitFor("it is logged", () => server.log().includes("The reader of the pages ended (SIGKILL)"), { saw: () => server.log() });
    expect(await server.stop()).toBe(0);
  });

  test("a job that is killed is reported, tried again, and harms nothing else", async () => {
    const home = aHome();
    await here(home, "import", "records", home.file("records.jsonl", record));
    await here(home, ...HANGING_WATCH, "--secret-file", home.at("s"));
    const mute = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    const env = { FUNDFEED_SBIR_GOV_URL: `https://127.0.0.1:${mute.port}/` };
    const server = await home.serve(["up", "--port", "0", "--pull", "sbir-gov"], { env });
    for (const name of ["watch", "pull sbir-gov"]) {
      const child = await waitFor(`${name} runs`, () => childNamed(server, name));
      process.kill(child, "SIGKILL");
      await waitFor(
        "it is reported",
        () => server.log().includes(`The job ${name} failed: It was ended by SIGKILL. It runs again in 60 seconds`),
        {
          saw: () => server.log(),
        },
      );
      expect((await server.get("/meta")).status).toBe(200);
      expect((await page(server, "/")).status).toBe(200);
    }
    expect(await server.stop()).toBe(0);
    mute.stop(true);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("end at %s, and so does a delivery that hangs", async (signal) => {
    const home = aHome();
    await here(home, "import", "records", home.file("records.jsonl", record));
    expect(await here(home, ...HANGING_WATCH, "--secret-file", home.at("s"))).toMatchObject({ code: 0 });
    const server = await upOn(home);
    await page(server, "/");
    const delivery = await waitFor("the watch runs", () => childNamed(server, "watch"));
    const children = childrenOf(server.pid);
    server.kill(signal);
    expect(await server.ended).toBe(0);
    expect(children.filter(runs)).toEqual([]);
    expect(children).toContain(delivery);
  });

  test("complete a message that is under way at SIGTERM, even if it has only just started the reader", async () => {
    const home = aHome();
    const server = await upOn(home, "--pages", "off");
    const tools = toolsOf(`http://127.0.0.1:${server.port}`, await home.key());
    await waitFor("the reader is started", () => childNamed(server, "reader") !== undefined);
    server.kill("SIGTERM");
    expect(await tools).toContain("find");
    expect(await server.ended).toBe(0);
  });

  test("end when up is killed", async () => {
    const home = aHome();
    const env = { TMPDIR: home.directory }; // The directory of its reader stays there.
    const server = await home.serve(["up", "--port", "0", "--pull", "none"], { env });
    await page(server, "/");
    const children = childrenOf(server.pid);
    server.kill("SIGKILL");
    await waitFor("no child is left", () => !children.some(runs));
    expect(children.length).toBeGreaterThan(0);
  });
});
