import { describe, expect, test } from "bun:test";
import { firstCharacter, jsonElements, jsonObjects } from "../../../src/import/readers/json-elements.ts";
import { megabytesOf } from "../../support/read-format.ts";

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
    elements.push("fault" in element ? element : element.value);
  return { elements, around };
}

describe("jsonElements()", () => {
  const tricky = [1, 'a],\\"[{', { deep: [1, [2]], text: "é😀" }, null, []];

  test.each([1, 2, 3, 1000])("reads elements in pieces of %d bytes", async (size) => {
    expect(await read(` ${JSON.stringify(tricky, null, 2)}\n`, "", size)).toEqual({ elements: tricky, around: [] });
  });

  test("finds the array at a path, and returns the document around it", async () => {
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
    ["[1,2", "", "it ends in the middle, after 1 elements"],
    ["[1]]", "", "it is not JSON"],
    ["[1][2]", "", "it is not JSON"],
    ['{"data":[1]', "data", "it is not JSON"],
    ['{"a":'.repeat(200), "", "it is nested more than 100 deep"],
  ])("refuses %p with path %p: %s", async (text, path, fault) => {
    await expect(read(text, path, 65_536)).rejects.toThrow(fault);
  });

  test("refuses a document with too much around the array", async () => {
    await expect(read(`{"a":"${"x".repeat(1_100_000)}`, "b", 65_536)).rejects.toThrow('it has no array "b"');
    await expect(read(`{"b":[],"a":"${"x".repeat(1_100_000)}`, "b", 65_536)).rejects.toThrow(
      "it has more than 1000000 characters around the array",
    );
  });

  test.each<[string, string, unknown[]]>([
    ["a comma after the last one", "[1,]", [1, { fault: "is not JSON", text: "" }]],
    ["one that is not JSON", '[1,{"a":tru},3]', [1, { fault: "is not JSON", text: '{"a":tru}' }, 3]],
    ["two without a comma", "[1 2, 3]", [{ fault: "is not JSON", text: "1 2" }, 3]],
    [
      "one that is nested too deep",
      `[1,${"[".repeat(100)}${"]".repeat(100)}, 3]`,
      [1, { fault: "is nested more than 100 deep", text: "[".repeat(100) + "]".repeat(100) }, 3],
    ],
    ["one of the greatest depth", `[${"[".repeat(99)}${"]".repeat(99)}]`, [JSON.parse("[".repeat(99) + "]".repeat(99))]],
    [
      "one that is too long",
      `[1,"${"x".repeat(16 * 1024 ** 2)}",3]`,
      [1, { fault: "has more than 16777216 characters", text: `"${"x".repeat(999)}` }, 3],
    ],
  ])("reports %s, and goes on", async (_, text, elements) => {
    for (const size of [7, 65_536]) if (size > 7 || text.length < 1000) expect((await read(text, "", size)).elements).toEqual(elements);
  });

  test("does not hold an element that is too long", async () => {
    const { text, taken } = megabytesOf("x", 30);
    const bytes = (async function* () {
      yield Buffer.from('[1,"');
      yield* text();
      yield Buffer.from('",3]');
    })();
    expect((await Array.fromAsync(jsonElements(bytes))).map((element) => "value" in element)).toEqual([true, false, true]);
    expect(taken.bytes).toBeLessThan(20_000_000);
  });

  test("replaces a byte that is not UTF-8 by half a surrogate pair, which no record may hold", async () => {
    const bytes = (async function* () {
      yield new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]);
    })();
    expect(await Array.fromAsync(jsonElements(bytes))).toEqual([{ value: "\udcff", text: '"\udcff"' }]);
  });
});

test.each([
  ["\ufeff \n[1]", "["],
  ["<a/>", "<"],
  ["  ", ""],
  ["", ""],
])("firstCharacter() of %p is %p", async (text, first) => {
  let readings = 0;
  const bytes = () => {
    readings++;
    return inPieces(text, 1);
  };
  const input = { name: "file", bytes };
  expect([await firstCharacter(input), await firstCharacter(input), readings]).toEqual([first, first, 1]);
});

describe("jsonObjects()", () => {
  const faultOf = (object: object) => ("id" in object ? undefined : "has no id");
  const found = (text: string) => Array.fromAsync(jsonObjects(inPieces(text, 7), "", { faultOf }));

  test("rejects elements that are not objects of the wanted kind, each alone", async () => {
    expect(await found('[{"id":1},2,{},null,[],tru,{"id":7}]')).toEqual([
      { kind: "object", line: 1, raw: { id: 1 }, json: '{"id":1}' },
      { kind: "rejected", line: 2, raw: 2, reason: "the element is not an object" },
      { kind: "rejected", line: 3, raw: {}, reason: "the element has no id" },
      { kind: "rejected", line: 4, raw: null, reason: "the element is not an object" },
      { kind: "rejected", line: 5, raw: [], reason: "the element is not an object" },
      { kind: "rejected", line: 6, raw: "tru", reason: "the element is not JSON" },
      { kind: "object", line: 7, raw: { id: 7 }, json: '{"id":7}' },
    ]);
  });

  test("throws if no element is of that kind", async () => {
    await expect(found('[{"hello":"world"},1]')).rejects.toThrow("element 1 has no id");
    expect(await found("[]")).toEqual([]);
  });
});
