/** @jsxImportSource hono/jsx */
/** The page of sources: how fresh each is, how many records it has, and how many changed. */
import type { CatalogDb } from "../../db/engine.ts";
import { sourceStatusesAt } from "../opportunities/source-counts.ts";
import { openStatuses } from "../opportunities/status.ts";
import { readFreshness, silentInWords } from "../sources/freshness.ts";
import { type LastChanges, listSources, newestPostedDates, recordsByLastChange } from "../sources/source.ts";
import { capitalized, counted, withCommas } from "../text/in-words.ts";
import { DAY_MS, dateAt, type EpochMs, formatInstant, isFuture } from "../text/instant.ts";
import { Bars } from "./chart.tsx";
import { DaysAgo, Fact, Relative } from "./marks.tsx";
import { MONTHS_PATH } from "./months-page.tsx";
import { addressOf, type BrowsePage, type PageContext } from "./page.ts";

const WEEK_MS = 7 * DAY_MS;
const WEEKS = 26;

export async function sourcesPage({ catalog, now }: PageContext): Promise<BrowsePage> {
  const rows = await readSources(catalog, now);
  return { title: "Sources", section: "sources", body: <SourcesBody rows={rows} now={now} /> };
}

type SourceRow = Awaited<ReturnType<typeof readSources>>[number];

async function readSources(catalog: CatalogDb, now: EpochMs) {
  const statuses = await sourceStatusesAt(catalog, now);
  const codes = statuses.map(({ source }) => source);
  const [freshness, named, posted, changes] = await Promise.all([
    readFreshness(catalog, now, codes),
    listSources(catalog),
    newestPostedDates(catalog, dateAt(now), codes),
    recordsByLastChange(catalog, { since: now - WEEKS * WEEK_MS, until: now, bucketMs: WEEK_MS }),
  ]);
  return statuses.map((status) => {
    const entry = named.find(({ code }) => code === status.source);
    return {
      ...status,
      name: entry?.name ?? status.source,
      description: entry?.description ?? "",
      newestPosted: posted.get(status.source),
      weeks: weeksOf(changes, status.source),
      freshness: freshness.find(({ source }) => source === status.source),
    };
  });
}

function weeksOf(changes: readonly LastChanges[], source: string): number[] {
  const weeks = Array.from({ length: WEEKS }, () => 0);
  for (const { source: each, bucket, records } of changes) if (each === source && bucket < WEEKS) weeks[bucket] = records;
  return weeks;
}

function SourcesBody({ rows, now }: { rows: readonly SourceRow[]; now: EpochMs }) {
  const most = Math.max(1, ...rows.map(({ records }) => records));
  return (
    <>
      <h1>Sources</h1>
      <p class="lead">How fresh the data of each source are, how many records it has, and how many changed in the last {WEEKS} weeks.</p>
      <p>
        <a href="/sources/quality">How good the data are</a>
        {" · "}
        <a href={MONTHS_PATH}>Opportunities by month</a>
      </p>
      {rows.length === 0 ? (
        <p class="empty">
          Nothing has been imported yet. <code>fundfeed pull grants-gov</code> brings the first opportunities.
        </p>
      ) : (
        <ul class="sources">
          {rows.map((row) => (
            <SourceCard key={row.source} row={row} most={most} now={now} />
          ))}
        </ul>
      )}
    </>
  );
}

function SourceCard({ row, most, now }: { row: SourceRow; most: number; now: EpochMs }) {
  const { source, name, description, records, open, last_import_at, newestPosted: posted, weeks, freshness } = row;
  const changed = weeks.reduce((sum, each) => sum + each, 0);
  const weekNames = weeks.map((_, n) => `week that ended ${n === WEEKS - 1 ? "today" : dateAt(now - (WEEKS - 1 - n) * WEEK_MS)}`);
  return (
    <li class="card">
      <h2>
        <a href={addressOf("/", { source })}>{name}</a> {name !== source && <small>{source}</small>}
      </h2>
      {freshness?.is_silent && <p class="understood">{capitalized(silentInWords([freshness]) ?? "")}.</p>}
      <dl class="figures">
        <Fact name="Last import">
          {last_import_at === null || isFuture(last_import_at, now) ? "unknown" : <Relative at={formatInstant(last_import_at)} now={now} />}
        </Fact>
        <Fact name="Newest posting">{posted === undefined ? "none" : <DaysAgo date={posted} now={now} />}</Fact>
        <Fact name="Records">{withCommas(records)}</Fact>
        <Fact name="Open">
          <a href={addressOf("/", { source, status: openStatuses, sort: "closes" })}>{withCommas(open)}</a>
        </Fact>
      </dl>
      <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="4" class="track" />
        <rect width={Math.max(0.5, (100 * records) / most)} height="4" class="all" />
        <rect width={(100 * open) / most} height="4" class="part" />
      </svg>
      <Bars values={weeks} names={weekNames} title={`${counted(changed, "record")} changed last in these ${WEEKS} weeks`} />
      {description !== "" && <p class="quiet">{description}</p>}
    </li>
  );
}
