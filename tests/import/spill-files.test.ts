import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { openSpillFiles } from "../../src/import/spill-files.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const MB = 1024 * 1024;

/** Lengths around that of the buffer (256 KB), in characters of one, two and three bytes. */
const lengths = [0, 1, 4000, 87_381, 87_382, 262_143, 262_144, 262_145, 3 * MB];
const texts = ["a", "é", "…"].flatMap((character) => lengths.map((length) => character.repeat(length)));

test("returns texts and data of all lengths as they were appended", () => {
  const files = openSpillFiles(aDirectory());
  const appended = texts.map((text, index) => ({ text, data: Buffer.alloc(lengths[(index * 5) % lengths.length] ?? 0, index) }));
  const spilled = appended.map(({ text, data }) => ({ text, data, at: files.append(text, data) }));
  for (const { text, data, at } of spilled) {
    const read = files.read(at);
    expect(read.text === text).toBe(true);
    expect(Buffer.compare(read.data, data)).toBe(0);
  }
  files.close();
});

test("deletes a file when the next one is read; some of what was appended may be skipped", () => {
  const directory = aDirectory();
  const files = openSpillFiles(directory);
  const spilled = Array.from({ length: 60 }, (_, index) => files.append(String(index), Buffer.alloc(MB, index)));
  expect(readdirSync(directory).length).toBe(4);
  for (const at of spilled.filter((_, index) => index % 20 !== 0 && (index < 17 || index > 40))) {
    const { text, data } = files.read(at);
    expect([data.length, data[0], data.at(-1)]).toEqual([MB, Number(text), Number(text)]);
  }
  expect(readdirSync(directory)).toEqual(["texts.3"]);
  files.close();
});

test("reads what has just been appended", () => {
  const files = openSpillFiles(aDirectory());
  const [first, second] = [files.append("one", Buffer.from("1")), files.append("two", Buffer.from("2"))];
  expect(files.read(first).text).toBe("one");
  expect(files.read(second)).toEqual({ text: "two", data: Buffer.from("2") });
  expect(files.read(files.append("three", Buffer.from("3")))).toEqual({ text: "three", data: Buffer.from("3") });
  files.close();
});
