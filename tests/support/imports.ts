/** Imports from files into a catalog that a test can inspect. */
import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import type { Value } from "../../db/value.ts";
import { exportLines } from "../../src/export/records.ts";
import type { ImportContext, ImportOptions, ImportOutcome } from "../../src/import/context.ts";
import { importEvents } from "../../src/import/events.ts";
import type { Draft, Format } from "../../src/import/format.ts";
import { records } from "../../src/import/formats/records.ts";
import { importFiles } from "../../src/import/run.ts";
import { type WholeOpportunity, wholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { defaultLocation } from "./database-locations.ts";
import { rawSql, textOf } from "./sql.ts";

/** 2026-03-01T12:00:00Z */
export const NOON = Date.UTC(2026, 2, 1, 12);
export const SECOND = 1000;
export const DAY = 86_400_000;

const scratch = join(tmpdir(), `fundfeed-test-${process.pid}`);

/** A path in the scratch directory of this process, which `afterAll(dropScratch)` removes. */
export function inScratch(name = ""): string {
  mkdirSync(scratch, { recursive: true });
  return join(scratch, name);
}

export function aDirectory(): string {
  return mkdtempSync(inScratch("directory-"));
}

export function dropScratch(): void {
  rmSync(scratch, { recursive: true, force: true });
}

let files = 0;

/** Writes a file with these lines (objects as JSON) or this text. Returns its path. */
export function aFile(content: readonly unknown[] | string, name = `file-${++files}.ndjson`): string {
  const path = inScratch(name);
  const lines =
    typeof content === "string" ? content : content.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  writeFileSync(path, lines);
  return path;
}

/**
 * Each order in which these files or records can come. Of more than three, orders in which each comes first, last, and before and after
 * each other one. The last order is the opposite of the first one.
 */
export function ordersOf<T>(items: readonly T[]): T[][] {
  const turned = items.map((_, at) => [...items.slice(at), ...items.slice(0, at)]);
  if (items.length < 3) return turned;
  return [...turned, ...(items.length === 3 ? turned.toReversed() : [items]).map((order) => order.toReversed())];
}

export type Imported = ImportOutcome & { messages: string[] };
/** `between` runs whenever the import reports progress: before each of its transactions, too. */
type Given = Partial<Omit<ImportOptions, "files">> & { now?: number; format?: Format; chunk?: number; between?: () => unknown };

/** An empty catalog, unless one is given, and functions that import into it. Its clock stands at `clock.now`. */
export async function aCatalog(given?: CatalogDb) {
  const db = given ?? (await (await defaultLocation()).catalog(NOON));
  const clock = { now: NOON };
  const contextOf = (messages: string[], { asOf, chunk, between }: Given = {}): ImportContext => ({
    db,
    directory: ":memory:",
    now: () => (clock.now = Math.max(clock.now, asOf ?? 0)), // History is not imported before it happened.
    notify: (message) => void messages.push(message),
    progress: async () => void (await between?.()),
    chunk,
  });
  const optionsOf = (paths: readonly string[], given: Given): ImportOptions => ({
    snapshot: false,
    allowRemovals: false,
    asOf: undefined,
    dryRun: false,
    rejects: undefined,
    ...given,
    files: paths,
  });
  const takeFiles = async (paths: readonly string[], given: Given = {}): Promise<Imported> => {
    const messages: string[] = [];
    return { ...(await importFiles(contextOf(messages, given), given.format ?? records, optionsOf(paths, given))), messages };
  };
  const takeEventFiles = async (paths: readonly string[], given: Given = {}): Promise<Imported> => {
    const messages: string[] = [];
    return { ...(await importEvents(contextOf(messages), optionsOf(paths, given))), messages };
  };
  return {
    db,
    clock,
    /** Imports these records as one file. */
    take: (content: readonly (Draft | unknown)[] | string, given?: Given) => takeFiles([aFile(content)], given),
    takeFiles,
    takeEvents: (content: readonly unknown[] | string, given?: Given) => takeEventFiles([aFile(content)], given),
    takeEventFiles,
  };
}

export type TestCatalog = Awaited<ReturnType<typeof aCatalog>>;

/** Runs an import for which the disk is full after so many chunks: what was committed stays, as after a kill. */
export async function cutShort({ db }: TestCatalog, chunks: number, take: () => Promise<unknown>): Promise<void> {
  const { transaction } = db;
  let left = chunks;
  db.transaction = (write) =>
    transaction((sql) => {
      const run: CatalogSql["run"] = async (query, ...values) => {
        if (textOf(sql, query).startsWith('update "imports" set "last_instant"') && left-- === 0) throw new Error("disk full");
        return sql.run(query, ...values);
      };
      return write({ ...sql, run });
    });
  await expect(take()).rejects.toThrow("disk full");
  db.transaction = transaction;
}

/** Without the digests of what was read, which are none of the content. */
const VERSIONS = "select source, upstream_id, opportunity_seq, revision_key, series, title, posted_at from versions order by 1, 2";

/** Everything that clients can see or the next import depends on, as one text to compare. */
export async function contentsOf(db: CatalogDb): Promise<string> {
  const rows = async (query: string) => (await db.all(rawSql<Record<string, Value>>(query))).map(asText);
  return JSON.stringify({
    opportunities: ranked(await rows("select * from opportunities order by seq"), "seq", "facet_id"),
    events: ranked(await rows("select * from events order by seq"), "seq", "opportunity_seq", "import_id"),
    upstream_ids: ranked(await rows("select * from upstream_ids order by 1, 2, 3"), "opportunity_seq"),
    versions: ranked(await rows(VERSIONS), "opportunity_seq"),
  });
}

function asText(row: Record<string, Value>): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? value.toHex() : value]));
}

type Row = Record<string, string | number | null>;

/** Replaces row numbers by ranks, because PostgreSQL does not reuse the numbers of a failed transaction. */
function ranked(rows: Row[], ...columns: string[]): Row[] {
  for (const column of columns) {
    const numbers = [...new Set(rows.map((row) => Number(row[column])))].sort((left, right) => left - right);
    const ranks = new Map(numbers.map((number, rank) => [number, rank]));
    for (const row of rows) if (row[column] !== null) row[column] = ranks.get(Number(row[column])) ?? null;
  }
  return rows;
}

type Document = {
  id: string;
  source: { opportunity_id: string; [field: string]: unknown };
  status: string;
  title: string;
  created_at: string;
  updated_at: string;
  [field: string]: unknown;
};
type EventDocument = {
  type: string;
  severity: string;
  changed_fields: string[];
  changes: unknown[];
  detected_at: string;
  [field: string]: unknown;
};

/** All records as the API returns them, least recently updated first. */
export async function documentsOf(db: CatalogDb): Promise<Document[]> {
  return parsed(await db.all(rawSql("select document from opportunities order by updated_at, id")));
}

/** Every opportunity with its sidecar, the least recently updated first. */
export async function opportunitiesOf(db: CatalogDb): Promise<WholeOpportunity[]> {
  const rows = await db.all(
    rawSql<{ document: Uint8Array; sidecar: Uint8Array }>("select document, sidecar from opportunities order by updated_at, id"),
  );
  return rows.map(wholeOpportunity);
}

export async function exportOf(db: CatalogDb, codes?: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  await exportLines(db, { codes }, (line) => void lines.push(line));
  return lines;
}

/** The record of an upstream id, as the API returns it. */
export async function documentOf(db: CatalogDb, upstreamId: string): Promise<Document> {
  const found = (await documentsOf(db)).find(({ source }) => source.opportunity_id === upstreamId);
  if (found === undefined) throw new Error(`There is no record ${upstreamId}`);
  return found;
}

/** A record's events as the API returns them, in the order in which they were stored. */
export async function eventsOf(db: CatalogDb, upstreamId: string): Promise<EventDocument[]> {
  return parsed(
    await db.all(
      rawSql(
        "select events.document from events join opportunities on opportunities.seq = opportunity_seq where source_opportunity_id = ? order by events.seq",
        upstreamId,
      ),
    ),
  );
}

function parsed<T>(rows: readonly { document: Uint8Array }[]): T[] {
  return rows.map(({ document }) => JSON.parse(Buffer.from(document).toString()));
}

/** What a dry run counts of an import: it leaves out links, each of which is one event. */
export function withoutLinks<Counts extends { linked: number; events: number }>(counts: Counts): Counts {
  return { ...counts, linked: 0, events: counts.events - counts.linked };
}
