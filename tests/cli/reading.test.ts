/** Commands that only read create nothing and change nothing, down to the bytes; those that write say what they migrate. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { openStores } from "../../src/server/stores.ts";
import { fundfeed } from "../support/command-line.ts";
import { overwriteRootPage } from "../support/damage.ts";
import { aCatalog, aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";
import { nextVersion } from "../support/next-version.ts";
import { rawSql } from "../support/sql.ts";
import {
  changing,
  checked,
  copied,
  isOlder,
  isWell,
  leftBehind,
  lineOf,
  makeSound,
  migratedLine,
  modeOf,
  ofMode,
  opening,
  readers,
  sound,
  stateOf,
} from "./opening-commands.ts";

beforeAll(makeSound);
afterAll(dropScratch);

test("every command that opens data is tested here", () => {
  expect(readers.sort()).toEqual(ofMode("read", "inspect").sort());
  expect(Object.keys(changing).sort()).toEqual(ofMode("change").sort());
});

describe("without data, and without creating any,", () => {
  const needing = [...opening, ...Object.keys(changing)];

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
    next = nextVersion();
  });
  afterAll(() => next[Symbol.dispose]());

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
});

describe("no file is changed by", () => {
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
      expect(existsSync(join(directory, "search.db"))).toBe(["find", "similar", "browse", "watch check"].includes(words));
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
});
