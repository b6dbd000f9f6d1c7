import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStaging, type Staging } from "../../src/import/staging.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

function chunks(staging: Staging, count: number): string[][] {
  return Array.from(staging.chunks(count), (chunk) => Array.from(chunk, ({ text }) => text));
}

describe("openStaging()", () => {
  test("keeps the last of each key, in the order of their last arrival", () => {
    const staging = openStaging(":memory:");
    staging.put("A", "1", "first");
    staging.put("A", "2", "second");
    staging.put("B", "1", null);
    staging.put("A", "1", "last");
    staging.put("A", "2", null);
    staging.putPresent("A", "3");
    staging.putPresent("A", "1");
    expect(chunks(staging, 10)).toEqual([["last"]]);
    expect(staging.counts()).toEqual({ toWrite: 1, unchanged: 2 });
    expect(["1", "2", "3", "4"].map((lineage) => staging.has("A", lineage))).toEqual([true, true, true, false]);
    staging.put("A", "3", "good after bad");
    expect(staging.counts()).toEqual({ toWrite: 2, unchanged: 2 });
    staging.close();
  });

  test("a record that comes again much later takes its turn there, when what lay between has been read", () => {
    const staging = openStaging(":memory:");
    const megabyte = Buffer.alloc(1024 * 1024);
    const put = (lineage: string, text: string) => staging.put("A", lineage, text, { rendered: megabyte });
    put("0", "first");
    for (let n = 1; n < 40; n++) put(String(n), String(n)); // Files of 16 MB are dropped as they are read.
    put("0", "last");
    put("40", "40");
    const between = Array.from({ length: 39 }, (_, index) => String(index + 1));
    expect(chunks(staging, 100)).toEqual([[...between, "last", "40"]]);
    staging.close();
  });

  test("gives chunks that follow each other", () => {
    const staging = openStaging(":memory:");
    for (const n of ["0", "1", "2", "3", "4", "5"]) staging.put("A", n, n);
    staging.put("A", "2", null);
    expect(chunks(staging, 2)).toEqual([["0", "1"], ["3", "4"], ["5"]]);
    expect(chunks(staging, 5)).toEqual([["0", "1", "3", "4", "5"]]);
    staging.close();
  });

  test("keeps with each record what it says, the hash of that, and of what it was read from", () => {
    const staging = openStaging(":memory:");
    const [one, two, three] = ["one", "two", "three"].map((text) => new Uint8Array(Buffer.from(text))) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    staging.put("A", "1", "first", { hash: one, source_digest: one });
    staging.put("A", "1", "last", { rendered: three, hash: two });
    staging.put("A", "2", "first", { hash: one });
    staging.put("A", "2", null, { hash: two, source_digest: three });
    staging.put("A", "3", null);
    expect([...staging.chunks(1)].map((chunk) => [...chunk])).toEqual([
      [{ text: "last", rendered: three, hash: two, source_digest: null }],
    ]);
    expect([...staging.reread(1)].map((chunk) => [...chunk])).toEqual([[{ source: "A", lineage: "2", hash: two, source_digest: three }]]);
    staging.close();
  });

  test("begins anew after an import that was killed, and leaves nothing behind", () => {
    const directory = aDirectory();
    writeFileSync(join(directory, "import.staging"), "what a killed one left");
    const staging = openStaging(directory);
    expect(staging.counts()).toEqual({ toWrite: 0, unchanged: 0 });
    staging.close();
    expect(readdirSync(directory)).toEqual([]);
  });
});
