/** Takes values that a layout lacks, or has less exactly, from the stored record (`partial` and `reconcile` in `format.ts`). (E-9) */
import type { CatalogSql } from "../../db/engine.ts";
import { type Content, contentOf, type PreparedRecord, readContent } from "../changes/content.ts";
import { findStored } from "../changes/stored.ts";
import { isObject } from "../text/json-value.ts";
import type { RecordItem } from "./format.ts";
import { type NaturalKey, readNaturalKey } from "./validate.ts";
import type { PlacedVersion } from "./versions/placing.ts";

/** The item's record with its lineage, reconciled, and completed from the stored one except in its status. */
export async function completeRecord(
  sql: CatalogSql,
  { record, partial, reconcile }: Pick<RecordItem, "record" | "partial" | "reconcile">,
  version: PlacedVersion | undefined,
  staged: PreparedRecord | undefined,
): Promise<object> {
  const withLineage = (draft: object) => (version === undefined ? draft : { ...draft, lineage: version.lineage });
  const isWhole = partial === undefined && reconcile === undefined;
  const find = () => (isWhole ? undefined : findContent(sql, readNaturalKey(withLineage(record))));
  const all = staged === undefined ? await find() : contentOf(staged.rendered, staged.indexed);
  if (all === undefined) return withLineage(record);
  const reconciled = withLineage(reconcile?.(all) ?? record);
  if (partial === undefined) return reconciled;
  const { status: _status, status_display: _display, stated: _stated, status_until: _until, ...content } = all;
  return merged(reconciled, content, partial === "adds");
}

async function findContent(sql: CatalogSql, key: NaturalKey | undefined): Promise<Content | undefined> {
  const stored = key && (await findStored(sql, key.source, key.lineage ?? key.upstreamId ?? ""));
  return stored === undefined ? undefined : readContent(stored.document, stored.sidecar);
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
