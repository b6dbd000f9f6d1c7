/** What is appended comes back whole, in its order, and leaves the disk as it is read. */
import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { openTexts } from "../../src/import/spill-files.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const MB = 1024 * 1024;

/** Of every length that is special: nothing, less than a buffer of 256 KB, just that, more; in one, two and three bytes a character. */
const lengths = [0, 1, 4000, 87_381, 87_382, 262_143, 262_144, 262_145, 3 * MB];
const texts = ["a", "é", "…"].flatMap((character) => lengths.map((length) => character.repeat(length)));

test("texts of all lengths, with bytes beside them", () => {
  const places = openTexts(aDirectory());
  const appended = texts.map((text, index) => ({ text, beside: Buffer.alloc(lengths[(index * 5) % lengths.length] ?? 0, index) }));
  const kept = appended.map(({ text, beside }) => ({ text, beside, place: places.append(text, beside) }));
  for (const { text, beside, place } of kept) {
    const read = places.read(place);
    expect(read.text === text).toBe(true);
    expect(Buffer.compare(read.beside, beside)).toBe(0);
  }
  places.close();
});

test("a file is dropped when the next one is read, and places in between may be left out", () => {
  const directory = aDirectory();
  const places = openTexts(directory);
  const kept = Array.from({ length: 60 }, (_, index) => places.append(String(index), Buffer.alloc(MB, index)));
  expect(readdirSync(directory).length).toBe(4);
  const read = kept.filter((_, index) => index % 20 !== 0 && (index < 17 || index > 40));
  for (const place of read) {
    const { text, beside } = places.read(place);
    expect([beside.length, beside[0], beside.at(-1)]).toEqual([MB, Number(text), Number(text)]);
  }
  expect(readdirSync(directory)).toEqual(["texts.3"]);
  places.close();
});

test("what was appended last can be read at once", () => {
  const places = openTexts(aDirectory());
  const [first, second] = [places.append("one", Buffer.from("1")), places.append("two", Buffer.from("2"))];
  expect(places.read(first).text).toBe("one");
  expect(places.read(second)).toEqual({ text: "two", beside: Buffer.from("2") });
  expect(places.read(places.append("three", Buffer.from("3")))).toEqual({ text: "three", beside: Buffer.from("3") });
  places.close();
});
