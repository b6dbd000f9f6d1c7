/** The table of the versions in the files of one import, for `placing.ts`. */
import type { Database } from "bun:sqlite";
import type { KeyedTitle } from "../../changes/versions.ts";
import type { EpochMs } from "../../text/instant.ts";
import { batches } from "../staging.ts";

const READ_AT_ONCE = 200;

/** Series whose phases are kept in memory: each of their versions asks for them, and finding them reads all. */
const SERIES_KEPT = 100;

const UNSAVED = "(not is_saved or digest is not null)";

export type VersionRow = {
  n: number;
  source: string;
  id: string;
  /** These three are null if the version is known by its id alone. */
  revision_key: string | null;
  series: string | null;
  title: string | null;
  posted_at: EpochMs | null;
  due_at: EpochMs | null;
  has_time: number;
  file: number;
  since: EpochMs | null;
  /** Ids of other versions of its record, as JSON. */
  others: string | null;
  /** The oldest version of its family, whose record it joins. */
  head: string | null;
  lineage: string | null;
  /** Its record is stored and shows another version. */
  is_hidden: number;
  is_older: number;
  is_newest: number;
  is_saved: number;
  digest: Uint8Array | null;
};

type NewVersion = Pick<
  VersionRow,
  "source" | "id" | "revision_key" | "series" | "title" | "posted_at" | "due_at" | "has_time" | "file" | "others" | "digest"
>;

export type VersionKey = { source: string; revision_key: string; series: string };

export type VersionTable = ReturnType<typeof openVersionTable>;

export function openVersionTable(sqlite: Database) {
  sqlite.run(
    `create table versions (n integer primary key, source text not null, id text not null, revision_key text, series text, title text,
       posted_at integer, due_at integer, has_time integer not null, file integer not null, since integer, others text, head text, lineage text,
       is_hidden integer not null default 0, is_older integer not null default 0, is_newest integer not null default 0,
       is_saved integer not null default 0, digest blob)`,
  );
  sqlite.run("create unique index versions_id on versions (source, id)");
  sqlite.run("create index versions_key on versions (source, revision_key)");
  sqlite.run("create index versions_lineage on versions (source, lineage)");
  sqlite.run("create index versions_series on versions (source, series)");
  sqlite.run("create table named (source text, id text, other text, primary key (source, id, other)) without rowid");
  const rows = <Values extends (string | number)[]>(rest: string) =>
    sqlite.prepare<VersionRow, Values>(`select * from versions where ${rest}`);
  const find = rows<[string, string]>("source = ? and id = ?");
  const add = sqlite.prepare<unknown, NewVersion>(
    `insert into versions (source, id, revision_key, series, title, posted_at, due_at, has_time, file, others, digest)
     values ($source, $id, $revision_key, $series, $title, $posted_at, $due_at, $has_time, $file, $others, $digest)`,
  );
  const update = sqlite.prepare<unknown, VersionRow>(
    `update versions set revision_key = $revision_key, series = $series, title = $title, posted_at = $posted_at, due_at = $due_at, has_time = $has_time,
       file = $file, since = $since, others = $others, head = $head, lineage = $lineage, is_hidden = $is_hidden, is_older = $is_older, is_newest = $is_newest, is_saved = $is_saved, digest = $digest
     where n = $n`,
  );
  const inBatches = (which: string) => {
    const after = rows<[number]>(`n > ? and ${which} order by n limit ${READ_AT_ONCE}`);
    return () => batches({ n: 0 }, ({ n }) => after.all(n));
  };
  const place = sqlite.prepare<unknown, [string, number, number]>("update versions set lineage = ?, is_hidden = ? where n = ?");
  const unplacedKeys = sqlite.prepare<VersionKey, [string, string]>(
    `select source, revision_key, min(series) as series from versions where (source, revision_key) > (?, ?) and lineage is null
     group by source, revision_key order by source, revision_key limit ${READ_AT_ONCE}`,
  );
  const name = sqlite.prepare<unknown, [string, string, string]>(
    "insert into named values (?1, ?2, ?3), (?1, ?3, ?2) on conflict do nothing",
  );
  const family = sqlite.prepare<{ id: string }, [string, string]>(
    `with recursive family (id) as (select ?2 union select other from family cross join named on source = ?1 and named.id = family.id)
     select id from family`,
  );
  const forget = sqlite.prepare<unknown, [string, string]>("delete from named where source = ? and id in (select value from json_each(?))");
  const ofIds = rows<[string, string]>("source = ? and id in (select value from json_each(?)) order by posted_at, id");
  const ofKeys = rows<[string, string]>("source = ? and revision_key in (select value from json_each(?)) order by posted_at, id");
  const ofRecord = rows<[string, string]>("source = ? and lineage = ?");
  const candidates = sqlite.prepare<VersionRow, []>(
    `select versions.* from (
       select source, lineage from versions where lineage is not null group by source, lineage having count(*) > 1
     ) cross join versions using (source, lineage) where revision_key is not null and not is_older order by source, lineage, n`,
  );
  const setNewest = sqlite.prepare<unknown, [number]>("update versions set is_newest = 1 where n = ?");
  const unsavedOf = rows<[string, string]>(`source = ? and lineage = ? and ${UNSAVED}`);
  const drop = sqlite.prepare<unknown, [string, string]>("delete from versions where source = ? and id = ?");
  // Without `indexed by`, SQLite reads all versions of the source for each record.
  const phases = sqlite.prepare<KeyedTitle, [string, string, number]>(
    "select distinct revision_key, title from versions indexed by versions_series where source = ? and series = ? and lineage = revision_key limit ?",
  );
  const phasesBySeries = new Map<string, KeyedTitle[]>();
  const shared = sqlite.prepare<{ name: string }, []>(
    "select source || ' ' || series as name from versions where series is not null group by source, series having count(*) > 1",
  );
  let sharedSeries: ReadonlySet<string> | undefined;
  const newPhases = sqlite.prepare<VersionKey, []>(
    "select distinct source, series, revision_key from versions where lineage = revision_key and not is_saved order by source, series",
  );

  return {
    has: (source: string, id: string): boolean => find.get(source, id) !== null,
    find: (source: string, id: string): VersionRow | undefined => find.get(source, id) ?? undefined,
    add: (version: NewVersion) => void add.run(version),
    update: (row: VersionRow) => void update.run(row),
    name: (source: string, id: string, other: string) => void name.run(source, id, other),
    /** The ids connected with one by naming each other. Forgets these names, so that each family is taken once. */
    takeFamily(source: string, id: string): string[] {
      const ids = family.all(source, id).map((each) => each.id);
      if (ids.length > 1) forget.run(source, JSON.stringify(ids));
      return ids;
    },
    ofIds: (source: string, ids: readonly string[]): VersionRow[] => ofIds.all(source, JSON.stringify(ids)),
    unplaced: inBatches("lineage is null"),
    hidden: inBatches("is_hidden"),
    /** Of records with several versions in the files, those that may be stored, record by record. */
    candidates: (): Iterable<VersionRow> => candidates.iterate(),
    setNewest: (n: number) => void setNewest.run(n),
    naming: inBatches("others is not null"),
    place: (n: number, lineage: string, isHidden: boolean) => void place.run(lineage, isHidden ? 1 : 0, n),
    /** Sorted here, because `order by` makes it ten times slower in bun:sqlite 1.4.5. */
    unsavedOf: (source: string, lineage: string): VersionRow[] => unsavedOf.all(source, lineage).sort(byPosting),
    unsaved: inBatches(
      `${UNSAVED} and not exists (
         select 1 from staged where staged.source = versions.source and staged.lineage = versions.lineage and file is not null
       )`,
    ),
    placeByIds: () => void sqlite.run("update versions set lineage = id where lineage is null and revision_key is null"),
    unplacedKeys: () => batches({ source: "", revision_key: "" }, ({ source, revision_key }) => unplacedKeys.all(source, revision_key)),
    ofKeys: (source: string, keys: readonly string[]): VersionRow[] => ofKeys.all(source, JSON.stringify(keys)),
    /** Whether a version in the files belongs to the record with this lineage. */
    hasLineage: (source: string, lineage: string): boolean => ofRecord.get(source, lineage) !== null,
    /** Forgets a version whose record was rejected. */
    drop(source: string, id: string): void {
      drop.run(source, id);
      phasesBySeries.clear();
    },
    /** Keys in a series that are lineages, with titles. Call it once all are placed. */
    phasesOf(source: string, series: string, limit: number): KeyedTitle[] {
      const name = `${source} ${series} ${limit}`;
      const known = phasesBySeries.get(name);
      if (known !== undefined) return known;
      if (phasesBySeries.size === SERIES_KEPT) phasesBySeries.clear();
      const found = phases.all(source, series, limit);
      phasesBySeries.set(name, found);
      return found;
    },
    /** Whether a series has several versions. Reads the table once, after all are placed: each record asks. */
    isShared(source: string, series: string): boolean {
      sharedSeries ??= new Set(shared.all().map(({ name }) => name));
      return sharedSeries.has(`${source} ${series}`);
    },
    newPhases: (): VersionKey[] => newPhases.all(),
  };
}

function byPosting(one: VersionRow, other: VersionRow): number {
  const [at, otherAt] = [one.posted_at ?? Number.NEGATIVE_INFINITY, other.posted_at ?? Number.NEGATIVE_INFINITY];
  if (at !== otherAt) return at < otherAt ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}
