/** Commands that only read create nothing and change nothing, down to the bytes; those that write say what they migrate. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { migrations } from "../../db/sqlite/migrate.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { openStores } from "../../src/server/stores.ts";
import { aHome, dropHomes } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { entries } from "../support/commands.ts";
import { overwriteRootPage } from "../support/damage.ts";
import { aCatalog, aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";
import { nextVersion } from "../support/next-version.ts";
import { hasPostgres, postgresCommand, postgresServer } from "../support/postgres.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);
afterAll(dropHomes);

const modeOf = (words: string) => entries[words]?.mode ?? "";
const ofMode = (...wanted: string[]) => Object.keys(entries).filter((words) => wanted.includes(modeOf(words)));

/** What each command that reads is given, beyond the place. */
let eventId = "";
const arguments_: Record<string, () => string[]> = {
  browse: () => ["--port", "0"],
  export: () => [],
  quality: () => [],
  explain: () => [eventId],
  find: () => ["one"],
  show: () => ["1"],
  similar: () => ["1"],
  diff: () => ["30d"],
  report: () => [],
  status: () => [],
  mcp: () => [], // Its input ends at once. What it does with requests: tests/mcp.
  changes: () => ["--since", "all"],
  copy: () => ["postgres://127.0.0.1:1/nowhere"],
  "imports list": () => [],
  "sources list": () => [],
  "sources status": () => [],
  "plans list": () => [],
  "accounts list": () => [],
  "keys list": () => [],
  "keys usage": () => [],
  "watch list": () => [],
  "watch show": () => ["kept"],
  "watch deliveries": () => [],
  backup: () => [join(aDirectory(), "backup")],
  check: () => [],
};
/** What the commands are given that need something to be there, and change it. */
const changing: Record<string, string[]> = {
  refresh: [],
  redact: [],
  "sources remove": ["GRANTS_GOV"],
  "accounts set": ["Acme", "--plan", "paid"],
  "keys rotate": ["key_x"],
  "keys revoke": ["key_x"],
  "watch add": ["other", "--to", "stdout"],
  "watch set": ["kept", "--at-least", "critical"],
  "watch remove": ["kept"],
  "watch test": ["kept"],
  "watch run": [],
  "watch resume": ["kept"],
  "watch mute": ["1"],
  "watch unmute": ["1"],
};

const readers = Object.keys(arguments_);
/** They tell of any directory and database, also of one that is empty or of an older version. */
const TELLING = ["report", "status"];
const opening = readers.filter((words) => !TELLING.includes(words));
const lineOf = (words: string, place: readonly string[]) => [
  ...words.split(" "),
  ...(arguments_[words]?.() ?? changing[words] ?? []),
  ...place,
];

/** The copy's target answers nobody; until it is asked, all is read. No `up` runs, which `status` tells. */
const isWell = (words: string, code: number) => code === (words === "copy" || words === "status" ? 1 : 0);

/** All that can be told of a directory and its files. An index, `-shm`, is memory that SQLite's connections share, and no data: only its name counts. */
function stateOf(directory: string): unknown {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return names.sort().map((name) => {
    const path = join(directory, name);
    const { mode, ino, uid, size, mtimeNs } = statSync(path, { bigint: true });
    return name.endsWith("-shm")
      ? [name]
      : [name, mode, ino, uid, size, mtimeNs, new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")];
  });
}

/** A data directory with a record, its history, an import, an account and a key; closed. */
let sound = "";
beforeAll(async () => {
  sound = aDirectory();
  await fundfeed(["import", "records", aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]), "--data", sound]);
  await fundfeed(["keys", "create", "--account", "Acme", "--data", sound]);
  await fundfeed(["watch", "add", "kept", "--to", "stdout", "--data", sound]);
  for (const name of ["import.lock", "search.db"]) rmSync(join(sound, name));
  const db = openCatalog(sound, NOON);
  eventId = (await db.get(rawSql<{ id: string }>("select id from events")))?.id ?? "";
  await db.close();
});

function copied(): string {
  const directory = aDirectory();
  cpSync(sound, directory, { recursive: true });
  return directory;
}

/** Both files as a killed server leaves them: with logs that hold a record and an account. */
async function leftBehind(): Promise<string> {
  const [directory, left] = [copied(), aDirectory()];
  const [catalog, state] = [openCatalog(directory, NOON), openState(directory, NOON)];
  await (await aCatalog(catalog)).take([{ source: { code: "OWN", opportunity_id: "late" }, title: "In the log" }]);
  await state.run(rawSql("insert into accounts (name, plan, subscription, created_at) values ('Late', 'trial', 'active', 0)"));
  for (const name of readdirSync(directory)) cpSync(join(directory, name), join(left, name));
  await Promise.all([catalog.close(), state.close()]);
  return left;
}

test("every command that opens data is tested here", () => {
  expect(readers.sort()).toEqual(ofMode("read", "inspect").sort());
  expect(Object.keys(changing).sort()).toEqual(ofMode("change").sort());
});

describe("without data, and without creating any,", () => {
  const needing = [...opening, ...Object.keys(changing)];
  let emptyUrl: string | undefined; // One for all, because it stays empty.

  test.each(needing)("fundfeed %s fails for a missing and an empty directory, and names it", async (words) => {
    const [absent, empty] = [join(aDirectory(), "typo"), aDirectory()];
    const abandoned = aDirectory();
    for (const name of ["catalog.db", "state.db"]) writeFileSync(join(abandoned, name), ""); // As by a command that was killed at once.
    for (const directory of [absent, empty, abandoned]) {
      const before = existsSync(directory) && stateOf(directory);
      const { code, out, err } = await fundfeed(lineOf(words, ["--data", directory]));
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/^Cannot open .*\/(catalog|state)\.db: no fundfeed data in .*; name the right directory with --data .*\n$/);
      expect(err).toContain(`no fundfeed data in ${directory};`);
      expect(existsSync(directory) && stateOf(directory)).toEqual(before);
    }
  });

  test.if(hasPostgres).each(needing.filter((words) => words !== "backup"))(
    "fundfeed %s fails for an empty PostgreSQL database, and names it",
    async (words) => {
      emptyUrl ??= await (await postgresServer()).freshDatabase({ empty: true });
      const url = emptyUrl;
      const { code, out, err } = await fundfeed(lineOf(words, ["--database", url]));
      const name = url.replace("fundfeed@", "");
      expect([code, out]).toEqual([1, ""]);
      expect(err).toStartWith(`Cannot open ${name}: no fundfeed data in ${name}; name the right database with --database `);
      await using sql = new SQL(url, { max: 1 });
      expect([...(await sql.unsafe("select nspname from pg_namespace where nspname like 'fundfeed%'"))]).toEqual([]);
    },
  );

  test.each(["openapi", "completion", "man", "version", "health", "mirror"])("fundfeed %s needs none", async (words) => {
    const data = join(aDirectory(), "data");
    await using refusing = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("", { status: 401 }) });
    const url = `http://127.0.0.1:${refusing.port}/v1`;
    const extra: Record<string, string[]> = { health: ["--url", url], mirror: [url, "--source", "A"] };
    process.env.FUNDFEED_DATA = data;
    const { code } = await fundfeed([words, ...(extra[words] ?? [])], { FUNDFEED_KEY: "key" });
    delete process.env.FUNDFEED_DATA;
    expect([code, existsSync(data)]).toEqual([words in extra ? 1 : 0, false]);
  });

  test("a dry run of an import counts as for a new catalog", async () => {
    const data = join(aDirectory(), "data");
    const files = [aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]), aFile([])];
    for (const [args, added] of [
      [["records", ...files], 1],
      [["events", aFile([])], 0],
    ] as const) {
      const { code, out } = await fundfeed(["import", ...args, "--dry-run", "--json", "--data", data]);
      expect([code, JSON.parse(out).added, existsSync(data)]).toEqual([0, added, false]);
    }
  });

  test("commands for keys work in a directory that only has a catalog, and commands for records in one that only has a state", async () => {
    const directory = copied();
    rmSync(join(directory, "state.db"));
    const before = stateOf(directory);
    expect((await fundfeed(["keys", "list", "--data", directory])).out).toStartWith("No keys yet");
    expect(JSON.parse((await fundfeed(["plans", "list", "--json", "--data", directory])).out)).toHaveLength(3);
    expect((await fundfeed(["check", "--data", directory])).out).toBe("No problems found\n");
    const backup = join(aDirectory(), "backup");
    expect((await fundfeed(["backup", backup, "--data", directory])).code).toBe(0);
    expect((await fundfeed(["check", "--data", backup])).out).toBe("No problems found\n");
    expect(stateOf(directory)).toEqual(before);
    expect((await fundfeed(["keys", "revoke", "key_x", "--data", directory])).err).toEndWith(
      `${directory} has a catalog.db, but no state.db yet; fundfeed keys create or fundfeed serve makes it\n`,
    );

    cpSync(join(sound, "state.db"), join(directory, "state.db"));
    rmSync(join(directory, "catalog.db"));
    expect((await fundfeed(["keys", "list", "--data", directory])).code).toBe(0);
    const { code, err } = await fundfeed(["export", "--data", directory]);
    expect([code, err]).toEqual([
      1,
      `Cannot open ${directory}/catalog.db: ${directory} has a state.db, but no catalog.db yet; fundfeed import or fundfeed serve makes it\n`,
    ]);
  });
});

describe("with data of an older version", () => {
  let next: Disposable;
  beforeAll(async () => {
    if (hasPostgres) await postgresServer(); // Before the next version, so that its databases are of this one.
    next = nextVersion();
  });
  afterAll(() => next[Symbol.dispose]());

  type Kind = "catalog" | "state";
  const schemasOf = (kind: Kind, word: string) => `${migrations[kind].length - 1} ${word} ${migrations[kind].length}`; // Alike on both engines.
  const isOlder = (kind: Kind) =>
    `an older version of fundfeed made it (schema ${schemasOf(kind, "of")}), and a command that only reads does not migrate it; make a backup, `;
  const checked = (kind: Kind) =>
    `created by an older version of fundfeed (schema ${schemasOf(kind, "of")}); it was not migrated, and only its storage was checked`;
  const migratedLine = (kind: Kind, name: string) =>
    `Migrated ${name} from schema ${schemasOf(kind, "to")}; older versions of fundfeed refuse it from now on\n`;

  test.each(opening)("fundfeed %s migrates no file", async (words) => {
    const directory = copied();
    const before = stateOf(directory);
    const { code, out, err } = await fundfeed(lineOf(words, ["--data", directory]));
    expect(stateOf(directory)).toEqual(before);
    if (modeOf(words) === "inspect") expect([code, out]).toEqual([0, expect.any(String)]);
    else expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^Cannot open .*\.db: /)]);
    if (modeOf(words) !== "inspect") expect(err).toContain(isOlder(err.includes("state.db") ? "state" : "catalog"));
  });

  test("check reports the version and checks the storage, and a backup keeps the version", async () => {
    const directory = copied();
    const { out } = await fundfeed(["check", "--data", directory]);
    expect(out).toBe(`catalog.db: ${checked("catalog")}\nstate.db: ${checked("state")}\nNo problems found in what was checked\n`);
    expect(JSON.parse((await fundfeed(["check", "--json", "--data", directory])).out)).toMatchObject({
      ok: true,
      not_migrated: ["catalog.db", "state.db"],
    });
    const backup = join(aDirectory(), "backup");
    expect((await fundfeed(["backup", backup, "--data", directory])).code).toBe(0);
    expect((await fundfeed(["check", "--data", backup])).out).toBe(out);

    overwriteRootPage(join(directory, "catalog.db"), "opportunities_order");
    const damaged = await fundfeed(["check", "--data", directory]);
    expect([damaged.code, damaged.out]).toEqual([1, expect.stringContaining("catalog.db: it is damaged")]);
  });

  test.each(["refresh", "redact"])("fundfeed %s prints what it migrates", async (words) => {
    const directory = copied();
    const { code, err } = await fundfeed([words, "--data", directory]);
    expect([code, err]).toEqual([0, migratedLine("catalog", `${directory}/catalog.db`)]);
    expect((await fundfeed([words, "--data", directory])).err).toBe("");
    expect((await fundfeed(["import", "records", aFile([]), "--data", aDirectory()])).err).toBe(""); // A new one is not migrated.
  });

  test("a server says what it migrates", async () => {
    const [directory, messages]: [string, string[]] = [copied(), []];
    const stores = await openStores({ data: directory }, NOON, (message) => messages.push(`${message}\n`));
    await stores.close();
    expect(messages).toEqual((["catalog", "state"] as const).map((kind) => migratedLine(kind, join(directory, `${kind}.db`))));
  });

  const dumpOf = (url: string) =>
    Bun.spawnSync([...postgresCommand("pg_dump"), url])
      .stdout.toString()
      .replace(/^\\(un)?restrict .*$/gm, "");
  async function aDumpedDatabase() {
    const url = await (await postgresServer()).freshDatabase();
    return { url, before: dumpOf(url) };
  }
  let dumped: { url: string; before: string } | undefined; // One for all, because no command changes it.

  test.if(hasPostgres).each(opening.filter((words) => words !== "backup"))("fundfeed %s migrates no PostgreSQL database", async (words) => {
    dumped ??= await aDumpedDatabase();
    const { url, before } = dumped;
    const { code, out, err } = await fundfeed(lineOf(words, ["--database", url]));
    expect(dumpOf(url)).toBe(before);
    if (words === "check") {
      expect([code, err]).toEqual([0, ""]);
      for (const kind of ["catalog", "state"] as const) expect(out).toContain(`fundfeed_${kind}: ${checked(kind)}\n`);
    } else {
      expect([code, out]).toEqual([1, ""]);
      expect(["catalog", "state"] as const).toSatisfy((kinds) => kinds.some((kind) => err.includes(isOlder(kind))));
    }
  });

  test.if(hasPostgres)("a command prints what it migrates in a PostgreSQL database", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const name = url.replace("fundfeed@", "");
    const sentences = (["catalog", "state"] as const).map((kind) => migratedLine(kind, `fundfeed_${kind} in ${name}`));
    expect(await fundfeed(["refresh", "--database", url])).toEqual({ code: 0, out: "0 changed\n", err: sentences.join("") });
    expect((await fundfeed(["check", "--database", url])).out).toBe("No problems found\n");
  });
});

describe("no file is changed by", () => {
  const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];

  /** One of each kind for all commands, because none changes them. */
  const places: string[] = [];
  const opened = new AsyncDisposableStack();
  beforeAll(async () => {
    const [closed, used, left, bare] = [copied(), await leftBehind(), await leftBehind(), await leftBehind()];
    for (const name of ["catalog.db-shm", "state.db-shm"]) rmSync(join(bare, name));
    const catalog = opened.adopt(openCatalog(used, NOON), (db) => db.close());
    const state = opened.adopt(openState(used, NOON), (db) => db.close());
    await (await aCatalog(catalog)).take([{ source: { code: "OWN", opportunity_id: "later" }, title: "In the log, too" }]);
    await state.run(rawSql("update accounts set plan = 'paid' where name = 'Late'"));
    places.push(closed, used, left, bare);
  });
  afterAll(() => opened.disposeAsync());

  test.each(readers)("fundfeed %s, whether the files are closed, in use or left behind", async (words) => {
    for (const directory of places) {
      const before = stateOf(directory);
      const { code, out } = await fundfeed(lineOf(words, ["--data", directory]));
      expect(existsSync(join(directory, "search.db"))).toBe(["find", "similar", "browse"].includes(words));
      rmSync(join(directory, "search.db"), { force: true });
      expect(stateOf(directory)).toEqual(before);
      expect(isWell(words, code)).toBe(true);
      if (directory === places[0]) continue;
      if (words === "export") expect(out).toContain("In the log");
      if (words === "accounts list") expect(out).toContain("Late");
    }
  });

  test.each([
    ["the server of a backup", ["export"], "In the log"],
    ["import --dry-run", ["import", "records", "INPUT", "--dry-run"], "Dry run: 1 read: 1 added"],
  ])("%s", async (_, args, expected) => {
    const left = await leftBehind();
    const before = stateOf(left);
    const input = aFile([{ source: { code: "OWN", opportunity_id: "2" }, title: "Two" }]);
    const { code, out } = await fundfeed([...args.map((each) => each.replace("INPUT", input)), "--data", left]);
    expect([code, out]).toEqual([0, expect.stringContaining(expected)]);
    expect(stateOf(left)).toEqual(before);
  });

  test("any of them in a read-only directory, where they work nevertheless", async () => {
    const home = aHome();
    chmodSync(home.directory, 0o755);
    for (const [name, from] of [
      ["closed", sound],
      ["left", await leftBehind()],
    ] as const) {
      const directory = home.at(name);
      mkdirSync(directory);
      for (const file of readdirSync(from)) cpSync(join(from, file), join(directory, file));
      for (const file of readdirSync(directory)) chmodSync(join(directory, file), 0o444);
      chmodSync(directory, 0o555);
      const before = stateOf(directory);
      const ran = await Promise.all(
        readers
          .filter((words) => words !== "backup" && words !== "browse") // Browsing does not end: its own test has it in such a directory.
          .filter((words) => name === "left" || ["export", "find", "check", "keys list", "watch list"].includes(words)) // One per database.
          .map(async (words) => ({ words, ...(await home.run(lineOf(words, ["--data", directory]), { through: asNobody })) })),
      );
      expect(ran.filter(({ words, code }) => !isWell(words, code))).toEqual([]);
      expect(ran.find(({ words }) => words === "find")?.err).toStartWith(`Cannot keep the search index in ${directory}: permission denied`);
      expect(stateOf(directory)).toEqual(before);
      chmodSync(directory, 0o755);
    }
  });

  test("backup and check of a read-only mount", async () => {
    const home = aHome();
    const mounted = home.at("mounted");
    cpSync(sound, mounted, { recursive: true });
    const alone = (args: readonly string[]) =>
      home.run(args, {
        through: [
          "unshare",
          "-m",
          "sh",
          "-c",
          `mount --bind ${mounted} ${mounted} && mount -o remount,ro,bind ${mounted} && exec "$@"`,
          "sh",
        ],
      });
    if ((await home.run([], { through: ["unshare", "-m"] })).code !== 0) {
      process.stderr.write("unshare -m is not permitted: a read-only mount is not tried\n");
      return;
    }
    for (const from of [undefined, await leftBehind()]) {
      if (from !== undefined) cpSync(from, mounted, { recursive: true });
      const before = stateOf(mounted);
      expect(await alone(["check", "--data", mounted])).toEqual({ code: 0, out: "No problems found\n", err: "" });
      expect((await alone(["backup", home.at("copy"), "--data", mounted])).code).toBe(0);
      expect((await alone(["keys", "create", "--account", "A", "--data", mounted])).err).toContain("the directory and its files must be");
      expect(stateOf(mounted)).toEqual(before);
    }
    expect((await home.run(["export", "--data", "copy"])).out).toContain("In the log");
  });
});
