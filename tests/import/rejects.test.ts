/** Rejected records: the commonest reasons on the screen, and all of them in a file of the operator's own (D-35). */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRejects } from "../../src/import/rejects.ts";
import { Rejection } from "../../src/import/validate.ts";
import { program, QUICK } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const record = (id: number, fields: object = {}) => ({ source: { code: "OWN", opportunity_id: `N${id}` }, title: "T", ...fields });
const ofTitel = (id: number) => ({ source: { code: "OWN", opportunity_id: `N${id}` }, titel: "T" });
const TITEL = 'unknown field "titel" (did you mean "title"?)';

describe("reasons", () => {
  test("are counted, most common first, regardless of values and list indexes", async () => {
    const catalog = await aCatalog();
    const path = aFile([
      record(1),
      record(2, { dates: { closes_at: "soon" } }),
      ...[3, 4, 5].map(ofTitel),
      record(6, { dates: { closes_at: "later" } }),
      record(7, { contacts: [{ fax: 1 }] }),
      record(8, { contacts: [{}, {}, { fax: 1 }] }),
      record(9, { funding: { amount_min: 5 } }),
      record(10, { funding: { amount_min: "x" } }),
      "{not json",
    ]);
    const { read, rejected, reasons } = await catalog.takeFiles([path], { rejects: join(aDirectory(), "r") });
    expect([read, rejected]).toEqual([11, 10]);
    const timestamp = "must be an RFC 3339 timestamp with an offset such as 2026-01-31T17:00:00-05:00";
    expect(reasons).toEqual([
      { reason: TITEL, records: 3, file: path, line: 3 },
      { reason: `dates.closes_at ${timestamp}`, records: 2, file: path, line: 2 },
      { reason: 'unknown field "contacts[].fax"', records: 2, file: path, line: 7 },
      { reason: 'funding.amount_min must be a decimal string such as "2500.00"', records: 2, file: path, line: 9 },
      { reason: "the line must be a JSON object", records: 1, file: path, line: 11 },
    ]);
  });

  test("are the five most common ones", async () => {
    const catalog = await aCatalog();
    const lines = Array.from({ length: 1100 }, (_, n) => ({ [`field-${n}`]: 1 }));
    const { rejected, reasons } = await catalog.take([...lines, ...[1, 2].map(ofTitel)], { rejects: join(aDirectory(), "r") });
    expect([rejected, reasons?.length, reasons?.[0]]).toEqual([1102, 5, expect.objectContaining({ records: 1 })]);
  });

  test("are absent if nothing was rejected", async () => {
    expect("reasons" in (await (await aCatalog()).take([record(1)]))).toBe(false);
  });
});

describe("fundfeed import", () => {
  const lines = [record(1), ...[2, 3].map(ofTitel), { ...record(4), source: {} }];

  test("shows the reasons, and where the rejected records are", async () => {
    const data = aDirectory();
    const path = aFile(lines, join(data, "../mine.ndjson").split("/").at(-1));
    const { code, err } = await fundfeed(["import", "records", path, "--data", data]);
    expect([code, err.split("\n")]).toEqual([
      3,
      [
        `2 rejected: ${TITEL}; first at ${path}:2`,
        `1 rejected: source.code is required; first at ${path}:4`,
        `Rejected records with their reasons are in ${join(data, "mine.ndjson.rejects.ndjson")}`,
        "",
      ],
    ]);
  });

  test("has them in its JSON, too", async () => {
    const path = aFile(lines);
    const { out } = await fundfeed(["import", "records", path, "--json", "--data", aDirectory()]);
    expect(JSON.parse(out)).toMatchObject({
      read: 4,
      rejected: 3,
      reasons: [
        { reason: TITEL, records: 2, file: path, line: 2 },
        { reason: "source.code is required", records: 1, file: path, line: 4 },
      ],
    });
    const { out: whole } = await fundfeed(["import", "records", aFile([record(1)]), "--json", "--data", aDirectory()]);
    expect(Object.keys(JSON.parse(whole))).not.toContain("reasons");
  });

  test("--dry-run shows them and writes nothing, anywhere", async () => {
    const directory = aDirectory();
    const path = join(directory, "mine.ndjson");
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    chmodSync(directory, 0o500);
    const { code, err } = await fundfeed(["import", "records", path, "--dry-run", "--data", join(directory, "none")]);
    chmodSync(directory, 0o700);
    expect([code, err.split("\n")[0]]).toEqual([3, `2 rejected: ${TITEL}; first at ${path}:2`]);
    expect(readdirSync(directory)).toEqual(["mine.ndjson"]);
  });
});

describe("the rejects file", () => {
  /** Runs an import of a file in a working directory; what is printed about the rejects file, and the file itself. */
  function rejectsOf(place: { working: string; data: string; input: string; options?: string[] }): string {
    const { working, data, input, options = [] } = place;
    const { stderr } = Bun.spawnSync([program, "import", "records", input, "--data", data, ...options], {
      cwd: working,
      env: { ...process.env, ...QUICK, FUNDFEED_DATA: undefined, FUNDFEED_DATABASE: undefined },
    });
    const [, file = ""] = /Rejected records with their reasons are in (.*)\n/.exec(stderr.toString()) ?? [];
    expect(readFileSync(join(file.startsWith("/") ? "/" : working, file), "utf8")).toStartWith('{"line":1,"reason":"unknown field');
    return file;
  }

  /** A directory with a working directory, a data directory and others that hold the file mine.ndjson. */
  function somewhere(): string {
    const root = realpathSync(aDirectory());
    for (const name of ["work", "work/below", "work2", "data", "data/below", "elsewhere"]) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, "mine.ndjson"), `${JSON.stringify(ofTitel(1))}\n`);
    }
    symlinkSync(join(root, "elsewhere"), join(root, "work/link"));
    return root;
  }

  test.each([
    ["in the working directory", "mine.ndjson", "mine.ndjson.rejects.ndjson"],
    ["below it", "below/mine.ndjson", "below/mine.ndjson.rejects.ndjson"],
    ["in it, by its whole path", "ROOT/work/mine.ndjson", "ROOT/work/mine.ndjson.rejects.ndjson"],
    ["in the data directory", "ROOT/data/mine.ndjson", "ROOT/data/mine.ndjson.rejects.ndjson"],
    ["below that", "../data/below/mine.ndjson", "../data/below/mine.ndjson.rejects.ndjson"],
    ["elsewhere", "ROOT/elsewhere/mine.ndjson", "ROOT/data/mine.ndjson.rejects.ndjson"],
    ["elsewhere, by a relative path", "../elsewhere/mine.ndjson", "ROOT/data/mine.ndjson.rejects.ndjson"],
    ["elsewhere, by a link in the working directory", "link/mine.ndjson", "ROOT/data/mine.ndjson.rejects.ndjson"],
    ["in a directory whose name begins alike", "ROOT/work2/mine.ndjson", "ROOT/data/mine.ndjson.rejects.ndjson"],
  ])("of a file %s", (_, input, file) => {
    const root = somewhere();
    const place = { working: join(root, "work"), data: join(root, "data"), input: input.replace("ROOT", root) };
    expect(rejectsOf(place)).toBe(file.replace("ROOT", root));
    expect(existsSync(join(root, "elsewhere/mine.ndjson.rejects.ndjson"))).toBe(false);
  });

  test("goes to the file of --rejects", () => {
    const root = somewhere();
    const options = ["--rejects", "mine.txt"];
    expect(rejectsOf({ working: join(root, "work"), data: join(root, "data"), input: "../elsewhere/mine.ndjson", options })).toBe(
      "mine.txt",
    );
  });

  test("of a container, whose working directory is the root, is in the data directory", () => {
    const root = somewhere();
    const place = { working: "/", data: join(root, "data"), input: join(root, "elsewhere/mine.ndjson") };
    expect(rejectsOf(place)).toBe(join(root, "data/mine.ndjson.rejects.ndjson"));
  });

  test("keeps its partial name if it cannot be renamed, and the import is done", () => {
    const directory = aDirectory();
    const files = ["one", "two"].map((name) => join(directory, name));
    const rejects = createRejects({ files, rejects: undefined, dryRun: false });
    for (const name of files) {
      const item = { kind: "rejected", reason: "R", input: { name, bytes: () => new Blob().stream() }, line: 1, raw: null } as const;
      rejects.add(item, new Rejection("R"));
    }
    mkdirSync(`${files[0]}.rejects.ndjson`);
    const kept = rejects.keep();
    rejects.drop();
    expect(kept).toEqual([`${files[0]}.rejects.ndjson.partial`, `${files[1]}.rejects.ndjson`]);
    for (const file of kept) expect(readFileSync(file, "utf8")).toBe('{"line":1,"reason":"R","record":null}\n');
  });

  test("that cannot be written as a whole fails the import, which stores nothing", () => {
    const data = aDirectory();
    const path = aFile([record(1), { title: "x".repeat(3_000_000) }]);
    const command = [program, "import", "records", path, "--data", data];
    // Files of at most 2 MB, as on a disk that is nearly full. A signal that says so would end the program.
    const limited = Bun.spawnSync(["bash", "-c", 'trap "" XFSZ; ulimit -f 2048; exec "$@"', "bash", ...command]);
    expect([limited.exitCode, limited.stderr.toString()]).toEqual([1, expect.stringContaining("Cannot finish import")]);
    expect(readdirSync(data).filter((name) => name.includes("rejects"))).toEqual([]);
    expect(Bun.spawnSync(command).stderr.toString()).toContain("Rejected records with their reasons are in");
  });
});
