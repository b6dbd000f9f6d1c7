/** The databases as a server holds them: opened, loaded into memory, and on files watched for being replaced. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { fileNames } from "../../db/open.ts";
import { type Access, createAccess } from "../accounts/access.ts";
import { createReadModel, findCursorSecret, type ReadModel, readCursorSecret } from "../opportunities/read-model.ts";
import { nameOf, openCatalogAt, openStateAt, type Place } from "./databases.ts";

/** How long the server's own small writes wait for another writer of the state's file: for that long it answers nobody. */
const OWN_WRITES_WAIT_MS = 40;
/** How long a request waits for a statement of PostgreSQL's. The clock waits longer: for an import's chunk. */
const ANSWERS_WITHIN_MS = 3_000;
/** PostgreSQL's connections for the clock and for the state; the catalogue has its client's own number. */
const CLOCK = { waitMs: 0, postgres: { connections: 2 } };
const CATALOG = { postgres: { answersWithinMs: ANSWERS_WITHIN_MS } };
const REPLICA = { postgres: { answersWithinMs: ANSWERS_WITHIN_MS, readOnly: true } };
const STATE = { waitMs: OWN_WRITES_WAIT_MS, postgres: { connections: 4, answersWithinMs: ANSWERS_WITHIN_MS } };

export type Stores = {
  model: ReadModel;
  access: Access;
  /** The clock writes through a connection of its own: what it commits is then seen like any other process's commit. */
  clock: CatalogDb;
  /** Whether other files bear the names by now; never on PostgreSQL. Throws when none do. */
  areReplaced: () => boolean;
  close: () => Promise<void>;
};

/** `readDatabase` is the URL of a replica of `database`, from which the catalogue is read. */
export type ServedPlace = Place & { readDatabase?: string | undefined };

export async function openStores({ readDatabase, ...place }: ServedPlace, now: number): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const keep = <Db extends CatalogDb | StateDb>(db: Db): Db => opened.adopt(db, (each) => each.close());
  const clock = keep(await openCatalogAt(place, now, CLOCK)); // First: it migrates what a replica then has.
  const replica = readDatabase === undefined ? undefined : { ...place, database: readDatabase };
  const catalog = keep(await openCatalogAt(replica ?? place, now, replica === undefined ? CATALOG : REPLICA));
  if (replica !== undefined)
    await requireFollowing(catalog, clock, `${nameOf(replica)}: --read-database must be a replica of --database, ${nameOf(place)}`);
  const state = keep(await openStateAt(place, now, STATE));
  const stores = {
    model: await createReadModel(catalog),
    access: await createAccess(state),
    clock,
    areReplaced: place.database === undefined ? watch(place.data) : () => false,
  };
  const closing = opened.move(); // Only now: what fails above closes what was opened.
  return { ...stores, close: () => closing.disposeAsync() };
}

/** By the cursor secret: each catalogue makes its own, and a replica has its primary's. Without one it has not followed, or never will. */
async function requireFollowing(replica: CatalogDb, primary: CatalogDb, wanted: string): Promise<void> {
  const secret = await findCursorSecret(replica);
  if (secret === undefined) throw new Error(`Cannot read from ${wanted}, and has not followed it yet; try again`);
  if (!Buffer.from(secret).equals(await readCursorSecret(primary)))
    throw new Error(`Cannot read from ${wanted}, and holds another catalogue`);
}

function watch(directory: string): () => boolean {
  const files = identityOf(directory);
  return () => identityOf(directory) !== files;
}

function identityOf(directory: string): string {
  return Object.values(fileNames)
    .map((name) => statSync(join(directory, name), { bigint: true }))
    .map(({ dev, ino }) => `${dev}:${ino}`)
    .join();
}
