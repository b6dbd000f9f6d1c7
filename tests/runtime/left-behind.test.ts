/** What killed programs leave: nothing, or what a later run removes. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { openToRead } from "../../db/sqlite/read-file.ts";
import { temporaryDirectory } from "../../src/runtime/left-behind.ts";
import { replaceFile, replaceText } from "../../src/runtime/replace-file.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openTemporarySearchFile } from "../../src/search/search-file.ts";
import { aCatalog, aDirectory, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

let temporary: string;
const { TMPDIR } = process.env;
beforeEach(() => {
  temporary = process.env.TMPDIR = aDirectory();
});
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
});

/** No process has this id: it is more than Linux gives. */
const ENDED = 4_194_305;

describe("a file that is replaced", () => {
  test("loses the unfinished files of killed programs, and no others", () => {
    const directory = aDirectory();
    const path = join(directory, "feed.xml");
    const others = ["feed.xml.partial", "feed.xml.partial-x", `feed.xml.partial-${process.ppid}`, `other.xml.partial-${ENDED}`];
    for (const name of [...others, `feed.xml.partial-${ENDED}`]) writeFileSync(join(directory, name), "<feed>");
    replaceText(path, "new");
    expect(readdirSync(directory).toSorted()).toEqual([...others, "feed.xml"].toSorted());
  });

  test("keeps the unfinished file of a run under way", () => {
    const directory = aDirectory();
    const file = replaceFile(join(directory, "feed.xml"), 0o600);
    file.write("new");
    replaceText(join(directory, "other.xml"), "new");
    file.finish();
    expect(readdirSync(directory).toSorted()).toEqual(["feed.xml", "other.xml"]);
  });
});

describe("the temporary directory", () => {
  test("loses what killed programs left, and nothing else", () => {
    const others = [`fundfeed-import-${process.ppid}-a1B2c3`, `fundfeed-${ENDED}`, `other-import-${ENDED}-a1B2c3`];
    for (const name of [...others, `fundfeed-demo-${ENDED}-a1B2c3`]) mkdirSync(join(temporary, name));
    writeFileSync(join(temporary, `fundfeed-demo-${ENDED}-a1B2c3`, "catalog.db"), "");
    const made = temporaryDirectory("import");
    expect(
      readdirSync(temporary)
        .map((name) => join(temporary, name))
        .toSorted(),
    ).toEqual([...others.map((name) => join(temporary, name)), made].toSorted());
  });

  test("has nothing of an index that is being built there", async () => {
    const { db, take } = await aCatalog();
    await take(Array.from({ length: 1200 }, (_, n) => ({ source: { code: "OWN", opportunity_id: `N${n}` }, title: `Title ${n}` })));
    const index = openTemporarySearchFile();
    expect(readdirSync(temporary)).toEqual([]);
    expect(await catchUp(db, index, () => expect(readdirSync(temporary)).toEqual([]))).toBe(1200);
    expect(index.isInPlace()).toBe(true);
    expect(index.sqlite.query("select count(*) from records").values()).toEqual([[1200]]);
    index.close();
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("has nothing of a copy that is being read", async () => {
    const directory = aDirectory();
    const written = openCatalog(directory, NOON);
    const path = join(aDirectory(), "catalog.db");
    for (const suffix of ["", "-wal"]) copyFileSync(join(directory, `catalog.db${suffix}`), `${path}${suffix}`); // As a snapshot of the disk does.
    await written.close();
    const { sqlite, finish } = openToRead(path, 0);
    expect(readdirSync(temporary)).toEqual([]);
    expect(sqlite.query("select count(*) from sources").values()).toEqual([[10]]);
    sqlite.close(true);
    finish();
  });
});
