/** All records as they were at an instant, as a catalog of their own, so that whatever reads a catalog reads the past. (E-90) */
import { rmSync } from "node:fs";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { openTemporaryCatalog } from "../../db/open.ts";
import { insertInto, pick, query, select } from "../../db/query.ts";
import { imports, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { facetOf } from "../changes/commit.ts";
import { countRecord, noChanges, saveCounts } from "../changes/counts.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { temporaryDirectory } from "../runtime/left-behind.ts";
import type { Report } from "../search/catch-up.ts";
import { noteInstant } from "../sources/figures.ts";
import { addSource, listSources, removeSource, sourceStatuses } from "../sources/source.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { eachPastRow, type PastRow } from "./as-of.ts";

const insertOpportunity = insertInto(opportunities, { key: "seq" });
const allImports = query({}, () => select(pick(imports, "format", "sources", "as_of", "finished_at")).from(imports));

/**
 * A catalog with the records, named sources and times of imports as they were at an instant, but without events. Its file has no name, so
 * nothing is left of it, however the program ends. The total that is reported is the number of records now.
 */
export async function openPastCatalog(present: CatalogDb, asOf: EpochMs, report: Report): Promise<CatalogDb> {
  const directory = temporaryDirectory("past");
  let past: CatalogDb | undefined;
  try {
    past = openTemporaryCatalog(directory, asOf);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  try {
    await past.makeRoomForWrites();
    await copySources(present, past);
    await past.transaction((writing) => present.readTransaction((reading) => fill(reading, writing, asOf, report)));
    return past;
  } catch (error) {
    await past.close();
    throw error;
  }
}

/** The sources that are named now: nothing says when each was named. */
async function copySources(present: CatalogDb, past: CatalogDb): Promise<void> {
  for (const { code } of await listSources(past)) await removeSource(past, code);
  for (const entry of await listSources(present)) await addSource(past, entry);
}

async function fill(reading: CatalogSql, writing: CatalogSql, asOf: EpochMs, report: Report): Promise<void> {
  const total = (await sourceStatuses(reading)).reduce((sum, { records }) => sum + records, 0);
  const counts = noChanges();
  let read = 0;
  await eachPastRow(reading, asOf, {}, async (rows) => {
    for (const row of rows) countRecord(counts, await insertPast(writing, row), 1);
    read += rows.length;
    await report(read, total);
  });
  await saveCounts(writing, counts);
  for (const [source, { finished_at, known_until }] of await lastImports(reading, asOf)) {
    await noteInstant(writing, source, "finished_at", finished_at);
    await noteInstant(writing, source, "known_until", known_until);
  }
}

/** Returns what is counted of the record. */
async function insertPast(sql: CatalogSql, row: PastRow) {
  const opportunity = parseStored<Opportunity>(row.document);
  const { code: source } = opportunity.source;
  const counted = { source, facet_id: await facetOf(sql, opportunity), document: row.document, sidecar: row.sidecar };
  await sql.insert(insertOpportunity, {
    ...row,
    ...counted,
    ...opportunity.relationships,
    created_at: Date.parse(opportunity.created_at),
    hash: new Uint8Array(), // For imports, which never write here.
    restored_at: null,
    restored_updated_at: null,
  });
  return counted;
}

type LastImport = { finished_at: EpochMs; known_until: EpochMs };

/**
 * By source, when its last import had finished, and until when the source was known by it. For a later import of an earlier history, the
 * instant of that history counts.
 */
async function lastImports(sql: CatalogSql, asOf: EpochMs): Promise<Map<string, LastImport>> {
  const last = new Map<string, LastImport>();
  await sql.each(allImports, {}, (rows) => {
    for (const { format, sources, as_of, finished_at } of rows) {
      if (finished_at === null || format === "events") continue;
      const at = finished_at <= asOf ? finished_at : (as_of ?? finished_at);
      if (at > asOf) continue;
      for (const source of JSON.parse(sources) as string[]) {
        if (at >= (last.get(source)?.finished_at ?? at)) last.set(source, { finished_at: at, known_until: as_of ?? finished_at });
      }
    }
  });
  return last;
}
