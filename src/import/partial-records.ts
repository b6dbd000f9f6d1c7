/** Partial records: fields that a layout does not have are taken from the stored record (`partial` in `format.ts`). */
import type { CatalogSql } from "../../db/engine.ts";
import { readContent } from "../changes/content.ts";
import { findStored } from "../changes/stored.ts";
import { isObject } from "../text/json-value.ts";
import type { RecordItem } from "./format.ts";
import type { PlacedVersion } from "./placing.ts";
import { readNaturalKey } from "./validate.ts";

/** Returns the item's record, completed if it is partial, and with the lineage of its version. A missing status is never completed. */
export async function completeRecord(
  sql: CatalogSql,
  { record, partial, reconcile }: RecordItem,
  version: PlacedVersion | undefined,
): Promise<object> {
  const withLineage = (draft: object) => (version === undefined ? draft : { ...draft, lineage: version.lineage });
  const key = partial === undefined || version?.isForeign ? undefined : readNaturalKey(withLineage(record));
  const stored = key === undefined ? undefined : await findStored(sql, key.source, key.lineage ?? key.upstreamId ?? "");
  if (stored === undefined) return withLineage(record);
  const all = readContent(stored.document, stored.sidecar);
  const { status: _status, ...content } = all;
  return merged(withLineage(reconcile?.(all) ?? record), content, partial === "adds");
}

function merged(record: object, stored: object, addsToLists: boolean): object {
  const result: Record<string, unknown> = { ...stored };
  for (const [name, value] of Object.entries(record)) {
    const old = result[name];
    if (value === undefined) continue;
    if (isObject(value) && isObject(old)) result[name] = merged(value, old, addsToLists);
    else result[name] = addsToLists && Array.isArray(value) && Array.isArray(old) ? union(old, value) : value;
  }
  return result;
}

function union(old: readonly unknown[], more: readonly unknown[]): unknown[] {
  const known = new Set(old.map((item) => JSON.stringify(item)));
  return [...old, ...more.filter((item) => !known.has(JSON.stringify(item)))];
}
