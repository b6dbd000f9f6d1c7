/** One turn of a pull: fetch what an upstream publishes, import it as one, remember what it was. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { insertInto, orUpdate, selectBy } from "../../db/query.ts";
import { settings } from "../../db/schema/sqlite/catalog.ts";
import type { ImportContext, Outcome } from "../import/context.ts";
import { importFiles } from "../import/run.ts";
import { version } from "../runtime/version.ts";
import { formatInstant } from "../text/instant.ts";
import type { Net } from "./download.ts";
import type { Upstream } from "./upstreams.ts";
import type { Fetched, Known } from "./visit.ts";

export type Pull = {
  upstream: Upstream;
  base: URL;
  key: string | undefined;
  /** Directory in which the fetched files stay. */
  keep: string | undefined;
  /** Fetches what has not changed, too. */
  force: boolean;
  allowRemovals: boolean;
  rejects: string | undefined;
  redactContacts?: boolean;
};

const DAY_MS = 86_400_000;

/** Answers with nothing when the upstream has nothing new. Whatever fails before the import changes nothing. */
export async function pull(context: ImportContext, net: Omit<Net, "hosts">, order: Pull): Promise<Outcome | undefined> {
  const { name } = order.upstream;
  // Held from before the fetch: a second pull could import what it fetched earlier over what this one fetched later.
  const release = await lock(context.db, name);
  if (release === undefined) throw new Error(`Cannot pull ${name}: another pull of it is running; try again when it has ended`);
  try {
    return await fetchAndImport(context, net, order);
  } finally {
    await release();
  }
}

function lock(db: CatalogDb, name: string) {
  return db.tryLock(`pull-${name}`);
}

async function fetchAndImport(context: ImportContext, net: Omit<Net, "hosts">, order: Pull): Promise<Outcome | undefined> {
  const { upstream, base, key, keep } = order;
  dropLeftovers(context);
  const name = `${upstream.name}-${stampOf(context.now())}`;
  const directory = keep === undefined ? join(context.directory, `${PREFIX}${name}`) : join(keep, name);
  if (keep !== undefined) mkdirSync(keep, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
  let fetched: Fetched | undefined;
  try {
    const known = order.force ? undefined : await readKnown(context.db, upstream);
    const hosts = [base.host, ...upstream.redirectsTo];
    fetched = await upstream.fetch({ net: { ...net, hosts }, directory, base, key, known, requests: 0 });
    return fetched === undefined ? undefined : await importFetched(context, order, fetched);
  } finally {
    if (fetched === undefined || keep === undefined) rmSync(directory, { recursive: true });
  }
}

async function importFetched(context: ImportContext, order: Pull, { files, known }: Fetched): Promise<Outcome> {
  const { upstream, allowRemovals, redactContacts = false, rejects = join(context.directory, `${upstream.name}.rejects.ndjson`) } = order;
  const options = { files, snapshot: upstream.snapshot, allowRemovals, asOf: undefined, dryRun: false, rejects, redactContacts };
  const outcome = await importFiles(context, upstream.format, options);
  if (outcome.read === 0 && upstream.neverEmpty) throw new Error(`Cannot believe ${order.base.host}: what it published holds no records`);
  if (known !== undefined) await remember(context.db, upstream, known);
  // The directory of the fetched files will be gone.
  return outcome.reasons === undefined
    ? outcome
    : { ...outcome, reasons: outcome.reasons.map((reason) => ({ ...reason, file: basename(reason.file) })) };
}

/* Files */

const PREFIX = ".pull-";

/** 2026-03-01T12:00:00.000Z as 20260301T120000.000Z */
function stampOf(ms: number): string {
  return formatInstant(ms).replaceAll(/[-:]/g, "");
}

/** What a killed pull left. A directory that is younger may be in use. */
function dropLeftovers({ directory, now }: ImportContext): void {
  const yesterday = stampOf(now() - DAY_MS);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(PREFIX) && name.slice(-yesterday.length) < yesterday) rmSync(join(directory, name), { recursive: true });
  }
}

/** Removes what killed pulls of an upstream left. False while one is running. */
export async function dropDownloads({ db, directory }: ImportContext, { name }: Upstream): Promise<boolean> {
  const own = new RegExp(`^\\${PREFIX}${name}-\\d{8}T`); // Names begin with others' names: sam-gov, sam-gov-api.
  const left = readdirSync(directory).filter((each) => own.test(each));
  if (left.length === 0) return true;
  const release = await lock(db, name);
  if (release === undefined) return false;
  for (const each of left) rmSync(join(directory, each), { recursive: true });
  await release();
  return true;
}

/* What was imported last is remembered in the catalog itself, so that it is restored, copied and thrown away together with it. */

const settingByName = selectBy(settings, "name");
const storeSetting = insertInto(settings, { onConflict: orUpdate(settings.name, settings.value) });

/** Forgotten by a new version: it may read the same file differently. */
async function readKnown(db: CatalogDb, { name }: Upstream): Promise<Known | undefined> {
  const row = await db.get(settingByName, { name: settingOf(name) });
  if (row === undefined) return undefined;
  const { by, ...known } = JSON.parse(Buffer.from(row.value).toString()) as Known & { by: string }; // Written below.
  return by === version ? known : undefined;
}

async function remember(db: CatalogDb, { name }: Upstream, known: Known): Promise<void> {
  await db.run(storeSetting, { name: settingOf(name), value: Buffer.from(JSON.stringify({ by: version, ...known })) });
}

function settingOf(name: string): string {
  return `pulled ${name}`;
}
