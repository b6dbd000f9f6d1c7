/** Where a command's databases are, and how they are opened: the files of a data directory, or PostgreSQL. */
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { openCatalog, openState } from "../../db/open.ts";
import { shownAddress } from "../../db/postgres/address.ts";
import { openPostgresCatalog, openPostgresState, type PostgresOptions } from "../../db/postgres/open.ts";

/** The PostgreSQL database at the URL `database` where there is one, otherwise the files in the directory `data`. */
export type Place = { data: string; database?: string | undefined };

/** What a server asks for: `waitMs` is how long a writer on files waits for another. */
export type Opening = { waitMs?: number; postgres?: PostgresOptions };

/** Throws an Error with one sentence, without the password. */
export async function openCatalogAt({ data, database }: Place, now: number, { waitMs, postgres }: Opening = {}): Promise<CatalogDb> {
  return database === undefined ? openCatalog(data, now, waitMs) : openPostgresCatalog(database, now, postgres);
}

export async function openStateAt({ data, database }: Place, now: number, { waitMs, postgres }: Opening = {}): Promise<StateDb> {
  return database === undefined ? openState(data, now, waitMs) : openPostgresState(database, now, postgres);
}

/** For people and logs: without user, password and parameters. */
export function nameOf({ data, database }: Place): string {
  return database === undefined ? data : shownAddress(database);
}
