/** Downloads what an upstream publishes, imports it as one unit, and stores the validators of the file. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { insertInto, orUpdate, selectBy } from "../../db/query.ts";
import { Failure, failureWith } from "../../db/reason.ts";
import { settings } from "../../db/schema/sqlite/catalog.ts";
import type { ImportContext, ImportOutcome } from "../import/context.ts";
import { importFiles } from "../import/run.ts";
import { version } from "../runtime/version.ts";
import { easternDate } from "../text/eastern.ts";
import { DAY_MS, type EpochMs, formatInstant, isFuture } from "../text/instant.ts";
import type { Net } from "./download.ts";
import { type Upstream, visitTo } from "./upstreams.ts";
import type { Fetched, Known } from "./visit.ts";

export type Pull = {
  upstream: Upstream;
  base: URL;
  fallback?: URL | undefined;
  key: string | undefined;
  keep?: string | undefined;
  force?: boolean | undefined;
  allowRemovals?: boolean | undefined;
  rejects?: string | undefined;
  redactContacts?: boolean;
};

/** What could not be downloaded, and what was imported instead. */
type Pulled = ImportOutcome & { instead_of?: string };

/** Returns `undefined` if there is nothing new. Before the import, a failure changes nothing. */
export async function pull(context: ImportContext, net: Omit<Net, "hosts">, job: Pull): Promise<Pulled | undefined> {
  const { name } = job.upstream;
  // Locked before the download: an older one must not be imported after a newer.
  await using lock = await tryLock(context.db, name);
  if (lock === undefined) throw new Failure(`Cannot pull ${name}: another pull of ${name} is running; try again when it has ended`);
  return await fetchAndImport(context, net, job);
}

function tryLock(db: CatalogDb, name: string) {
  return db.tryLock(`pull-${name}`);
}

async function fetchAndImport(context: ImportContext, net: Omit<Net, "hosts">, job: Pull): Promise<Pulled | undefined> {
  const { upstream, base, fallback, key, keep, force = false } = job;
  dropLeftovers(context);
  const startedAt = context.now();
  const newer = force ? undefined : await findPullToYieldTo(context, upstream);
  if (newer !== undefined) {
    context.notify(
      `${upstream.name}: left out, because ${upstream.yieldsTo} had newer records at ${formatInstant(newer)}; --force pulls it`,
    );
    return undefined;
  }
  const name = `${upstream.name}-${stampOf(context.now())}`;
  const directory = keep === undefined ? join(context.directory, `${PREFIX}${name}`) : join(keep, name);
  if (keep !== undefined) mkdirSync(keep, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
  let fetched: Fetched | undefined;
  try {
    const known = force ? undefined : await readKnown(context.db, upstream);
    fetched = await upstream.fetch(visitTo(upstream, net, { directory, base, fallback, key, known }));
    return fetched === undefined ? undefined : await importFetched(context, job, fetched, startedAt);
  } finally {
    if (fetched === undefined || keep === undefined) rmSync(directory, { recursive: true });
  }
}

async function importFetched(
  context: ImportContext,
  job: Pull,
  { files, known, insteadOf, isPart, warning }: Fetched,
  startedAt: EpochMs,
): Promise<Pulled> {
  const { upstream, allowRemovals, redactContacts = false, rejects = join(context.directory, `${upstream.name}.rejects.ndjson`) } = job;
  if (insteadOf !== undefined) context.notify(`${upstream.name}: ${insteadOf}`);
  if (warning !== undefined) context.notify(`${upstream.name}: ${warning}`);
  // A substitute for a failed download is never complete.
  const snapshot = upstream.snapshot && insteadOf === undefined && isPart === undefined;
  const outcome = await importFiles(context, upstream.format, { files, snapshot, allowRemovals, rejects, redactContacts });
  if (outcome.read === 0 && !upstream.mayBeEmpty)
    throw new Failure(`Cannot import from ${job.base.host}: the download contains no records`);
  if (known !== undefined)
    await storeKnown(context.db, upstream, { ...known, started_at: startedAt }).catch((error: unknown) => {
      throw failureWith(error, "all records are stored, and the next pull downloads the same again");
    });
  const reasons = outcome.reasons?.map((reason) => ({ ...reason, file: basename(reason.file) }));
  return { ...outcome, ...(reasons && { reasons }), ...(insteadOf !== undefined && { instead_of: insteadOf }) };
}

/* Files */

const PREFIX = ".pull-";

function stampOf(ms: number): string {
  return formatInstant(ms).replaceAll(/[-:]/g, "");
}

/** Of killed pulls. Those younger than a day may be in use. */
function dropLeftovers({ directory, now }: ImportContext): void {
  const yesterday = stampOf(now() - DAY_MS);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(PREFIX) && name.slice(-yesterday.length) < yesterday) rmSync(join(directory, name), { recursive: true });
  }
}

/** Removes what killed pulls of an upstream left. Returns false if a pull is running. */
export async function dropDownloads({ db, directory }: ImportContext, { name }: Upstream): Promise<boolean> {
  const own = new RegExp(`^\\${PREFIX}${name}-\\d{8}T`); // One name may start with another: sam-gov, sam-gov-api.
  const left = readdirSync(directory).filter((each) => own.test(each));
  if (left.length === 0) return true;
  await using lock = await tryLock(db, name);
  if (lock === undefined) return false;
  for (const each of left) rmSync(join(directory, each), { recursive: true });
  return true;
}

/* What was imported last is stored in the catalog, so that it is restored, copied and deleted together with the records. */

const settingByName = selectBy(settings, "name");
const storeSetting = insertInto(settings, { onConflict: orUpdate(settings.name, settings.value) });

async function readKnown(db: CatalogDb, { name }: Upstream): Promise<Known | undefined> {
  const { by, ...known } = (await readStored(db, name)) ?? {};
  return by === version ? (known as Stored) : undefined;
}

/** When the pull began that had newer records than today's extract, which is made in the night. */
async function findPullToYieldTo({ db, now }: ImportContext, { yieldsTo }: Upstream): Promise<EpochMs | undefined> {
  const started = yieldsTo === undefined ? undefined : (await readStored(db, yieldsTo))?.started_at;
  if (started === undefined || isFuture(started, now())) return undefined; // The clock was ahead.
  return easternDate(started) >= easternDate(now()) ? started : undefined;
}

type Stored = Known & { started_at: EpochMs };

async function readStored(db: CatalogDb, name: string): Promise<(Stored & { by: string }) | undefined> {
  const row = await db.get(settingByName, { name: settingOf(name) });
  return row === undefined ? undefined : JSON.parse(Buffer.from(row.value).toString()); // Written below.
}

async function storeKnown(db: CatalogDb, { name }: Upstream, known: Stored): Promise<void> {
  await db.run(storeSetting, { name: settingOf(name), value: Buffer.from(JSON.stringify({ by: version, ...known })) });
}

function settingOf(name: string): string {
  return `pulled ${name}`;
}
