import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { memoize } from "../../src/text/memoize.ts";

/** Bytes outside the heap that objects on it hold, such as those of texts. */
function bytesHeld(): number {
  Bun.gc(true);
  return heapStats().extraMemorySize;
}

test("memoize() keeps a short argument without the long text that it was cut out of", () => {
  const [count, length] = [500, 100_000];
  const computed: string[] = [];
  const lengthOf = memoize(count, (text) => {
    computed.push("once");
    return text.length;
  });
  const partOf = (number: number) =>
    Buffer.from(`2026-01-01T00:00:${number}Z&${"x".repeat(length)}`)
      .toString()
      .split("&")[0] ?? "";
  const before = bytesHeld();
  for (let number = 0; number < count; number++) lengthOf(partOf(number));
  expect(bytesHeld() - before).toBeLessThan((count * length) / 10);
  for (let number = 0; number < count; number++) expect(lengthOf(partOf(number))).toBe(partOf(number).length);
  expect(computed).toHaveLength(count);
});
