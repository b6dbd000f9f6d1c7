/** Reads files with one format, without a catalog: inputs from real files or texts, and the drafts and reasons that result. */
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Draft, Format, Input, Item, LazyItem, VersionItem } from "../../src/import/format.ts";
import { openInput } from "../../src/import/readers/input.ts";
import { digestUnder } from "../../src/import/source-digest.ts";
import { openStaging } from "../../src/import/staging.ts";
import { Rejection, rejectionOf, validateRecord } from "../../src/import/validate.ts";
import { type PlacedVersion, placeVersions } from "../../src/import/versions/placing.ts";
import { EXCERPTS, realPath } from "./real-data.ts";

export function realInput(name: string, directory = EXCERPTS): Promise<Input> {
  return openInput(realPath(name, directory), {}, ":memory:");
}

export function textInput(text: string | Uint8Array, name = "test"): Input {
  return { name, bytes: () => pieces(text) };
}

/** The bytes in pieces that share one buffer, as files are read: each piece is overwritten by the next. */
export async function* pieces(text: string | Uint8Array, size = 100_000): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(text);
  const buffer = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    yield buffer.subarray(0, bytes.copy(buffer, 0, at, at + size));
    buffer.fill(0xff);
  }
}

/** The whole content of an input. */
export async function bytesOf(input: Input): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input.bytes()) chunks.push(new Uint8Array(chunk));
  return Buffer.concat(chunks);
}

/** What a first import reads from files: items, drafts, the draft kept of each lineage, the reasons of rejections, and warnings. */
export async function readFormat(format: Format, inputs: readonly Input[]) {
  const warnings = new Set<string>();
  const warn = (message: string) => void warnings.add(message);
  const items: Exclude<Item, LazyItem | VersionItem>[] = [];
  for await (const item of format.read(inputs, { warn, incomplete: warn, neverHas: () => undefined })) {
    if (item.kind === "lazy") {
      const { input, line, raw, isSuperseded, read, source, id } = item;
      const place = { input, line, raw, ...(isSuperseded && { isSuperseded }) };
      try {
        items.push({ ...place, kind: "record", record: read() });
      } catch (error) {
        items.push({ ...place, kind: "rejected", reason: rejectionOf(error).message, source, lineage: id });
      }
    } else items.push(item.kind === "version" ? { ...item, ...item.read() } : item);
  }

  const drafts = items
    .filter(({ isSuperseded }) => isSuperseded !== true)
    .flatMap((item) => (item.kind === "record" ? [item.record as Draft] : []));
  const kept = format.versions === undefined ? lastOf(drafts) : await newestOf(format, inputs, items);
  const refused = items.flatMap((item) => (item.kind === "rejected" ? [item.reason] : [...rejectionsOf(item.record)]));
  return { items, drafts, kept, refused, warnings: [...warnings] };
}

function lastOf(drafts: readonly Draft[]): Map<string, Draft> {
  return new Map(drafts.map((draft) => [draft.lineage ?? draft.source.opportunity_id, draft]));
}

/** The newest version of each record, with its lineage and the ids of the others, as an import stores it. */
async function newestOf(format: Format, inputs: readonly Input[], items: readonly Item[]): Promise<Map<string, Draft>> {
  using staging = openStaging(":memory:");
  await using db = openCatalog(":memory:", 0);
  const placements = await placeVersions(format.versions, inputs, { stored: db, staging, digestOf: digestUnder([]), kind: "first" });
  const newest = new Map<string, { draft: Draft; placed: PlacedVersion | undefined }>();
  for (const item of items) {
    if (item.kind !== "record") continue;
    const draft = item.record as Draft;
    const placed = placements.of(item);
    const lineage = placed?.lineage ?? draft.lineage ?? draft.source.opportunity_id;
    const at = (version: PlacedVersion | undefined) => version?.facts?.posted_at ?? 0;
    const before = newest.get(lineage);
    if (before === undefined || at(placed) >= at(before.placed)) newest.set(lineage, { draft: { ...draft, lineage }, placed });
  }
  const kept = [...newest].map(([lineage, { draft, placed }]): [string, Draft] => {
    if (placed === undefined) return [lineage, draft];
    const ids = placements.unsavedOf(placed.source, lineage).map(({ id }) => id);
    return [lineage, { ...draft, earlier_ids: ids.filter((id) => id !== placed.id) }];
  });
  return new Map(kept);
}

function* rejectionsOf(record: unknown): Iterable<string> {
  try {
    validateRecord(record, new Map());
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    yield error.message;
  }
}

/** What a draft states at an instant; null if the dates determine its status. */
export function statedAt({ status = null, status_until, archives_at }: Draft, now: string): string | null {
  const isOver = (limit: string | null | undefined) => limit != null && Date.parse(limit) <= Date.parse(now);
  return isOver(archives_at) ? "archived" : isOver(status_until) ? null : status;
}

/** How often each value occurs. */
export function countBy<T>(values: Iterable<T>, name: (value: T) => unknown): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(name(value))] = (counts[String(name(value))] ?? 0) + 1;
  return counts;
}

/** Megabytes of text, and the memory that reading them took: what is in use at the end beyond what was after the first twenty. */
export function megabytesOf(character: string, count: number) {
  const taken = { bytes: 0 };
  const inUse = () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed;
  };
  async function* text(): AsyncIterable<Uint8Array> {
    let before = 0;
    for (let megabyte = 0; megabyte < count; megabyte++) {
      yield Buffer.alloc(1024 * 1024, character);
      if (megabyte === 20) before = inUse();
    }
    taken.bytes = inUse() - before;
  }
  return { text, taken };
}
