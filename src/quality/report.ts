/** How good the data of each source are: fields filled, values that cannot be, and what became worse. */
import type { CatalogDb } from "../../db/engine.ts";
import { type Content, contentOfWhole } from "../changes/content.ts";
import { comparedFields, valueAt } from "../changes/detect.ts";
import { exportOpportunities } from "../export/records.ts";
import { emptySummary, listImports, type Summary } from "../import/import-log.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { sourceStatuses } from "../opportunities/source-counts.ts";
import { earlierOf, type Undone } from "../past/as-of.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { dataRules } from "./rules.ts";

/** Shares are from 0 to 1. `fill`, `compared` and `falls` are about live records: those that are not archived. */
export type SourceQuality = {
  source: string;
  records: number;
  live: number;
  /** Records of an opportunity of another source. */
  linked: number;
  /** The last finished import. Null if the log has none. */
  last_import: { id: number; finished_at: string; read: number; rejected: number } | null;
  fill: { field: string; records: number; share: number }[];
  /** Only what was found. `sample_ids` are of at most three records. */
  findings: { rule: string; says: string; records: number; sample_ids: string[] }[];
  /** Live records before the last import, or at an instant. Null if there were none. */
  compared: { since: string; live: number } | null;
  /** Shares of fields, or the number of live records. */
  falls: { what: string; before: number; now: number }[];
};

export const DUPLICATE = { name: "duplicate", says: "source, number, title and kind are those of another record" };

const SAMPLES = 3;
const [SHARE_FALL, COUNT_FALL] = [0.1, 0.5];
const COMPARED_MIN = 10;
const IMPORTS = 1000;

/** All sources if absent. Without `since`, each is compared with before its last import. */
type QualityOptions = {
  sources?: readonly string[] | undefined;
  since?: EpochMs | undefined;
  now: EpochMs;
  report?: (read: number, total: number) => void | Promise<void>;
};

/** The quality of each source that has records. Reads every record once. */
export async function qualityOf(db: CatalogDb, { sources, since, now, report }: QualityOptions): Promise<SourceQuality[]> {
  const chosen = (await sourceStatuses(db)).filter(({ source }) => sources === undefined || sources.includes(source));
  const total = chosen.reduce((sum, { records }) => sum + records, 0);
  const imports = await listImports(db, IMPORTS);
  const found: SourceQuality[] = [];
  let before = 0;
  for (const { source, records } of chosen) {
    const last = imports.find((each) => each.finished_at !== null && (JSON.parse(each.sources) as string[]).includes(source));
    const undone: Undone | undefined =
      since !== undefined ? { since } : last && { importId: last.id, since: Math.min(last.as_of ?? last.started_at, last.started_at) };
    const { read, rejected }: Summary = { ...emptySummary, ...(JSON.parse(last?.counts ?? "{}") as Partial<Summary>) };
    found.push({
      source,
      ...(await readSource(db, source, undone, now, (read) => report?.(before + read, total))),
      last_import:
        last === undefined ? null : { id: last.id, finished_at: formatInstant(last.finished_at ?? last.started_at), read, rejected },
    });
    before += records;
  }
  return found;
}

/** Always filled, or with a meaning of their own when they are not. */
const UNMEASURED = /^(source\.(name|opportunity_id)|status|funding\.currency|relationships\..*)$/;

/** Dotted paths of the measured fields, in the resource's order. */
export const measuredFields: readonly string[] = [
  ...comparedFields.filter((field) => !UNMEASURED.test(field)),
  ...["applicant_types", "place", "award"],
];

const paths = measuredFields.map((field) => field.split("."));

type Fill = { live: number; filled: number[] };

async function readSource(
  db: CatalogDb,
  source: string,
  undone: Undone | undefined,
  now: EpochMs,
  report: (read: number) => void | Promise<void>,
): Promise<Omit<SourceQuality, "source" | "last_import">> {
  const earlier = undone && (await earlierOf(db, source, undone));
  const [present, past] = [noFill(), noFill()];
  const broken = new Map<string, { records: number; sample_ids: string[] }>();
  const known = new Set<bigint>();
  let [records, linked] = [0, 0];
  await exportOpportunities(db, { codes: [source], now, report }, (record) => {
    records++;
    if (record.relationships.canonical_id !== null) linked++;
    const content = contentOfWhole(record);
    count(present, content);
    const was = earlier?.(record.id, content) ?? null;
    if (was !== null) count(past, was);
    const names = dataRules.filter(({ breaks }) => breaks(record, now)).map(({ name }) => name);
    for (const name of isKnown(known, record) ? [...names, DUPLICATE.name] : names) {
      const { records, sample_ids } = broken.get(name) ?? { records: 0, sample_ids: [] };
      broken.set(name, { records: records + 1, sample_ids: [...sample_ids, record.id].slice(0, SAMPLES) });
    }
  });
  return {
    records,
    live: present.live,
    linked,
    fill: measuredFields.map((field, n) => ({ field, records: present.filled[n] ?? 0, share: shareOf(present, n) })),
    findings: [...dataRules, DUPLICATE].flatMap(({ name, says }) => {
      const found = broken.get(name);
      return found === undefined ? [] : [{ rule: name, says, ...found }];
    }),
    compared: undone === undefined || past.live === 0 ? null : { since: formatInstant(undone.since), live: past.live },
    falls: fallsOf(past, present),
  };
}

function noFill(): Fill {
  return { live: 0, filled: measuredFields.map(() => 0) };
}

/** An empty text or list is no value. */
function count(fill: Fill, content: Content): void {
  if (content.status === "archived") return;
  fill.live++;
  for (const [n, path] of paths.entries()) {
    const value = valueAt(content, path) ?? "";
    if (!(Array.isArray(value) || typeof value === "string") || value.length > 0) fill.filled[n] = (fill.filled[n] ?? 0) + 1;
  }
}

function shareOf({ live, filled }: Fill, n: number): number {
  return live === 0 ? 0 : round((filled[n] ?? 0) / live);
}

function round(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}

function fallsOf(past: Fill, present: Fill): SourceQuality["falls"] {
  if (past.live < COMPARED_MIN) return [];
  const records = present.live <= past.live * COUNT_FALL ? [{ what: "records", before: past.live, now: present.live }] : [];
  const fields = measuredFields.map((what, n) => ({ what, before: shareOf(past, n), now: shareOf(present, n) }));
  return [...records, ...fields.filter(({ before, now }) => present.live > 0 && round(before - now) >= SHARE_FALL)];
}

function isKnown(known: Set<bigint>, { title, program: { solicitation_id, contract_class }, dates }: WholeOpportunity): boolean {
  if (solicitation_id === null || solicitation_id.trim() === "") return false;
  const hash = BigInt(Bun.hash(JSON.stringify([solicitation_id.toUpperCase(), title.toUpperCase(), contract_class, dates.posted_at])));
  if (known.has(hash)) return true;
  known.add(hash);
  return false;
}
