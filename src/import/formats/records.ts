/** Your own records: NDJSON, one object per line, as `export` writes it. */
import { NESTING_MAX, shapeOfJson } from "../../../clients/typescript/src/json-scan.ts";
import { arrayOf, isObject, type JsonObject, parseJson } from "../../text/json-value.ts";
import { lines } from "../../text/lines.ts";
import type { Format, FormatContext, Input, Item, RecordItem, RejectedItem, SourceLine } from "../format.ts";
import { InvalidInput } from "../readers/input.ts";
import { readNaturalKey } from "../validate.ts";

export const records: Format = {
  name: "records",
  about: "your own records as NDJSON: one opportunity per line, as `export` writes it",
  read,
};

async function* read(inputs: readonly Input[], _context: FormatContext): AsyncIterable<Item> {
  for await (const item of objectLines(inputs)) {
    const key = item.kind === "record" ? plainKeyOf(item.record) : undefined;
    if (item.kind === "rejected" || key === undefined) yield item;
    else {
      const { kind, record, ...line } = item;
      yield { ...line, kind: "lazy", ...key, digested: item.json ?? "", read: () => record };
    }
  }
}

/** The lines of NDJSON files. Throws if a file has lines, and none of them is an object. */
export async function* objectLines(inputs: readonly Input[]): AsyncIterable<SourceLine & (RecordItem | RejectedItem)> {
  for (const input of inputs) {
    let objects = 0;
    let others = 0;
    for await (const { line, text, fault } of lines(input.bytes())) {
      if (fault === undefined && text.trim() === "") continue;
      const record = fault === undefined ? parseObject(text) : undefined;
      if (record === undefined) {
        others++;
        yield { kind: "rejected", input, line, raw: text, reason: fault ?? faultOf(text) };
      } else {
        objects++;
        yield { kind: "record", input, line, raw: record, json: text, record };
      }
    }
    if (objects === 0 && others > 0) throw new InvalidInput(input.name, "none of its lines is a JSON object");
  }
}

/** Source and id of a record whose lineage is its only upstream id: its content depends on its line alone. */
function plainKeyOf(record: RecordItem["record"]): { source: string; id: string } | undefined {
  const { source, lineage, upstreamId = "" } = readNaturalKey(record) ?? {};
  const isPlain = (lineage ?? upstreamId) === upstreamId && arrayOf(record.earlier_ids).length === 0;
  return source === undefined || upstreamId === "" || !isPlain ? undefined : { source, id: upstreamId };
}

function faultOf(text: string): string {
  return shapeOfJson(text).isTooDeep ? `the line must not be nested more than ${NESTING_MAX} deep` : "the line must be a JSON object";
}

function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
