/**
 * Creates a catalog of millions of short records, and a state with keys and their use. The filtered columns are as in the generated records,
 * but a document has about 900 bytes, so ten million records fit on a small disk. Everything in it passes `check`. It uses plain inserts. Each
 * record has one event, three of ten have two, and a few have long histories.
 */
import type { Database } from "bun:sqlite";
import { hash } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../db/sqlite/migrate.ts";
import { openCatalog, openState } from "../db/sqlite/open.ts";
import { createKey } from "../src/accounts/key.ts";
import { storeUse } from "../src/accounts/use.ts";
import { recordEvent } from "../src/changes/classify.ts";
import { type Content, documentOf, type RenderedContent, readContent, render, sidecarOf } from "../src/changes/content.ts";
import { countRecord, noChanges, saveCounts } from "../src/changes/counts.ts";
import { linkKeysOf } from "../src/changes/link.ts";
import { added } from "../src/changes/rules.ts";
import type { OpportunityEvent } from "../src/events/event.ts";
import { beginImport, emptySummary, finishImport } from "../src/import/import-log.ts";
import { validateRecord } from "../src/import/validate.ts";
import { opportunityId, uuid5 } from "../src/opportunities/identity.ts";
import { statusTurnsAt } from "../src/opportunities/status.ts";
import { formatInstant } from "../src/text/instant.ts";
import { generateRecord, randomOf } from "./generate.ts";
import { workDirectory } from "./processes.ts";

const SEED = 1;
/** How many generated records determine the facets and their proportions. */
const SAMPLES = 150_000;
/** Each title has one of so many words that are rarer than the generated ones. */
const RARE_WORDS = 150_000;
const FIRST_INSTANT = Date.UTC(2024, 0, 1);
const CHUNK_RECORDS = 500;
const CHUNK_EVERY_MS = 60_000;
/** The first records follow their dates, and a status turn is due. */
const DUE_RECORDS = 100;
/** The next records have this many imported events each, and the first of them a hundred times as many. */
const [LONG_HISTORIES, HISTORY_EVENTS] = [1000, 20];
const IMPORTS = 20_000;
const [KEYS, DAYS_OF_USE] = [100, 365];
/** Records in one transaction: a log of ten million would be as large as the catalog. */
const COMMITTED_AT_ONCE = 100_000;
/** In place of a record's number, and as long. */
const MARK = "N@@@@@@@@";

/** Returns the data directory of such a catalog. Creates it on the first call, and again when the schema changes. */
export async function shortCatalog(records: number): Promise<string> {
  const version = Bun.hash.crc32(migrations.catalog.map(({ sql }) => sql).join()).toString(36);
  const directory = join(workDirectory, `short-catalog-${records}-${version}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await fillCatalog(unfinished, records);
  await fillState(unfinished);
  renameSync(unfinished, directory);
  return directory;
}

async function fillCatalog(directory: string, records: number): Promise<void> {
  const db = openCatalog(directory, Date.now());
  const { sqlite } = db;
  for (const pragma of ["synchronous = off", "cache_size = -2000000", "locking_mode = exclusive"]) sqlite.run(`pragma ${pragma}`);
  const begun = { files: [], snapshot: false, asOf: undefined, startedAt: FIRST_INSTANT };
  for (let number = 1; number <= IMPORTS; number++) {
    const id = await beginImport(db, { ...begun, format: "records", sources: ["SAM_GOV", "DSIP"] });
    await finishImport(db, id, { ...emptySummary, read: 1, unchanged: 1 }, FIRST_INSTANT + number);
  }
  sqlite.run("begin");
  const { insert, addEvent } = insertsInto(sqlite);
  const samples = samplesIn(sqlite);
  const due = sampleOf(sqlite, dueRecord(), "dates");
  const counts = noChanges();
  const random = randomOf(SEED, -3);
  const chunks = Math.ceil(records / CHUNK_RECORDS);
  for (let seq = 1; seq <= records; seq++) {
    const created_at = FIRST_INSTANT + Math.floor(seq / CHUNK_RECORDS) * CHUNK_EVERY_MS;
    // Three of ten have changed since, a few at one instant.
    const changed_at = FIRST_INSTANT + (chunks + Math.floor(random() * chunks)) * CHUNK_EVERY_MS;
    const sample = seq <= DUE_RECORDS ? due : (samples[Math.floor(random() * SAMPLES)] as Sample);
    const row = rowOf(sample, seq, created_at, random() < 0.3 ? changed_at : created_at);
    insert(seq, row);
    countRecord(counts, row, readContent(row.document, row.sidecar), 1);
    addEvent(seq, recordEvent(added, row.id, [], created_at), created_at, "detected");
    if (row.updated_at > created_at) addEvent(seq, changeEvent(row.id, -1, row.title), row.updated_at, "detected");
    const isLong = seq > DUE_RECORDS && seq <= DUE_RECORDS + LONG_HISTORIES;
    const events = !isLong ? 0 : seq === DUE_RECORDS + 1 ? 100 * HISTORY_EVENTS : HISTORY_EVENTS;
    for (let number = 0; number < events; number++) addEvent(seq, changeEvent(row.id, number), FIRST_INSTANT + number, "imported");
    if (seq % COMMITTED_AT_ONCE === 0) for (const statement of ["commit", "begin"]) sqlite.run(statement);
  }
  await saveCounts(db, counts);
  sqlite.run("commit");
  sqlite.run("pragma locking_mode = normal");
  sqlite.run("pragma wal_checkpoint(truncate)");
  await db.close();
}

/** A record but for its number. */
type Sample = { content: Content; basis: "stated" | "dates"; rendered: RenderedContent; text: string; facet_id: number };

function sampleOf(sqlite: Database, record: object, basis: Sample["basis"]): Sample {
  const { content } = validateRecord(record, new Map());
  const rendered = render(content, basis);
  const { status, source, program, organization } = content;
  const { id } = sqlite
    .query<{ id: number }, (string | null)[]>(
      `insert into facets (status, source, program_type, agency) values (?, ?, ?, ?)
       on conflict (agency, status, source, program_type) do update set status = excluded.status returning id`,
    )
    .get(status, source.code, program.type ?? "", organization.agency ?? "") ?? { id: 0 };
  return { content, basis, rendered, text: new TextDecoder().decode(rendered.text), facet_id: id };
}

function samplesIn(sqlite: Database): Sample[] {
  const random = randomOf(SEED, -4);
  return Array.from({ length: SAMPLES }, (_, index) => {
    const { source, status, title, program, organization, dates } = generateRecord(SEED, index);
    const rare = `t${Math.floor(RARE_WORDS ** random()).toString(36)}`; // As frequent as Zipf says.
    const record = {
      source: { code: source.code, opportunity_id: MARK },
      title: `Opportunity ${MARK}: ${title}, ${rare}`,
      status,
      organization: { agency: organization.agency },
      program: { type: program.type },
      dates: { posted_at: dates.posted_at },
    };
    return sampleOf(sqlite, record, "stated");
  });
}

function dueRecord() {
  const closes_at = formatInstant(Date.now() + 86_400_000);
  return {
    source: { code: "SAM_GOV", opportunity_id: MARK },
    title: `Due ${MARK}`,
    status: "open",
    dates: { posted_at: "2024-01-01T00:00:00Z", closes_at },
  };
}

function rowOf({ content, basis, rendered, text, facet_id }: Sample, seq: number, created_at: number, updated_at: number) {
  const number = `N${String(seq).padStart(MARK.length - 1, "0")}`;
  const { status, status_display, dates, relationships } = content;
  const source = content.source.code;
  const id = opportunityId(source, number);
  const numbered = Buffer.from(text.replaceAll(MARK, number));
  const own = { ...rendered, text: numbered };
  const document = documentOf(own, { id, status, status_display, dates, relationships, createdAt: created_at, updatedAt: updated_at });
  const turns_at = basis === "dates" ? statusTurnsAt(status, dates, created_at, { status: null, until: null, archives_at: null }) : null;
  const title = content.title.replaceAll(MARK, number);
  const link_keys = linkKeysOf({ ...content, title, source: { code: source, opportunity_id: number, url: null } });
  const digest = hash("sha256", numbered, "buffer");
  return {
    id,
    title,
    source,
    number,
    created_at,
    updated_at,
    facet_id,
    basis,
    turns_at,
    link_keys,
    digest,
    document,
    sidecar: sidecarOf(own, content),
  };
}

function insertsInto(sqlite: Database) {
  const insertRow = sqlite.prepare(
    `insert into opportunities (seq, id, source, lineage, source_opportunity_id, created_at, updated_at, stored_at, facet_id, status_basis, turns_at, hash, document, sidecar)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertUpstreamId = sqlite.prepare("insert into upstream_ids (upstream_id, source, opportunity_seq, since) values (?, ?, ?, 0)");
  const insertLinkKey = sqlite.prepare("insert into link_keys (key, role, newness, opportunity_id) values (?, ?, ?, ?)");
  const insertEvent = sqlite.prepare(
    `insert into events (id, opportunity_seq, detected_at, type, severity, origin, import_id, document) values (?, ?, ?, ?, ?, ?, 1, ?)`,
  );
  return {
    insert: (seq: number, row: ReturnType<typeof rowOf>) => {
      const { id, source, number, created_at, updated_at, facet_id, basis, turns_at, link_keys, digest, document, sidecar } = row;
      const dates = [created_at, updated_at, updated_at, facet_id, basis, turns_at];
      insertRow.run(seq, id, source, number, number, ...dates, digest, document, sidecar);
      insertUpstreamId.run(number, source, seq);
      for (const { key, role, newness } of link_keys) insertLinkKey.run(key, role, newness, id);
    },
    addEvent: (seq: number, event: OpportunityEvent, at: number, origin: "detected" | "imported") =>
      insertEvent.run(
        event.id,
        seq,
        at,
        event.type,
        event.severity,
        origin,
        Buffer.from(JSON.stringify({ ...event, detected_at: formatInstant(at) })),
      ),
  };
}

function changeEvent(opportunity_id: string, number: number, current = "Later title"): OpportunityEvent {
  const change = { field: "title", previous: "Former title", current };
  return {
    id: uuid5(`${opportunity_id}\n${number}`),
    opportunity_id,
    type: "description_changed",
    severity: "minor",
    summary: "title changed",
    changed_fields: [change.field],
    changes: [change],
    detected_at: "",
  };
}

async function fillState(directory: string): Promise<void> {
  const db = openState(directory, Date.now());
  const today = Math.floor(Date.now() / 86_400_000);
  for (let number = 1; number <= KEYS; number++) {
    const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
    const { id } = await createKey(db, { account: `Account ${number}`, plan: "starter" }, randomBytes, Date.now());
    const days = Array.from({ length: DAYS_OF_USE }, (_, day) => ({ key_id: id, day: today - day, count: 1000, last_used_at: Date.now() }));
    await storeUse(db, days);
  }
  await db.close();
}

if (import.meta.main) process.stdout.write(`${await shortCatalog(Number(Bun.argv[2] ?? 1_000_000))}\n`);
