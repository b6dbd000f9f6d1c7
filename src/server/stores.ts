/** The databases of a server: opens them, loads them into memory, and finds out whether their files were replaced. */
import type { CatalogDb } from "../../db/engine.ts";
import { type DatabaseLocation, locationName, openCatalogAt, openStateAt } from "../../db/open.ts";
import { NoData, OlderVersion } from "../../db/opening.ts";
import { Failure } from "../../db/reason.ts";
import { type Access, createAccess } from "../accounts/access.ts";
import { createReadModel, findCursorSecret, type ReadModel, readCursorSecret } from "../opportunities/read-model.ts";

/** How long the server's own small writes wait for another writer of state.db. Requests wait as long, because SQLite blocks the thread. */
const OWN_WRITES_WAIT_MS = 40;
/** How long a request waits for a connection and for a statement on PostgreSQL. A status turn waits longer: it may have to wait for an import's chunk. */
const REQUEST_LIMITS = { connectTimeoutMs: 3_000, statementTimeoutMs: 3_000 };
/** A paused server may be in the middle of a write on PostgreSQL. Commands, such as one that revokes a key, give up after 30 s. */
const IDLE_IN_WRITE = { idleInTransactionMs: 5_000 };
const STATUS_TURNS = { waitMs: 0, postgres: { connections: 2, ...IDLE_IN_WRITE } };
const CATALOG = { postgres: { connections: 10, ...REQUEST_LIMITS } };
const STATE = { waitMs: OWN_WRITES_WAIT_MS, postgres: { connections: 4, ...REQUEST_LIMITS, ...IDLE_IN_WRITE } };

/** A server cannot go on: its files are no longer those that it opened. */
export class FilesReplaced extends Failure {
  constructor(data: string) {
    super(`Cannot go on: the files in ${data} were replaced or removed; start the server again to serve what is there now`);
  }
}

export type Stores = {
  model: ReadModel;
  access: Access;
  /** A second connection to the catalog, which writes status turns. The read model notices its commits like those of another process. */
  statusDb: CatalogDb;
  /** Whether all open files are those in the data directory. Always true on PostgreSQL. */
  areIntact: () => boolean;
  close: () => Promise<void>;
};

type ServedLocation = DatabaseLocation & { readDatabase?: string | undefined };

/** Opens the databases and loads what a server keeps in memory. Throws if one cannot be opened or is no replica; nothing stays open then. */
export async function openStores(
  { readDatabase, ...location }: ServedLocation,
  now: number,
  notice: (text: string) => void,
): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const statusDb = opened.use(await openCatalogAt(location, now, { ...STATUS_TURNS, onMigrated: notice })); // First: it migrates the catalog, and a replica follows.
  const catalog = opened.use(
    readDatabase === undefined
      ? await openCatalogAt(location, now, CATALOG)
      : await openReplica({ ...location, database: readDatabase }, location, statusDb, now),
  );
  const state = opened.use(await openStateAt(location, now, { ...STATE, onMigrated: notice }));
  const stores = {
    model: await createReadModel(catalog),
    access: await createAccess(state),
    statusDb,
    areIntact: () => [statusDb, catalog, state].map((db) => db.checkFile()).every((each) => each === "intact"),
  };
  const closing = opened.move(); // Until here, a failure closes what was opened.
  return { ...stores, close: () => closing.disposeAsync() };
}

async function openReplica(from: DatabaseLocation, primary: DatabaseLocation, statusDb: CatalogDb, now: number): Promise<CatalogDb> {
  const refusal = (reason: string) =>
    new Failure(
      `Cannot read from ${locationName(from)}: --read-database must be a replica of --database, ${locationName(primary)}, and ${reason}`,
    );
  const notYet = () => refusal("has not caught up with it yet; try again");
  const replica = await openCatalogAt({ ...from, mode: "read" }, now, CATALOG).catch((error: unknown) => {
    throw error instanceof NoData || error instanceof OlderVersion ? notYet() : error;
  });
  try {
    // Each catalog creates its own cursor secret, and a replica has the one of its primary. Without one, it has not caught up or never will.
    const secret = await findCursorSecret(replica);
    if (secret === undefined) throw notYet();
    if (!Buffer.from(secret).equals(await readCursorSecret(statusDb))) throw refusal("holds another catalog");
    return replica;
  } catch (error) {
    await replica.close();
    throw error;
  }
}
