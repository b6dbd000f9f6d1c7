/** Settled versions: their text was read before and could change nothing (D-32). */
import type { CatalogDb } from "../../../db/engine.ts";
import { findReadings, readingOf } from "../../changes/versions.ts";
import type { ImportKind } from "../context.ts";
import type { UnreadVersion, Version } from "../format.ts";
import type { Staging } from "../staging.ts";
import { isUsableId } from "../validate.ts";

export type Settling = {
  stored: Pick<CatalogDb, "readTransaction">;
  staging: Staging;
  digestOf: (text: string) => Buffer;
  kind: ImportKind;
};

type Found = { version: Version | UnreadVersion; index: number; digest: Buffer | null };

export function createSettled({ stored, staging, digestOf, kind }: Settling) {
  const indexes = new Set<number>();
  const sources = new Set<string>();
  let seen = 0;

  async function settle(source: string, versions: readonly Found[], isPending: (id: string) => boolean): Promise<Found[]> {
    const ids = versions.map(({ version }) => version.id).filter((id) => isUsableId(source, id));
    const readings = await stored.readTransaction((sql) => findReadings(sql, source, ids));
    const others: Found[] = [];
    const otherIds = new Set<string>();
    const lineages: string[] = [];
    for (const each of versions) {
      const { id } = each.version;
      const known = readings.get(id);
      const isRead = known !== undefined && each.digest !== null && readingOf(each.digest, known.hash).equals(known.reading);
      // The last text of a version counts, so it is read if the first one is.
      if (isRead && !otherIds.has(id) && !isPending(id)) {
        indexes.add(each.index);
        lineages.push(known.lineage);
      } else {
        others.push(each);
        otherIds.add(id);
      }
    }
    if (lineages.length > 0) sources.add(source);
    staging.putAllUnchanged(source, lineages);
    return others;
  }

  return {
    /** Takes the versions of the next items. Returns those that must be read, also each that is pending already. */
    async take(
      found: readonly (Version | UnreadVersion | undefined)[],
      isPending: (source: string, id: string) => boolean,
    ): Promise<Omit<Found, "index">[]> {
      const first = seen;
      const nothingPending = indexes.size === seen;
      seen += found.length;
      const versions = found.flatMap((version, offset) => {
        if (version === undefined) return [];
        return [{ version, index: first + offset, digest: "digested" in version ? digestOf(version.digested) : null }];
      });
      if (kind !== "later") return versions;
      const unsettled: Found[] = [];
      for (const [source, ofSource] of Map.groupBy(versions, ({ version }) => version.source))
        unsettled.push(...(await settle(source, ofSource, (id) => !nothingPending && isPending(source, id))));
      return unsettled;
    },
    /** Whether the item with this index, counted from 0 over all files, need not be read. */
    has: (index: number) => indexes.has(index),
    /** How many items there are if all are settled, otherwise 0. */
    countIfAll: () => (indexes.size === seen ? seen : 0),
    sources: sources as ReadonlySet<string>,
  };
}
