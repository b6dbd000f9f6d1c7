import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PreparedRecord, prepareRecord } from "../../src/changes/content.ts";
import { openStaging, type Staging } from "../../src/import/staging.ts";
import { validateRecord } from "../../src/import/validate.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

/** A record with this lineage and this agency, by which the tests tell records apart. */
function aRecord(lineage: string, agency: string, rendered: Partial<PreparedRecord["rendered"]> = {}): PreparedRecord {
  const record = { source: { code: "A", opportunity_id: lineage }, title: "T", organization: { agency } };
  const prepared = prepareRecord(validateRecord(record, new Map()));
  return { ...prepared, rendered: { ...prepared.rendered, ...rendered } };
}

function agencies(staging: Staging, size: number): (string | null)[][] {
  return Array.from(staging.chunks(size), (chunk) => Array.from(chunk, ({ indexed }) => indexed.organization.agency));
}

/** Paths of the files that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return []; // The one that listed the directory.
    }
  });
}

describe("openStaging()", () => {
  test("keeps the last record of each key, in the order of the input", () => {
    using staging = openStaging(":memory:");
    staging.putRecord(aRecord("1", "first"));
    staging.putRecord(aRecord("2", "second"));
    staging.putUnchanged("B", "1");
    staging.putRecord(aRecord("1", "last"));
    staging.putUnchanged("A", "2");
    staging.putPresent("A", "3");
    staging.putPresent("A", "1");
    expect(agencies(staging, 10)).toEqual([["last"]]);
    expect(staging.counts()).toEqual({ toWrite: 1, unchanged: 2 });
    expect(["1", "2", "3", "4"].map((lineage) => staging.has("A", lineage))).toEqual([true, true, true, false]);
    staging.putRecord(aRecord("3", "good after bad"));
    expect(staging.counts()).toEqual({ toWrite: 2, unchanged: 2 });
  });

  test("keeps the version with the highest rank, whatever comes last", () => {
    using staging = openStaging(":memory:");
    staging.putRecord(aRecord("1", "newer"), { at: 2, id: "a" });
    staging.putRecord(aRecord("1", "older"), { at: 1, id: "b" });
    staging.putUnchanged("A", "1", { rank: { at: 1, id: "c" } });
    expect(agencies(staging, 10)).toEqual([["newer"]]);
    staging.putRecord(aRecord("1", "as new, greater id"), { at: 2, id: "b" });
    expect(agencies(staging, 10)).toEqual([["as new, greater id"]]);
  });

  test("keeps a record that is repeated much later, across several spill files", () => {
    using staging = openStaging(":memory:");
    const text = Buffer.alloc(1024 * 1024);
    staging.putRecord(aRecord("0", "first", { text }));
    for (let n = 1; n < 40; n++) staging.putRecord(aRecord(String(n), String(n), { text }));
    staging.putRecord(aRecord("0", "last", { text }));
    staging.putRecord(aRecord("40", "40", { text }));
    const between = Array.from({ length: 39 }, (_, index) => String(index + 1));
    expect(agencies(staging, 100)).toEqual([[...between, "last", "40"]]);
  });

  test("returns records in chunks", () => {
    using staging = openStaging(":memory:");
    for (const n of ["0", "1", "2", "3", "4", "5"]) staging.putRecord(aRecord(n, n));
    staging.putUnchanged("A", "2");
    expect(agencies(staging, 2)).toEqual([["0", "1"], ["3", "4"], ["5"]]);
    expect(agencies(staging, 5)).toEqual([["0", "1", "3", "4", "5"]]);
  });

  test("returns each record as it was staged, and the new source digests of unchanged ones", () => {
    using staging = openStaging(":memory:");
    const [one, two] = [new Uint8Array([1]), new Uint8Array([2])];
    const [first, second] = [aRecord("1", "first"), aRecord("2", "second")];
    staging.putRecord({ ...aRecord("1", "before"), source_digest: two });
    staging.putRecord({ ...first, source_digest: one });
    staging.putRecord({ ...aRecord("2", "before"), source_digest: one });
    staging.putUnchanged("A", "2", { reread: { ...second, source_digest: two } });
    staging.putUnchanged("A", "3");
    expect([...staging.chunks(1)].map((chunk) => [...chunk])).toEqual([[{ ...first, source_digest: one }]]);
    expect([...staging.reread(1)].map((chunk) => [...chunk])).toEqual([
      [{ source: "A", lineage: "2", hash: new Uint8Array(second.rendered.hash), source_digest: two }],
    ]);
  });

  test("keeps each event once", () => {
    using staging = openStaging(":memory:");
    for (const [id, json] of [
      ["1", "{}"],
      ["2", "[]"],
      ["1", "{}"],
    ] as const)
      staging.putEvent(id, json);
    expect([...staging.eventChunks(5)].map((chunk) => [...chunk])).toEqual([["[]", "{}"]]);
    expect(staging.counts().toWrite).toBe(2);
  });

  test("removes what a killed import left, and leaves nothing", () => {
    const directory = aDirectory();
    writeFileSync(join(directory, "import.staging"), "what a killed one left");
    const staging = openStaging(directory);
    expect(staging.counts()).toEqual({ toWrite: 0, unchanged: 0 });
    staging[Symbol.dispose]();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("keeps no file open once it is closed, and has no journal that the next import could lose", () => {
    const directory = aDirectory();
    const staging = openStaging(directory);
    staging.putRecord(aRecord("1", "first"));
    expect(staging.has("A", "1")).toBe(true);
    expect(readdirSync(join(directory, "import.staging")).sort()).toEqual(["keys.db", "texts.0"]);
    staging[Symbol.dispose]();
    expect(openFiles().filter((path) => path.startsWith(directory))).toEqual([]);
  });
});
