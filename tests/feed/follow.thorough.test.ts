/** `changes --follow` in a process of its own, while this one stores events. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { program, QUICK } from "../support/binary.ts";
import { aCatalog, aDirectory, dropScratch, inScratch, NOON, SECOND } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

/** Starts `changes --follow`, and collects what it prints. */
function follow(...args: readonly string[]) {
  const child = Bun.spawn([program, "changes", "--follow", "--format", "ndjson", ...args], {
    env: { ...process.env, TMPDIR: inScratch(), ...QUICK },
    stdout: "pipe",
    stderr: "pipe",
  });
  let out = "";
  const reading = (async () => {
    for await (const piece of child.stdout) out += Buffer.from(piece).toString();
  })();
  const titles = () =>
    out
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line).opportunity.title as string);
  return {
    titles,
    shows: (...expected: string[]) => waitFor(`"${expected}" to be printed`, () => Bun.deepEquals(titles(), expected)),
    kill: () => child.kill("SIGTERM"),
    ended: async () => {
      const [code, err] = await Promise.all([child.exited, child.stderr.text(), reading]);
      return { code, err };
    },
  };
}

async function aFeed(db: CatalogDb) {
  const catalog = await aCatalog(db);
  const add = (...titles: string[]) => {
    catalog.clock.now += SECOND;
    return catalog.take(titles.map((title) => ({ source: { code: "OWN", opportunity_id: title }, title })));
  };
  return { ...catalog, add };
}

describe("changes --follow", () => {
  test("prints what was stored since, then what comes, and ends at SIGTERM", async () => {
    const directory = aDirectory();
    const { add, takeEvents, db } = await aFeed(openCatalog(directory, NOON));
    await add("one");
    const following = follow("--since", "all", "--data", directory);
    await following.shows("one");
    await add("two", "three");
    await following.shows("one", "two", "three");
    await takeEvents([
      { source: { code: "OWN", opportunity_id: "one" }, type: "x", severity: "material", detected_at: "2001-01-01T00:00:00Z" },
    ]);
    await following.shows("one", "two", "three", "one");
    following.kill();
    expect(await following.ended()).toEqual({ code: 0, err: "" });
    await db.close();
  });

  test("continues from a cursor file, also in files that nobody had open", async () => {
    const directory = aDirectory();
    const place = ["--data", directory, "--cursor-file", join(aDirectory(), "cursor")];
    const before = await aFeed(openCatalog(directory, NOON));
    await before.add("one");
    await before.db.close();
    const first = follow(...place, "--since", "all");
    await first.shows("one");
    const after = await aFeed(openCatalog(directory, NOON + SECOND));
    after.clock.now = before.clock.now;
    await after.add("two");
    await first.shows("one", "two");
    first.kill();
    await first.ended();
    await after.add("three");
    const second = follow(...place);
    await second.shows("three");
    second.kill();
    expect((await second.ended()).code).toBe(0);
    await after.db.close();
  });

  test("ends with an error if a backup is restored under it", async () => {
    const directory = aDirectory();
    const path = join(directory, "catalog.db");
    const backup = join(aDirectory(), "catalog.db");
    const before = await aFeed(openCatalog(directory, NOON));
    await before.add("one");
    await before.db.close();
    copyFileSync(path, backup);
    const later = await aFeed(openCatalog(directory, NOON));
    later.clock.now += SECOND;
    await later.add("two");
    await later.db.close();
    const following = follow("--since", "all", "--data", directory);
    await following.shows("one", "two");
    renameSync(backup, path);
    expect(await following.ended()).toEqual({
      code: 1,
      err:
        "Cannot follow the changes: the catalog does not have the event there: it was replaced by another one, or by a backup. " +
        "Run the command again, with --since for what came between\n",
    });
  });

  test.if(hasPostgres)("follows PostgreSQL", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const { add, db } = await aFeed(await openPostgres("catalog", url, NOON, { connections: 3 }));
    await add("one");
    const following = follow("--database", url);
    const started = follow("--database", url, "--since", "all");
    await started.shows("one");
    await add("two");
    await started.shows("one", "two");
    // Without --since it shows only what comes after its start, whenever that is.
    let count = 0;
    await waitFor("a new event", async () => {
      await add(`new ${count++}`);
      return following.titles().length > 0;
    });
    expect(following.titles()).not.toContain("one");
    for (const each of [following, started]) each.kill();
    expect(await Promise.all([following.ended(), started.ended()])).toEqual([
      { code: 0, err: "" },
      { code: 0, err: "" },
    ]);
    await db.close();
  });
});
