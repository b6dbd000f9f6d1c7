import { describe, expect, test } from "bun:test";
import { firstCharacter, jsonElements } from "../../src/import/json-elements.ts";
import { processorMs } from "../support/processor-time.ts";

async function* inPieces(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, path?: string, size = 7) {
  const elements: unknown[] = [];
  let around: unknown;
  for await (const element of jsonElements(inPieces(text, size), path, (document) => {
    around = document;
  }))
    elements.push(element);
  return { elements, around };
}

describe("jsonElements()", () => {
  const tricky = [1, 'a],\\"[{', { deep: [1, [2]], text: "é😀" }, null, []];

  test.each([1, 2, 3, 1000])("reads elements in pieces of %d bytes", async (size) => {
    expect(await read(` ${JSON.stringify(tricky, null, 2)}\n`, "", size)).toEqual({ elements: tricky, around: [] });
  });

  test("finds the array at a path, and tells of what stands around it", async () => {
    const answer = { errorcode: 0, data: { other: [7], text: '"oppHits": [', oppHits: tricky, hitCount: 2 } };
    expect(await read(JSON.stringify(answer), "data.oppHits")).toEqual({
      elements: tricky,
      around: { ...answer, data: { ...answer.data, oppHits: [] } },
    });
  });

  test.each([
    ["{}", "", "it is not a JSON array"],
    ['"[1]"', "", "it is not a JSON array"],
    ['{"x":{"data":[1]}}', "data", 'it has no array "data"'],
    ['{"data":{}}', "data", 'it has no array "data"'],
    ['{"data":[1],"data":[2]}', "data", 'it has the array "data" twice'],
    ["", "", "it is not JSON"],
    ["[1,2", "", "it ends in the middle, behind 1 elements"],
    ["[1,]", "", "element 2 is not JSON"],
    ["[1 2]", "", "element 1 is not JSON"],
    ["[1]]", "", "it is not JSON"],
    ["[1][2]", "", "it is not JSON"],
    ['{"data":[1]', "data", "it is not JSON"],
    ["[".repeat(200), "", "it is nested more than 100 deep"],
    ['{"a":'.repeat(200), "", "it is nested more than 100 deep"],
  ])("refuses %p with path %p: %s", async (text, path, fault) => {
    await expect(read(text, path, 65_536)).rejects.toThrow(fault);
  });

  test("holds no more than an element and what stands around the array", async () => {
    await expect(read(`{"a":"${"x".repeat(1_100_000)}`, "b", 65_536)).rejects.toThrow('it has no array "b"');
    await expect(read(`{"b":[],"a":"${"x".repeat(1_100_000)}`, "b", 65_536)).rejects.toThrow(
      "it has more than 1000000 characters around the array",
    );
    await expect(read(`["${"x".repeat(16_100_000)}`, "", 65_536)).rejects.toThrow("element 1 has more than 16000000 characters");
  });

  test("takes its time in proportion to the text, brackets without number included", async () => {
    const text = `{${'"x":{},'.repeat(120_000)}}`;
    const ms = await processorMs(() => expect(read(text, "data", 65_536)).rejects.toThrow("it is not JSON"));
    expect(ms).toBeLessThan(4000);
  });

  test("puts half a surrogate pair, which no record may hold, for a byte that is not UTF-8", async () => {
    const bytes = (async function* () {
      yield new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]);
    })();
    expect(await Array.fromAsync(jsonElements(bytes))).toEqual(["\udcff"]);
  });
});

test.each([
  ["\ufeff \n[1]", "["],
  ["<a/>", "<"],
  ["  ", ""],
  ["", ""],
])("firstCharacter() of %p is %p", async (text, first) => {
  expect(await firstCharacter(inPieces(text, 1))).toBe(first);
});
