/** Records of one's own: NDJSON, one object a line, as `export` writes it. */
import type { Context, Format, Input, Item } from "../format.ts";
import { lines } from "../input.ts";

export const records: Format = {
  name: "records",
  about: "records of one's own as NDJSON: one opportunity a line, as `export` writes it",
  read,
};

async function* read(inputs: readonly Input[], _context: Context): AsyncIterable<Item> {
  for (const input of inputs) {
    let objects = 0;
    let others = 0;
    for await (const { line, text, fault } of lines(input.bytes())) {
      if (fault === undefined && text.trim() === "") continue;
      const record = fault === undefined ? parseObject(text) : undefined;
      if (record === undefined) {
        others++;
        yield { input, line, raw: text, reason: fault ?? "the line must be a JSON object" };
      } else {
        objects++;
        yield { input, line, raw: record, json: text, record };
      }
    }
    if (objects === 0 && others > 0) throw new Error(`Cannot import ${input.name}: no line of it is a JSON object`);
  }
}

function parseObject(text: string): { [field: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { [field: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}
