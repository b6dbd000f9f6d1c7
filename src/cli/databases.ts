/** Where a command's databases are, and how they are opened: the files of a data directory, or PostgreSQL. */
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { openCatalog, openState } from "../../db/open.ts";
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
  if (database === undefined) return data;
  const { protocol, host, pathname } = new URL(database);
  return `${protocol}//${host}${pathname}`;
}

export const POSTGRES_ADDRESS = "an address such as postgres://fundfeed:password@db.example.org:5432/fundfeed";

export function isPostgresAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.host !== "" && url.pathname.length > 1;
}
