/** Failing commands: one sentence on standard error, exit code 1, and no file changed. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const RECORD = { source: { code: "OWN", opportunity_id: "1" }, title: "A title" };

/** One letter too long for a label of a host name (RFC 1035 §2.3.4), so that no resolver has an address for it. */
const IMPOSSIBLE_NAME = "x".repeat(64);

/** A data directory with a record and a key, closed. */
let data: string;
beforeAll(async () => {
  data = aDirectory();
  const path = join(aDirectory(), "one.ndjson");
  writeFileSync(path, JSON.stringify(RECORD));
  await fundfeed(["import", "records", path, "--data", data]);
  await fundfeed(["keys", "create", "--account", "Acme", "--data", data]);
});

/** Every file below a directory with its bytes. */
function bytesIn(directory: string): Map<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name)).toHex()]));
}

async function expectRefusal(args: readonly string[], directory: string, sentence: string): Promise<void> {
  const before = bytesIn(directory);
  const { code, out, err } = await fundfeed(args);
  expect({ code, out, err: err.replaceAll(directory, "…") }).toEqual({ code: 1, out: "", err: `${sentence}\n` });
  expect(bytesIn(directory)).toEqual(before);
}

describe("an unusable data directory", () => {
  test.each<[string, (directory: string) => string, string]>([
    ["is a file", (directory) => inFile(directory), "Cannot open …/file/state.db: there is a file where a directory should be"],
    [
      "lies below a file",
      (directory) => join(inFile(directory), "x"),
      "Cannot open …/file/x/state.db: there is a file where a directory should be",
    ],
    ["cannot be made", () => "/proc/fundfeed", "Cannot open /proc/fundfeed/state.db: the directory cannot be made there"],
  ])("%s", async (_, make, sentence) => {
    const directory = aDirectory();
    const set = ["plans", "set", "trial", "--daily", "1", "--per-minute", "1"];
    await expectRefusal([...set, "--data", make(directory)], directory, sentence);
  });

  function inFile(directory: string): string {
    writeFileSync(join(directory, "file"), "");
    return join(directory, "file");
  }
});

describe("a foreign or damaged database", () => {
  const edited = (statement: string) => (path: string) => {
    openState(join(path, ".."), 0).sqlite.close();
    const sqlite = new Database(path);
    sqlite.run(statement);
    sqlite.close();
  };
  const DAMAGED = "it is damaged; put a backup back with: fundfeed restore";

  test.each<[string, (path: string) => void, string]>([
    ["text", (path) => writeFileSync(path, "not a database ".repeat(500)), "it is not a database file"],
    ["another program's", (path) => new Database(path, { create: true }).run("create table t (a)"), "it is not a fundfeed state.db"],
    ["a directory", (path) => mkdirSync(path), "it cannot be opened: the directory and its files must be readable and writable"],
    ["of a newer version", edited("insert into migrations values (99, 'x', 'x', 0)"), "a newer version of fundfeed made it"],
    ["cut off", (path) => damage(path, (bytes) => bytes.subarray(0, 5000)), DAMAGED],
    ["overwritten in the middle", (path) => damage(path, (bytes) => bytes.fill(0xa5, 4096)), DAMAGED],
  ])("%s", async (_, make, reason) => {
    const directory = aDirectory();
    make(join(directory, "state.db"));
    for (const args of [
      ["keys", "list"],
      ["keys", "create", "--account", "A"],
      ["serve", "--port", "0"],
    ]) {
      if (args[0] === "serve") await openCatalog(directory, 0).close();
      await expectRefusal([...args, "--data", directory], directory, `Cannot open …/state.db: ${reason}`);
    }
  });

  function damage(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    edited("select 1")(path);
    writeFileSync(path, change(readFileSync(path)));
  }
});

describe("an input that cannot be read", () => {
  const packed = gzipSync(`${JSON.stringify(RECORD)}\n`);

  test.each<[string, string, Uint8Array | string | undefined, string]>([
    ["records", "is missing", undefined, "Cannot read …/input: there is no such file"],
    ["records", "is a cut gzip file", packed.subarray(0, -9), "Cannot read …/input: the gzip file ends in the middle"],
    [
      "records",
      "is a damaged gzip file",
      Buffer.concat([packed.subarray(0, 12), packed.subarray(20)]),
      "Cannot read …/input: the gzip file is damaged (",
    ],
    ["records", "is no line of objects", "hello\n", "Cannot import …/input: "],
    ["grants-gov", "is not XML", "hello", "Cannot import …/input: "],
    ["challenge-gov", "is not JSON", "hello", "Cannot import …/input: "],
    ["sam-gov", "is not CSV of that source", "a,b\n1,2\n", "Cannot import …/input: "],
    ["events", "is no line of objects", "hello\n", "Cannot import …/input: "],
  ])("import %s: it %s", async (format, _, content, begin) => {
    const directory = aDirectory();
    cpSync(data, directory, { recursive: true });
    const input = join(directory, "input");
    if (content !== undefined) writeFileSync(input, content);
    const before = bytesIn(directory);
    const { code, out, err } = await fundfeed(["import", format, input, "--data", directory]);
    expect([code, out]).toEqual([1, ""]);
    expect(err.replaceAll(directory, "…")).toStartWith(begin);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    const after = bytesIn(directory);
    after.delete(join(directory, "import.lock"));
    before.delete(join(directory, "import.lock"));
    expect(after).toEqual(before);
  });

  test("import records: a directory, or a missing second file", async () => {
    const path = join(aDirectory(), "one.ndjson");
    writeFileSync(path, JSON.stringify({ ...RECORD, title: "Another" }));
    for (const [files, sentence] of [
      [["/tmp"], "Cannot read /tmp: it is a directory"],
      [[path, `${path}.no`], `Cannot read ${path}.no: there is no such file`],
    ] as const) {
      await expectRefusal(["import", "records", ...files, "--data", data], data, sentence);
    }
  });
});

const KNOWN_SOURCES =
  "There are CHALLENGE_GOV, DARPA, DSIP, GRANTS_GOV, NASA_NSPIRES, NASA_ROSES, NSF, OWN, SAM_GOV, SBIR_GOV, SIMPLER_GRANTS_GOV";

describe("a thing that does not exist", () => {
  test.each([
    ["keys revoke key_x", 'Cannot revoke key "key_x": there is no key with that id; fundfeed keys list shows the ids'],
    ["keys create --account Acme --plan gold", 'Cannot set account "Acme": there is no plan "gold" (there are: trial, starter, paid)'],
    ["keys create --account New --plan gold", 'Cannot create account "New": there is no plan "gold" (there are: trial, starter, paid)'],
    ["accounts create Acme", 'Cannot create account "Acme": an account with that name exists'],
    ["accounts set Nobody --plan paid", 'Cannot set account "Nobody": there is no such account'],
    [
      "plans set = --daily 1 --per-minute 1".replace("=", "\u0007"),
      "Cannot set plan: its name contains control characters or invalid Unicode",
    ],
    [
      "sources add a/b --name n --description d",
      'Cannot add source "a/b": a code has 1 to 64 letters, digits, "_", "-" or ".", and starts with a letter or digit',
    ],
    ["sources add other --name n --description d", "Cannot add source OTHER: the API uses this code for all sources that were not added"],
    ["sources remove nope", "Cannot remove source NOPE: it is not a named source"],
    ["sources remove sam-gov", 'Cannot remove source SAM-GOV: it is not a named source (did you mean "SAM_GOV"?)'],
    [
      "export --source sam_gov,grant_gov",
      `Cannot export source GRANT_GOV: no source has this code (did you mean "GRANTS_GOV"?). ${KNOWN_SOURCES}`,
    ],
    ["redact --source grant_gov", `Cannot redact source GRANT_GOV: no source has this code (did you mean "GRANTS_GOV"?). ${KNOWN_SOURCES}`],
    ["explain nope", "Cannot explain event nope: there is no event with that id; fundfeed changes --json shows the ids"],
    ["restore /nowhere", "Cannot restore from /nowhere: it has no catalog.db"],
    ["backup /proc/fundfeed", "Cannot back up to /proc/fundfeed: the directory cannot be made there"],
    ["health --url http://127.0.0.1:1/v1", "Cannot reach http://127.0.0.1:1/v1/meta: the connection was refused"],
    [`serve --port 0 --host ${IMPOSSIBLE_NAME}`, `Cannot listen on ${IMPOSSIBLE_NAME}:0: it is not an address of this machine`],
    ["serve --port 0 --host 203.0.113.7", "Cannot listen on 203.0.113.7:0: it is not an address of this machine"],
  ])("fundfeed %s", async (line, sentence) => {
    const args = line.trimEnd().split(" ");
    await expectRefusal(args[0] === "health" ? args : [...args, "--data", data], data, sentence);
  });

  test("sources status --max-age: an older last import", async () => {
    const db = new Database(join(data, "catalog.db"));
    db.run("update instants set at = at - 7200000 where name = 'imported' and day = ''");
    db.close();
    const { code, err } = await fundfeed(["sources", "status", "--max-age", "1h", "--data", data]);
    expect([code, err]).toEqual([1, "Not imported for 60 minutes: OWN\n"]);
    expect((await fundfeed(["sources", "status", "--max-age", "3h", "--data", data])).code).toBe(0);
  });
});

describe("check", () => {
  const ADDS_KEY = "insert into link_keys select 'x', 'holds', 0, id from opportunities";

  test("reports the problems of each file, even if the other one is damaged too", async () => {
    const directory = aDirectory();
    cpSync(data, directory, { recursive: true });
    const state = join(directory, "state.db");
    writeFileSync(state, readFileSync(state).subarray(0, 5000));
    const sqlite = new Database(join(directory, "catalog.db"));
    sqlite.run(ADDS_KEY);
    sqlite.close();
    const { code, out } = await fundfeed(["check", "--json", "--data", directory]);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        ok: false,
        faults: [
          { where: expect.stringMatching(/^OWN 1 /), what: "its link keys do not match its content" },
          { where: "state.db", what: `Cannot open ${state}: it is damaged; put a backup back with: fundfeed restore` },
        ],
        has_more: false,
        not_migrated: [],
      },
    ]);
  });

  test("says that there are more problems than it shows, and still shows those of the other file", async () => {
    const directory = aDirectory();
    const many = Array.from({ length: 101 }, (_, n) => ({ source: { code: "OWN", opportunity_id: `${n}` }, title: "Title" }));
    await fundfeed(["import", "records", aFile(many), "--data", directory]);
    await fundfeed(["keys", "create", "--account", "A", "--data", directory]);
    const state = join(directory, "state.db");
    writeFileSync(state, readFileSync(state).subarray(0, 5000));
    const sqlite = new Database(join(directory, "catalog.db"));
    sqlite.run(`${ADDS_KEY} where source_opportunity_id <> '0'`);
    expect(JSON.parse((await fundfeed(["check", "--json", "--data", directory])).out).has_more).toBe(false);
    sqlite.run(`${ADDS_KEY} where source_opportunity_id = '0'`);
    sqlite.close();
    const { code, out } = await fundfeed(["check", "--data", directory]);
    const lines = out.trimEnd().split("\n");
    expect([code, lines.filter((line) => line.startsWith("OWN ")).length]).toEqual([1, 100]);
    expect(lines.slice(100)).toEqual([
      expect.stringMatching(/^state\.db: Cannot open /),
      "There are more; these are the first 100 of a file",
    ]);
    expect(JSON.parse((await fundfeed(["check", "--json", "--data", directory])).out)).toMatchObject({ ok: false, has_more: true });
  });
});
