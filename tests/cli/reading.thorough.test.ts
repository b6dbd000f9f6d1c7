/** Commands that only read, on PostgreSQL and where nothing may be written. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { aHome, dropHomes } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { dropScratch } from "../support/imports.ts";
import { nextVersion } from "../support/next-version.ts";
import { hasPostgres, postgresCommand, postgresServer } from "../support/postgres.ts";
import {
  changing,
  checked,
  isOlder,
  isWell,
  leftBehind,
  lineOf,
  makeSound,
  migratedLine,
  opening,
  readers,
  sound,
  stateOf,
} from "./opening-commands.ts";

beforeAll(makeSound);
afterAll(dropScratch);
afterAll(dropHomes);

describe.if(hasPostgres)("on PostgreSQL", () => {
  const needing = [...opening, ...Object.keys(changing)];
  let emptyUrl: string | undefined; // One for all, because it stays empty.

  test.each(needing.filter((words) => words !== "backup"))(
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
});

describe.if(hasPostgres)("with a PostgreSQL database of an older version", () => {
  let next: Disposable;
  beforeAll(async () => {
    await postgresServer(); // Before the next version, so that its databases are of this one.
    next = nextVersion();
  });
  afterAll(() => next[Symbol.dispose]());

  const dumpOf = (url: string) =>
    Bun.spawnSync([...postgresCommand("pg_dump"), url])
      .stdout.toString()
      .replace(/^\\(un)?restrict .*$/gm, "");
  async function aDumpedDatabase() {
    const url = await (await postgresServer()).freshDatabase();
    return { url, before: dumpOf(url) };
  }
  let dumped: { url: string; before: string } | undefined; // One for all, because no command changes it.

  test.each(opening.filter((words) => words !== "backup"))("fundfeed %s migrates no PostgreSQL database", async (words) => {
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

  test("a command prints what it migrates in a PostgreSQL database", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const name = url.replace("fundfeed@", "");
    const sentences = (["catalog", "state"] as const).map((kind) => migratedLine(kind, `fundfeed_${kind} in ${name}`));
    expect(await fundfeed(["refresh", "--database", url])).toEqual({ code: 0, out: "0 changed\n", err: sentences.join("") });
    expect((await fundfeed(["check", "--database", url])).out).toBe("No problems found\n");
  });
});

describe("no file is changed by", () => {
  const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];

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
