/** What happens to a running service when its disk is full, or its directory must not be written. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWatchFile } from "../../db/sqlite/open.ts";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";
import { aMailSink } from "../support/mail-sink.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

const record = (id: string, title = "A title") => `${JSON.stringify({ source: { code: "OWN", opportunity_id: id }, title })}\n`;

async function titles(server: Server, key: string): Promise<string[]> {
  const response = await server.get("/opportunities", key);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { title: string }[] }).data.map(({ title }) => title).sort();
}

const remaining = async (server: Server, key: string) => Number((await server.get("/sources", key)).headers.get("ratelimit-remaining"));

/** A disk of 4 MB, where this machine lets us have one. */
const disk = mkdtempSync(join(tmpdir(), "fundfeed-disk-"));
const hasDisk = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], { stderr: "ignore" }).exitCode === 0;
afterAll(() => {
  if (hasDisk) Bun.spawnSync(["umount", "-l", disk]);
  rmSync(disk, { recursive: true, force: true });
});

const FULL = "The disk of this server is full, and nothing was stored. Try again later.";

/** Leaves no byte of it. */
function fill(): void {
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(join(disk, "filler"), Buffer.alloc(size), { flag: "a" });
    } catch {
      // It is full for this size.
    }
  }
}

describe.skipIf(!hasDisk)(`a full disk${hasDisk ? "" : " (skipped: only root can mount a small one)"}`, () => {
  let home: Home;
  const data = join(disk, "data");
  const on = ["--data", data];
  beforeAll(async () => {
    home = aHome();
    expect((await fundfeed(["import", "records", home.file("one.ndjson", record("1")), ...on])).code).toBe(0);
  });

  test("under a server: it continues to read, counts in memory, and writes the counts when there is room", async () => {
    const { key } = await home.json<{ key: string }>(["keys", "create", "--account", "Acme", ...on]);
    const server = await home.serve(["serve", "--port", "0", ...on]);
    expect(await remaining(server, key)).toBe(999);
    fill();
    for (let n = 998; n > 990; n--) expect(await remaining(server, key)).toBe(n);
    expect(await titles(server, key)).toEqual(["A title"]);
    await waitFor("the log says so", () => /is full/.exec(server.log())?.[0]);
    expect((await server.get("/meta")).status).toBe(200);
    expect(server.log().match(/is full/g)).toHaveLength(1); // Once a minute, not at every turn.
    rmSync(join(disk, "filler"));
    await waitFor("the use is written, without a restart", async () => {
      const [listed]: { used_today: number }[] = JSON.parse((await fundfeed(["keys", "list", "--json", ...on])).out);
      return listed?.used_today === 10;
    });
    expect(await server.stop()).toBe(0);
    expect((await fundfeed(["check", ...on])).out).toBe("No problems found\n");
  });

  test("under commands: each fails, says so, and changes nothing", async () => {
    const read = () => Promise.all([["export"], ["keys", "list"], ["check"]].map((args) => fundfeed([...args, ...on])));
    const before = await read();
    const many = Array.from({ length: 3000 }, (_, n) => record(`${n}`, "Another title")).join("");
    fill();
    const names = readdirSync(data);
    expect(await read()).toEqual(before); // What only reads works, and leaves nothing there.
    expect(readdirSync(data)).toEqual(names);
    const ran = [
      await home.run(["import", "records", home.file("many.ndjson", many), ...on]),
      await home.run(["backup", join(disk, "copies/today"), ...on]),
      await home.run(["keys", "create", "--account", "Late", ...on]),
    ];
    expect(await read()).toEqual(before);
    rmSync(join(disk, "filler"));
    expect(readdirSync(disk)).toEqual(["data"]); // Not even an empty directory where the backup was to be.
    for (const { code, out, err } of ran)
      expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^Cannot [^\n]*the disk is full( or failing)?\n$/)]);
    expect(await read()).toEqual(before);
    for (const command of [
      ["import", "records", home.file("empty.ndjson", "")],
      ["plans", "set", "trial", "--daily", "1000", "--per-minute", "60"],
    ])
      expect((await fundfeed([...command, ...on])).code).toBe(0);
    expect(readdirSync(data).filter((name) => !/^(catalog|state)\.db$|^import\.lock$/.test(name))).toEqual([]);
  });

  test("under the log does not stop the server", async () => {
    const path = home.file("log.sh", `exec "$@" 2>${join(disk, "log")}`);
    const key = await home.key();
    const server = await home.serve(["serve", "--port", "0"], { through: ["sh", path] });
    fill();
    for (let n = 0; n < 100; n++) await titles(server, key);
    rmSync(join(disk, "filler"));
    expect(await server.stop()).toBe(0);
    rmSync(join(disk, "log"));
  });
});

describe.skipIf(!hasDisk)(`a full disk under watches`, () => {
  test("stores and sends nothing and says so; then each change is mailed once", async () => {
    const [home, sink, port] = [aHome(), await aMailSink(), await freePort()];
    const on = ["--data", home.at("data"), "--watch-data", join(disk, "watches")];
    const origin = `http://127.0.0.1:${port}`;
    const env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "f@feeds.example", FUNDFEED_PAGES_URL: origin };
    /** Imports a change of two records. */
    const take = async (day: number) => {
      const dates = { closes_at: `2099-01-0${day}T17:00:00Z` };
      const lines = ["1", "2"].map((id) => JSON.stringify({ source: { code: "OWN", opportunity_id: id }, title: "Research", dates }));
      const file = home.file("own.ndjson", lines.join("\n"));
      expect((await fundfeed(["import", "records", file, "--data", home.at("data")])).code).toBe(0);
    };
    await take(1);
    expect((await fundfeed(["members", "add", "@lab.example", ...on])).code).toBe(0);
    const server = await home.serve(["up", "--port", `${port}`, "--pages", "key", "--pull", "none", "--watch-every", "none", ...on], {
      env,
    });
    let cookie = "";
    const get = async (path: string) => (await fetch(origin + path, { headers: { cookie }, redirect: "manual" })).text();
    const post = (path: string, form: Record<string, string>) => {
      const headers = { cookie, "sec-fetch-site": "same-origin", accept: "text/html" };
      return fetch(origin + path, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(form) });
    };
    await post("/sign-in", { address: "ann@lab.example" });
    const link = /\/sign-in\/[\w-]+/.exec(await waitFor("a link", () => sink.mails[0]?.text))?.[0] ?? "";
    cookie = ((await post(link, {})).headers.get("set-cookie") ?? "").replace(/;.*/, "");
    await waitFor("the search index", async () => (await get("/?words=research")).includes("/watches/new?") || undefined);
    const other = openWatchFile(join(disk, "watches"), Date.now()); // Then a run can open the file without room for another one.
    const form = { title: "Research", when: "now", time: "08:00", zone: "America/Chicago", at_least: "material", remind: "" };
    const save = () => post("/watches", { query: "words=research", ...form });
    expect((await save()).status).toBe(303);
    const id = /opportunities\/([\w-]+)/.exec(await get("/?words=research"))?.[1] ?? "";
    const run = () => home.run(["watch", "run", ...on], { env });
    const mails = () => sink.mails.slice(1).map(({ head }) => /^Message-ID: (.*)/im.exec(head)?.[1]);
    const titles = async () => (await get("/watches")).match(/<h2>/g)?.length ?? 0;

    fill();
    await take(2);
    for (const [path, sent] of [
      ["/watches", { query: "words=research", ...form }],
      ["/follow", { id, action: "follow" }],
    ] as const) {
      const answer = await post(path, sent);
      expect([path, answer.status, await answer.text()]).toEqual([path, 503, expect.stringContaining(FULL)]);
    }
    expect(server.log()).toContain("disk is full");
    expect(await titles()).toBe(1);
    expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining(" is full") });
    expect(mails()).toEqual([]);
    rmSync(join(disk, "filler"));
    expect((await run()).code).toBe(0);
    expect(mails()).toHaveLength(1);
    expect((await post("/follow", { id, action: "follow" })).status).toBe(303);

    await take(3);
    sink.refuses = () => {
      fill(); // When the message is stored, and before it is accepted.
      return false;
    };
    expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining(" is full") });
    const sent = mails();
    expect(sent).toHaveLength(2);
    for (let n = 0; n < 2; n++) expect((await run()).code).toBe(1);
    expect(mails()).toEqual(sent);
    sink.refuses = () => false;
    rmSync(join(disk, "filler"));
    for (let n = 0; n < 2; n++) expect((await run()).code).toBe(0);
    expect(mails()).toEqual([...sent, sent[1]]); // What could not be stored comes once more, as the same mail.
    await other.close();
    expect(await server.stop()).toBe(0);
    sink.close();
  });
});

describe("a directory that must not be written", () => {
  const isRoot = process.getuid?.() === 0;
  const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];

  test("commands that write fail in it and say why; commands that read work", async () => {
    const home = aHome();
    chmodSync(home.directory, 0o755);
    const data = home.at("data");
    await fundfeed(["keys", "create", "--account", "First", "--data", data]);
    await fundfeed(["import", "records", home.file("one.ndjson", record("1")), "--data", data]);
    for (const name of readdirSync(data)) chmodSync(join(data, name), 0o444);
    chmodSync(data, 0o555);
    for (const args of [["serve", "--port", "0"], ["keys", "create", "--account", "A"], ["refresh"]]) {
      const { code, out, err } = await home.run([...args, "--data", data], { through: asNobody });
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(
        /^Cannot open .*\/(state|catalog)\.db: (permission denied|it cannot be opened): (the directory and its files must be (readable and )?writable|this user needs access to the directory and its files)\n$/,
      );
    }
    for (const args of [["keys", "list"], ["export"], ["check"]])
      expect((await home.run([...args, "--data", data], { through: asNobody })).code).toBe(0);
    chmodSync(data, 0o755);
  });

  test("a working directory that the user must not enter does not matter, unless it is to hold the data", async () => {
    const [home, elsewhere] = [aHome(), aHome()];
    chmodSync(home.directory, 0o700);
    chmodSync(elsewhere.directory, 0o777);
    const on = ["--data", elsewhere.at("data")];
    const imported = await home.run(["import", "records", "-", ...on], { stdin: record("1"), through: asNobody });
    expect([imported.code, imported.err]).toEqual([0, ""]);
    // Without a state.db, these open one in memory.
    for (const args of [["keys", "list"], ["check"], ["backup", elsewhere.at("copy")]]) {
      const { code, err } = await home.run([...args, ...on], { through: asNobody });
      expect([args, code, err]).toEqual([args, 0, expect.not.stringContaining("Cannot")]);
    }
    if (!isRoot) return;
    for (const args of [["keys", "list"], ["export"], ["serve", "--port", "0"]]) {
      const { code, out, err } = await home.run(args, { through: asNobody });
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(
        /^Cannot open fundfeed-data\/(state|catalog)\.db: permission denied: this user needs access to the directory and its files\n$/,
      );
    }
  });

  test("a port that needs a privilege", async () => {
    const home = aHome();
    mkdirSync(home.at("open"));
    for (const path of [home.directory, home.at("open")]) chmodSync(path, 0o777);
    const args = ["serve", "--port", "81", "--data", home.at("open/data")];
    const { code, out, err } = await home.run(args, { through: asNobody });
    // Containers often let everybody listen anywhere.
    if (code === 1)
      expect([out, err]).toEqual([
        "",
        "Cannot listen on 127.0.0.1:81: only a privileged user may listen on this port; choose one from 1024 on\n",
      ]);
  });
});
