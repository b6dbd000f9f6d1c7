/** The compiled program as its operator meets it: commands, exit codes, signals, and what two processes on one directory see of each other. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { emptySummary } from "../src/import/import-log.ts";
import { aHome, dropHomes, type Home, type Server, sampleFile, unpackedSample } from "./support/binary.ts";
import { fundfeed } from "./support/command-line.ts";
import { sendRaw } from "./support/raw.ts";
import { waitFor } from "./support/wait-for.ts";
import { zipArchive } from "./support/zip-archive.ts";

afterAll(dropHomes);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

const GRANTS = "grants-gov-20260803.xml";
const CHALLENGES = "challenge-gov-20210714T202743Z.json.gz";
const record = (id: string, more: object = {}) =>
  JSON.stringify({ source: { code: "own", opportunity_id: id }, title: `Title ${id}`, ...more });

/** Runs a command on the data of a home in this process: what is prepared, and what is looked up, needs no program. */
const here = async (home: Home, ...args: string[]) => (await fundfeed([...args, "--data", home.at("fundfeed-data")])).out;

type Page = { data: { id: string; title: string; source: { code: string } }[]; meta: { has_more: boolean } };
const page = async (response: Response) => (await response.json()) as Page;

describe("in an empty directory with a hostile .env, bunfig.toml, package.json and tsconfig.json", () => {
  test("serve uses its defaults, and its files are readable by their owner only", async () => {
    const home = aHome();
    const server = await home.serve();
    expect(server.base).toBe(`http://127.0.0.1:${server.port}/v1`);
    const meta = await server.get("/meta");
    expect([meta.status, meta.headers.get("api-version")]).toEqual([200, "1"]);
    expect((await server.get("/docs")).status).toBe(200);
    expect((await server.get("/nope")).headers.get("content-type")).toBe("application/problem+json");
    const data = home.at("fundfeed-data");
    const modes = readdirSync(data).map((name) => [name, (statSync(join(data, name)).mode & 0o777).toString(8)]);
    expect(modes.map(([name]) => name).sort()).toContain("catalog.db");
    expect(new Set(modes.map(([, mode]) => mode))).toEqual(new Set(["600"]));
    expect((statSync(data).mode & 0o777).toString(8)).toBe("700");
    expect(await server.stop()).toBe(0);
    expect(readdirSync(data).sort()).toEqual(["catalog.db", "state.db"]);
  });
});

describe("a data directory with real records", () => {
  let home: Home;
  beforeAll(async () => {
    home = aHome();
    home.file(GRANTS, unpackedSample(`${GRANTS}.gz`));
    home.file("challenges.json.gz", sampleFile(CHALLENGES));
    await here(home, "import", "grants-gov", home.at(GRANTS));
    await here(home, "import", "challenge-gov", home.at("challenges.json.gz"));
    expect((await home.run(["import", "records", "-"], { stdin: `${record("1")}\n${record("2", { status: "open" })}\n` })).code).toBe(0);
    expect((await home.run(["keys", "create", "--account", "Acme", "--label", "first"])).code).toBe(0);
  });

  // Every command that only looks, with text and with --json.
  test.each<[string[], RegExp, unknown]>([
    [
      ["version"],
      /^fundfeed \d+\.\d+\.\d+ \(commit \S+, build own, Bun \S+, SQLite 3\S+; schemas: catalog \d+, state \d+, watches \d+\)\n$/,
      {
        fundfeed: expect.any(String),
        commit: expect.stringMatching(/^([0-9a-f]{7,}(-dirty)?|unknown)$/),
        build: "own",
        bun: expect.any(String),
        sqlite: expect.any(String),
        schemas: { catalog: expect.any(Number), state: expect.any(Number), watches: expect.any(Number) },
      },
    ],
    [["check"], /^No problems found\n$/, { ok: true, faults: [], has_more: false, not_migrated: [] }],
    [["refresh"], /^0 changed\n$/, { changed: 0, events: 0 }],
    [
      ["sources", "list"],
      /^code +import as +name\nCHALLENGE_GOV +challenge-gov /,
      expect.arrayContaining([{ code: "GRANTS_GOV", name: "Grants.gov", description: expect.any(String) }]),
    ],
    [
      ["sources", "status", "--max-age", "1h"],
      /^source +records +open +posted +changed +imported +state\nCHALLENGE_GOV /,
      expect.arrayContaining([
        expect.objectContaining({
          source: "OWN",
          records: 2,
          open: 2,
          live: 2,
          newest_posted_on: null,
          newest_posted_age_days: null,
          last_import_at: expect.any(String),
          last_import_age_seconds: expect.any(Number),
        }),
      ]),
    ],
    [
      ["imports", "list"],
      /^3 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}records\n {3}\d+ read: .*\n {3}-\n2 {2}/,
      expect.arrayContaining([expect.objectContaining({ id: 1, format: "grants-gov", sources: ["GRANTS_GOV"], snapshot: false })]),
    ],
    [
      ["plans", "list"],
      /^name +daily +per minute\ntrial +1,000 +60\n/,
      expect.arrayContaining([{ name: "paid", daily: 100_000, per_minute: 600 }]),
    ],
    [
      ["accounts", "list"],
      /^name +plan +subscription +created at\nAcme +trial +active /,
      [{ name: "Acme", plan: "trial", subscription: "active", created_at: expect.any(String) }],
    ],
    [
      ["keys", "list"],
      /^key_\w+ {2}…\w{4} {2}active {3}Acme\n {2}"first", created /,
      [expect.objectContaining({ account: "Acme", label: "first", state: "active", used_today: 0, revoked_at: null })],
    ],
    [["openapi"], /^\{\n {2}"openapi": "3\.1\.0",/, expect.objectContaining({ openapi: "3.1.0" })],
  ])("fundfeed %j", async (args, text, json) => {
    const [plain, parsed] = await Promise.all([home.run(args), home.run([...args, "--json"])]);
    expect({ ...plain, out: text.test(plain.out) || plain.out }).toEqual({ code: 0, out: true, err: "" });
    expect(parsed).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(parsed.out)).toEqual(json);
  });

  test("import reads .xml, .gz and .zip alike, and what it has seen is unchanged (D-32)", async () => {
    home.file("g.gz", sampleFile(`${GRANTS}.gz`));
    home.file("g.zip", zipArchive("GrantsDBExtract20260803v2.xml", unpackedSample(`${GRANTS}.gz`)));
    const { read: _, unchanged: __, ...nothingNew } = emptySummary;
    for (const name of ["g.gz", "g.zip"]) {
      const { read, unchanged, ...rest } = await home.json(["import", "grants-gov", name]);
      expect([read, rest]).toEqual([unchanged, nothingNew]);
    }
    expect((await home.run(["import", "challenge-gov", "challenges.json.gz"])).out).toMatch(
      /^\d+ read: 0 added, 0 changed, \d+ unchanged, /,
    );
  });

  test("import writes rejected records next to the file and exits with 3; --dry-run stores nothing (D-35)", async () => {
    home.file("mixed.ndjson", `${record("1", { title: "Another" })}\n{"title": 7}\n${record("9", { funding: { amount_min: 1 } })}\n`);
    const before = await here(home, "export");
    const rehearsed = await home.run(["import", "records", "mixed.ndjson", "--dry-run"]);
    expect(rehearsed).toMatchObject({
      code: 3,
      out: "Dry run: 3 read: 0 added, 1 changed, 0 unchanged, 0 merged, 2 rejected; 0 removed, links not counted, 1 event\n",
    });
    expect(await here(home, "export")).toBe(before);
    const { code, out, err } = await home.run(["import", "records", "mixed.ndjson", "--json"]);
    const amount = 'funding.amount_min must be a decimal string such as "2500.00"';
    const reasons = [
      { reason: "source.code is required", records: 1, file: "mixed.ndjson", line: 2 },
      { reason: amount, records: 1, file: "mixed.ndjson", line: 3 },
    ];
    expect([code, JSON.parse(out)]).toEqual([3, { ...emptySummary, read: 3, changed: 1, rejected: 2, events: 1, reasons }]);
    expect(err).toBe(
      "1 rejected: source.code is required; first at mixed.ndjson:2\n" +
        `1 rejected: ${amount}; first at mixed.ndjson:3\n` +
        "Rejected records with their reasons are in mixed.ndjson.rejects.ndjson\n",
    );
    const rejects = readFileSync(home.at("mixed.ndjson.rejects.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rejects.map(({ line }) => line)).toEqual([2, 3]);
    expect(statSync(home.at("mixed.ndjson.rejects.ndjson")).mode & 0o777).toBe(0o600);
  });

  test("export, imported into an empty directory, gives the same export; --source narrows it", async () => {
    const all = await home.run(["export"]);
    const copy = await home.run(["import", "records", "-", "--data", "copy"], { stdin: all.out });
    expect(copy.code).toBe(0);
    expect(await home.run(["export", "--data", "copy"])).toEqual(all);
    const some = await home.run(["export", "--source", "own,challenge_gov"]);
    const codes = some.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).source.code);
    expect(new Set(codes)).toEqual(new Set(["OWN", "CHALLENGE_GOV"]));
  });

  test("explain shows what an event is, why, and from which import", async () => {
    const server = await home.serve();
    const key = await home.key();
    const { data } = await page(await server.get("/opportunities?source=CHALLENGE_GOV&limit=1", key));
    const events = (await (await server.get(`/opportunities/${data[0]?.id}/events`, key)).json()) as { data: { id: string }[] };
    const id = events.data[0]?.id ?? "";
    expect((await home.run(["explain", id])).out).toMatch(
      /^opportunity_added \(informational\) of CHALLENGE_GOV [\s\S]*by +import 2, challenge-gov, /,
    );
    expect(await home.json(["explain", id])).toMatchObject({
      event: { id },
      import: { format: "challenge-gov" },
      rules: [{ type: "opportunity_added" }],
    });
    await server.stop();
  });

  test("sources add and remove decide what OTHER means at the next request of a running server (D-13)", async () => {
    const server = await home.serve();
    const key = await home.key();
    const others = async () => (await page(await server.get("/opportunities?source=OTHER", key))).data.length;
    expect(await others()).toBe(2);
    expect((await home.run(["sources", "add", "own", "--name", "Own", "--description", "Ours"])).out).toBe("OWN is a named source\n");
    expect(await others()).toBe(0);
    expect(await home.json(["sources", "remove", "own"])).toEqual({ code: "OWN" });
    expect(await others()).toBe(2);
    await server.stop();
  });
});

describe("a running server", () => {
  let home: Home;
  let server: Server;
  beforeAll(async () => {
    home = aHome();
    server = await home.serve();
  });
  afterAll(() => server.stop());

  const newKey = (account: string) => home.json<{ id: string; key: string }>(["keys", "create", "--account", account]);
  const status = async (key: string) => (await server.get("/sources", key)).status;
  const limit = async (key: string) => (await server.get("/sources", key)).headers.get("ratelimit-limit");

  test("error responses have no source code and no stack", async () => {
    const answer = await sendRaw(server.port, ["GET /v1/%zz<script> HTTP/1.1", "Host: a", "Connection: close"]);
    expect(answer?.status).toBe(404);
    expect(await answer?.text()).not.toMatch(/<script>|at .*\.ts|bun/i);
  });

  test("logs the address of the reference, which is a page", async () => {
    const address = await waitFor("it is logged", () => /"The API reference is at (http:[^"]+)"/.exec(server.log())?.[1]);
    expect(address).toBe(`http://127.0.0.1:${server.port}/v1/docs`);
    expect((await fetch(address)).headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  test("knows a key, its revocation, its account's plan and subscription at the next request (D-24)", async () => {
    const [first, second] = [await newKey("One"), await newKey("Two")];
    expect([await status(first.key), await status(second.key)]).toEqual([200, 200]);
    expect((await home.run(["keys", "revoke", first.id])).out).toBe(`${first.id} is revoked\n`);
    expect([await status(first.key), await status(second.key)]).toEqual([401, 200]);
    await home.run(["accounts", "set", "Two", "--subscription", "inactive"]);
    expect(await status(second.key)).toBe(403);
    await home.run(["accounts", "set", "Two", "--subscription", "active", "--plan", "starter"]);
    expect(await limit(second.key)).toBe("10000");
    await home.run(["plans", "set", "starter", "--daily", "77", "--per-minute", "7"]);
    expect(await limit(second.key)).toBe("77");
    expect(await home.json(["accounts", "create", "Three", "--plan", "paid"])).toMatchObject({
      name: "Three",
      plan: "paid",
      subscription: "active",
    });
  });

  test("serves what an import commits at the next request", async () => {
    const key = await home.key();
    await home.run(["import", "records", "-"], { stdin: record("new") });
    expect((await page(await server.get("/opportunities", key))).data.map(({ title }) => title)).toContain("Title new");
  });

  test("is checked by health, by default at the configured port", async () => {
    const url = ["--url", server.base];
    expect(await home.run(["health", ...url])).toEqual({ code: 0, out: `${server.base} is healthy\n`, err: "" });
    expect(await home.json(["health"], { env: { FUNDFEED_PORT: String(server.port), HTTP_PROXY: "http://127.0.0.1:9" } })).toEqual({
      url: server.base,
      status: 200,
    });
  });

  test("keeps its port: a second server fails", async () => {
    const { code, out, err } = await home.run(["serve", "--port", String(server.port)]);
    expect([code, out, err]).toEqual([
      1,
      "",
      `Cannot listen on 127.0.0.1:${server.port}: the port is in use; stop the program that listens there, or choose another port (0 takes a free one)\n`,
    ]);
    expect((await server.get("/meta")).status).toBe(200);
  });

  test("is backed up while it serves, is not restored over, and the backup serves as --data", async () => {
    const key = await home.key();
    const made = await home.json<{ files: unknown[] }>(["backup", "copy"]);
    expect(made.files).toEqual([
      { name: "catalog.db", bytes: expect.any(Number) },
      { name: "state.db", bytes: expect.any(Number) },
    ]);
    const refused = await home.run(["restore", "copy"]);
    expect([refused.code, refused.err]).toEqual([
      1,
      "Cannot restore fundfeed-data: catalog.db is in use: a server or an import has it open; stop it first\n",
    ]);
    const copy = await home.serve(["serve", "--port", "0", "--data", "copy"]);
    expect((await copy.get("/sources", key)).status).toBe(200);
    await copy.stop();
  });
});

describe("stopping", () => {
  test("SIGTERM lets a response under way complete, and exits with 0", async () => {
    const home = aHome();
    const text = "word ".repeat(60_000);
    const records = Array.from({ length: 20 }, (_, n) => `${record(String(n), { description: text })}\n`);
    await here(home, "import", "records", home.file("records.ndjson", records.join("")));
    const [server, key] = [await home.serve(), await home.key()];
    const response = await server.get("/opportunities?limit=100", key);
    const ended = server.stop(); // Its page ends at 4 MiB, which is more than is sent at once.
    await waitFor("it takes no more connections", async () => (await server.get("/meta").catch(() => undefined)) === undefined);
    expect((await page(response)).data.length).toBeGreaterThan(10);
    expect(await ended).toBe(0);
  });

  test("SIGINT also exits with 0", async () => {
    const server = await aHome().serve();
    server.kill("SIGINT");
    expect(await server.ended).toBe(0);
  });

  test("loses no use: the next server continues counting (D-25)", async () => {
    const home = aHome();
    const { key } = await home.json<{ key: string }>(["keys", "create", "--account", "Acme"]);
    const remaining = async (server: Server) => (await server.get("/sources", key)).headers.get("ratelimit-remaining");
    const first = await home.serve();
    for (let n = 1; n <= 5; n++) expect(await remaining(first)).toBe(String(1000 - n));
    await first.stop();
    const second = await home.serve();
    expect(await remaining(second)).toBe("994");
    await waitFor("the use is written within a second", async () => {
      const [listed]: { used_today: number }[] = JSON.parse(await here(home, "keys", "list", "--json"));
      return listed?.used_today === 6;
    });
    second.kill("SIGKILL");
    await second.ended;
    const third = await home.serve();
    expect(await remaining(third)).toBe("993");
    await third.stop();
  });
});

describe("restore", () => {
  test("restores a backup when nothing is running", async () => {
    const home = aHome();
    await here(home, "import", "records", home.file("first.ndjson", record("1")));
    const exported = await here(home, "export");
    await home.run(["backup", "copy"]);
    await here(home, "import", "records", home.file("second.ndjson", record("2")));
    expect(await home.run(["restore", "copy"])).toEqual({ code: 0, out: "Restored fundfeed-data from copy\n", err: "" });
    expect(await here(home, "export")).toBe(exported);
    expect(await home.json(["restore", "copy", "--data", "elsewhere"])).toEqual({ directory: "copy", data: "elsewhere", paused: 0 });
    expect((await home.run(["export", "--data", "elsewhere"])).out).toBe(exported);
  });
});

describe("demo", () => {
  test("serves its sample, prints commands that work when pasted, and removes its directory at the end", async () => {
    const home = aHome();
    const demo = await home.serve(["demo", "--port", "0"], { env: { TMPDIR: home.directory } });
    const directories = () => readdirSync(home.directory).filter((name) => name.startsWith("fundfeed-demo-"));
    expect(directories()).toHaveLength(1);
    const lines = demo
      .printed()
      .split("\n")
      .filter((line) => /^ {2}(export|curl)/.test(line));
    expect(lines.length).toBeGreaterThan(4);
    expect(demo.printed()).toContain(`The API reference is at http://127.0.0.1:${demo.port}/v1/docs.`);
    const pasted = Bun.spawnSync(["sh", "-c", lines.map((line) => line.replace("curl -s", "curl -sf")).join(" && ")]);
    expect([pasted.exitCode, pasted.stdout.includes('"has_more":true')]).toEqual([0, true]);
    expect([await demo.stop(), directories()]).toEqual([0, []]);
  });
});

describe("a key", () => {
  /** Every byte that a server and the command line leave behind, by where: `seen["fundfeed-data/state.db-wal"]`. */
  async function leavings(home: Home, server: Server, keys: readonly string[]): Promise<Record<string, string>> {
    for (const key of keys) {
      for (const path of ["/opportunities?limit=1", `/opportunities?agency=${key}`, `/opportunities?cursor=${key}`, `/${key}`]) {
        await server.get(path, key);
      }
      await fetch(`${server.base}/sources`, { headers: { Authorization: `Basic ${key}`, Cookie: key } });
    }
    await sendRaw(server.port, [`GET /v1/sources?${keys[0]} HTTP/1.1`, "Host: a", `Authorization: ${keys[0]}`, "Connection: close"]);
    const seen: Record<string, string> = { arguments: readFileSync(`/proc/${server.pid}/cmdline`, "latin1") };
    const look = (directory: string) => {
      for (const name of readdirSync(home.at(directory)))
        seen[`${directory}/${name}`] = readFileSync(home.at(`${directory}/${name}`), "latin1");
    };
    const commands = ["keys list", "keys list --json", "keys usage", "keys revoke nope", "accounts list", "imports list --json", "export"];
    for (const command of [...commands, "check", "backup copy"]) {
      const { out, err } = await home.run(command.split(" "));
      seen[command] = out + err;
    }
    look("fundfeed-data"); // While it runs: with the logs of both databases.
    look("copy");
    await server.stop();
    look("fundfeed-data");
    return { ...seen, "standard output": server.printed(), "standard error": server.log() };
  }

  test("is in no log, argument, file or output except that of its creation; the cursor secret is in the catalog only", async () => {
    const home = aHome();
    await home.run(["import", "records", "-"], { stdin: `${record("1")}\n${record("2")}\n` });
    const server = await home.serve();
    const first = await home.json<{ id: string; key: string }>(["keys", "create", "--account", "Acme"]);
    const second = await home.json<{ key: string }>(["keys", "rotate", first.id]);
    const seen = await leavings(home, server, [first.key, second.key]);
    expect(seen["standard error"]).toContain('"status":200');
    expect(Object.keys(seen)).toEqual(expect.arrayContaining(["fundfeed-data/state.db-wal", "copy/state.db", "keys usage"]));

    const where = (...forms: string[]) => Object.keys(seen).filter((place) => forms.some((form) => seen[place]?.includes(form)));
    for (const { key } of [first, second]) expect(where(key, key.slice(9, 41))).toEqual([]);
    const catalog = new Database(home.at("copy/catalog.db"), { readonly: true });
    const { value } = catalog.query("select value from settings where name = 'cursor_secret'").get() as { value: Uint8Array };
    catalog.close();
    const secret = Buffer.from(value);
    expect(secret).toHaveLength(32);
    expect(where(secret.toString("latin1")).filter((place) => !/catalog\.db(-wal)?$/.test(place))).toEqual([]);
    expect(where(secret.toString("latin1"))).toContain("copy/catalog.db");
    expect(where(secret.toString("hex"), secret.toString("base64").slice(0, 40), secret.toString("base64url").slice(0, 40))).toEqual([]);
    expect(seen["backup copy"]).toContain("The copy contains key hashes and the cursor secret. Keep it as private as the original.");
  });

  test("works in a directory whose path would need quoting in a URI", async () => {
    const home = aHome();
    const data = "a data?dir#100%é";
    const created = await home.run(["keys", "create", "--account", "Acme", "--data", data]);
    expect(created.code).toBe(0);
    chmodSync(home.at(data), 0o700);
    const server = await home.serve(["serve", "--port", "0", "--data", data]);
    expect((await server.get("/sources", created.out.trim())).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});
