/** Opens the databases, in the files of a data directory or in PostgreSQL. */
import type { CatalogDb, Engine, StateDb, WatchDb } from "./engine.ts";
import type { Mode, Opening } from "./opening.ts";
import { shownAddress } from "./postgres/address.ts";
import type { PostgresOptions } from "./postgres/open.ts";
import { type FileOpening, openCatalog, openState, openWatchFile } from "./sqlite/open.ts";

/** PostgreSQL if there is a `database`, a URL, otherwise files. */
export type DatabaseLocation = { data: string; database?: string | undefined; mode?: Mode | undefined };

type LocationOpening = Omit<FileOpening, "mode"> & { postgres?: Omit<PostgresOptions, keyof Opening> };

/** Throws an Error whose message is one sentence, without the password. */
export async function openCatalogAt(location: DatabaseLocation, now: number, opening?: LocationOpening): Promise<CatalogDb> {
  return openAt("catalog", openCatalog, location, now, opening);
}

export async function openStateAt(location: DatabaseLocation, now: number, opening?: LocationOpening): Promise<StateDb> {
  return openAt("state", openState, location, now, opening);
}

async function openAt<Name extends "catalog" | "state">(
  kind: Name,
  openFile: (directory: string, now: number, opening: FileOpening) => Engine<Name>,
  { data, database, mode = "create" }: DatabaseLocation,
  now: number,
  { postgres, ...files }: LocationOpening = {},
): Promise<Engine<Name>> {
  if (database === undefined) return openFile(data, now, { ...files, mode });
  const { openPostgres } = await import("./postgres/open.ts"); // Commands that work on files start without it.
  return openPostgres(kind, database, now, { ...postgres, mode, onMigrated: files.onMigrated });
}

/** Opens the catalog for one request: files anew, so that a restore can replace them; on PostgreSQL, requests under way share one pool. */
export function catalogPerRequest(location: DatabaseLocation, now: () => number): () => Promise<CatalogDb> {
  if (location.database === undefined) return () => openCatalogAt(location, now());
  let shared: { catalog: Promise<CatalogDb>; users: number } | undefined;
  return async () => {
    shared ??= { catalog: openCatalogAt(location, now()), users: 0 };
    const mine = shared;
    const forget = () => {
      if (shared === mine) shared = undefined;
    };
    mine.users++;
    const catalog = await mine.catalog.catch((error: unknown) => {
      forget();
      throw error;
    });
    const close = async () => {
      mine.users--;
      if (mine.users > 0) return;
      forget();
      await catalog.close();
    };
    return { ...catalog, close };
  };
}

/** The location for messages and logs, without user, password and parameters. */
export function locationName({ data, database }: DatabaseLocation): string {
  return database === undefined ? data : shownAddress(database);
}

/** Opens the watches of a directory. They are always a file: one program at a time runs the watches. */
export function openWatchesIn(directory: string, now: number, opening: FileOpening): WatchDb {
  return openWatchFile(directory, now, opening);
}
