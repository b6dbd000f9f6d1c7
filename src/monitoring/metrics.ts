/** Metrics in Prometheus's text format, version 0.0.4. No label names a key, an account or a record. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { asc, isNull } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { pick, query, select } from "../../db/query.ts";
import { imports } from "../../db/schema/sqlite/catalog.ts";
import { fileNames } from "../../db/sqlite/open.ts";
import type { StatusTurns } from "../changes/status-turns.ts";
import type { SharedQuotas } from "../quota/redis.ts";
import type { Machine } from "../runtime/machine.ts";
import { version } from "../runtime/version.ts";
import { listCounts } from "../sources/counts.ts";
import { readSourceAccounts } from "../sources/freshness.ts";
import { counter, type Family, familiesText, gauge, histogram, type MetricSample } from "./families.ts";
import type { Log, RequestEntry } from "./log.ts";
import { watchFamiliesIn } from "./watch-metrics.ts";

export type Metrics = { startedAt: number; routes: Map<string, RouteUse>; failures: number; statusTurnRuns: number; statusTurns: number };

type RouteUse = { statuses: Map<number, number>; durations: number[]; totalMs: number };

const DURATIONS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000];

export function createMetrics(startedAt: number): Metrics {
  return { startedAt, routes: new Map(), failures: 0, statusTurnRuns: 0, statusTurns: 0 };
}

/** Wraps a log to count its requests and failures. */
export function countingLog(metrics: Metrics, log: Log): Log {
  return {
    ...log,
    request: (entry) => {
      countRequest(metrics, entry);
      log.request(entry);
    },
    failure: (...failure) => {
      metrics.failures++;
      log.failure(...failure);
    },
    recurring: (...failure) => {
      metrics.failures++;
      log.recurring(...failure);
    },
  };
}

/** Counts one run of `turnStatuses` and the records it changed. */
export function countStatusTurns(metrics: Metrics, { changed }: StatusTurns): void {
  metrics.statusTurnRuns++;
  metrics.statusTurns += changed;
}

function countRequest({ routes }: Metrics, { route, status, duration_ms }: RequestEntry): void {
  const name = route ?? "unknown";
  const unused = () => ({ statuses: new Map(), durations: new Array(DURATIONS_MS.length + 1).fill(0), totalMs: 0 });
  const use = routes.getOrInsertComputed(name, unused);
  use.statuses.set(status, (use.statuses.get(status) ?? 0) + 1);
  let bucket = 0;
  while (duration_ms > (DURATIONS_MS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
  use.durations[bucket] = (use.durations[bucket] ?? 0) + 1;
  use.totalMs += duration_ms;
}

type Observed = {
  catalog: CatalogDb;
  directory?: string | undefined;
  machine: Pick<Machine, "now" | "usage">;
  /** Set if quotas are shared with other servers. */
  quotas?: Pick<SharedQuotas, "isShared" | "countedAlone"> | undefined;
  more?: readonly Family[] | undefined;
};

/** The response to a scrape. Leaves out the catalog's metrics while the catalog cannot be read. */
export async function metricsText(metrics: Metrics, { catalog, directory, machine, quotas, more = [] }: Observed): Promise<string> {
  const families = [
    ...requestFamilies(metrics),
    ...(quotas === undefined ? [] : quotaFamilies(quotas)),
    counter("fundfeed_refreshes_total", "Runs that looked for statuses whose date has passed.", metrics.statusTurnRuns),
    counter("fundfeed_refreshed_records_total", "Records whose status turned because a date has passed.", metrics.statusTurns),
    ...(await catalogFamilies(catalog, machine.now())),
    ...(directory === undefined ? [] : [...fileFamilies(directory), ...(await watchFamiliesIn(directory, machine.now()))]),
    ...more,
    ...processFamilies(metrics, machine),
  ];
  return familiesText(families);
}

function requestFamilies({ routes, failures }: Metrics): Family[] {
  const byStatus = [...routes].flatMap(([route, { statuses }]) =>
    Array.from(statuses, ([status, value]) => ({ labels: { route, status }, value })),
  );
  const durations = [...routes].flatMap(([route, use]) => durationSamples(route, use));
  const refused = byStatus.reduce((total, { labels, value }) => total + (labels.status === 429 ? value : 0), 0);
  return [
    counter("fundfeed_requests_total", "Responses sent.", byStatus),
    histogram("fundfeed_request_duration_seconds", "Time from request to response, with a resolution of one millisecond.", durations),
    counter("fundfeed_quota_refusals_total", "Requests refused because a key had used up its daily or per-minute limit.", refused),
    counter("fundfeed_failures_total", "Failures of requests and of periodic work, logged or left out.", failures),
  ];
}

function quotaFamilies({ isShared, countedAlone }: NonNullable<Observed["quotas"]>): Family[] {
  return [
    gauge("fundfeed_quotas_shared", "1, or 0 while Redis is unavailable and this server counts alone.", isShared() ? 1 : 0),
    counter(
      "fundfeed_quotas_counted_alone_total",
      "Requests that this server counted alone, because Redis was unavailable.",
      countedAlone(),
    ),
  ];
}

function durationSamples(route: string, { durations, totalMs }: RouteUse): MetricSample[] {
  let count = 0;
  const buckets = durations.map((inBucket, index) => {
    count += inBucket;
    const bound = DURATIONS_MS[index];
    return { suffix: "_bucket", labels: { route, le: bound === undefined ? "+Inf" : bound / 1000 }, value: count };
  });
  return [...buckets, { suffix: "_sum", labels: { route }, value: totalMs / 1000 }, { suffix: "_count", labels: { route }, value: count }];
}

async function catalogFamilies(db: CatalogDb, now: number): Promise<Family[]> {
  const readable = (value: number) => gauge("fundfeed_catalog_readable", "1, or 0 while the catalog cannot be read.", value);
  try {
    return [readable(1), ...(await importFamilies(db)), ...(await freshnessFamilies(db, now))];
  } catch {
    return [readable(0)];
  }
}

const outcomes = ["read", "added", "changed", "unchanged", "merged", "rejected", "removed", "linked"] as const;

const unfinishedImports = query({}, () =>
  select(pick(imports, "format", "counts"))
    .from(imports)
    .where(isNull(imports.finished_at))
    .orderBy(asc(imports.format)),
);

/** Sums over the imports of each format: of the numbers of their summaries, and how many finished and how many did not. */
async function importSums(db: CatalogDb): Promise<Map<string, Map<string, number>>> {
  const sums = new Map<string, Map<string, number>>();
  const add = (format: string, name: string, count: number) => {
    const ofFormat = sums.getOrInsert(format, new Map());
    ofFormat.set(name, (ofFormat.get(name) ?? 0) + count);
  };
  for (const { subject, name, number } of await listCounts(db, "imports")) add(subject, name, number);
  for (const { format, counts } of await db.all(unfinishedImports)) {
    add(format, "unfinished", 1);
    for (const [name, count] of Object.entries(JSON.parse(counts) as Record<string, number>)) add(format, name, count);
  }
  return sums;
}

async function importFamilies(db: CatalogDb): Promise<Family[]> {
  const sums = [...(await importSums(db))];
  const byOutcome = sums.flatMap(([format, of]) =>
    outcomes.map((outcome) => ({ labels: { format, outcome }, value: of.get(outcome) ?? 0 })),
  );
  const byFormat = (name: string) => sums.map(([format, of]) => ({ labels: { format }, value: of.get(name) ?? 0 }));
  return [
    counter("fundfeed_imports_total", "Imports that finished.", byFormat("imports")),
    gauge("fundfeed_imports_unfinished", "Imports that are running or were killed.", byFormat("unfinished")),
    counter("fundfeed_imported_records_total", "Records of all imports by outcome; `read` counts all of them.", byOutcome),
  ];
}

async function freshnessFamilies(db: CatalogDb, now: number): Promise<Family[]> {
  const sources = await readSourceAccounts(db, now);
  const ages = sources.flatMap(({ source, last_import_at }) =>
    last_import_at === null ? [] : [{ labels: { source }, value: (now - Date.parse(last_import_at)) / 1000 }],
  );
  const silent = sources.map(({ source, is_silent }) => ({ labels: { source }, value: Number(is_silent) }));
  const news = sources.flatMap(({ source, last_news_on }) =>
    last_news_on === null ? [] : [{ labels: { source }, value: Date.parse(last_news_on) / 1000 }],
  );
  return [
    gauge("fundfeed_source_age_seconds", "Time since an import of the source last finished.", ages),
    gauge("fundfeed_source_silent", "1 if imports or news of the source have paused for longer than is usual for it.", silent),
    gauge("fundfeed_source_last_news_timestamp_seconds", "The day of the source's last news: no news since then.", news),
  ];
}

function fileFamilies(directory: string): Family[] {
  const names = [fileNames.catalog, fileNames.state].flatMap((name) => [name, `${name}-wal`]);
  const samples = names.flatMap((file) => {
    const size = statSync(join(directory, file), { throwIfNoEntry: false })?.size;
    return size === undefined ? [] : [{ labels: { file }, value: size }];
  });
  return [gauge("fundfeed_database_bytes", "Size of the database files.", samples)];
}

function processFamilies({ startedAt }: Metrics, machine: Pick<Machine, "usage">): Family[] {
  const { residentBytes, cpuSeconds } = machine.usage();
  return [
    gauge("fundfeed_build_info", "1; the label is the running version.", [{ labels: { version }, value: 1 }]),
    gauge("process_start_time_seconds", "When the server started, as a Unix timestamp.", startedAt / 1000),
    counter("process_cpu_seconds_total", "Processor time used.", cpuSeconds),
    gauge("process_resident_memory_bytes", "Resident memory.", residentBytes),
    ...openFiles(),
  ];
}

/** Known on Linux only. */
function openFiles(): Family[] {
  try {
    return [gauge("process_open_fds", "Open files and connections.", readdirSync("/proc/self/fd").length)];
  } catch {
    return [];
  }
}
