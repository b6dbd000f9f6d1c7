/** Where a command's databases are, what it may do to them, and how they are opened: the files of a data directory, or PostgreSQL. */
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { openCatalog, openState } from "../../db/open.ts";
import type { Mode, Opening } from "../../db/opening.ts";
import { shownAddress } from "../../db/postgres/address.ts";
import { openPostgresCatalog, openPostgresState, type PostgresOptions } from "../../db/postgres/open.ts";

/**
 * What each command may do to the databases that it opens: the one place that says so. `nothing` opens none of them. `copy` and `backup`
 * read what they copy; what they copy to is theirs to make, and so is what `restore` puts back.
 */
export const modes: Readonly<Record<string, Mode | "nothing">> = {
  serve: "create",
  import: "create",
  pull: "create",
  restore: "create",
  "sources add": "create",
  "plans set": "create",
  "accounts create": "create",
  "keys create": "create",

  refresh: "change",
  redact: "change",
  "sources remove": "change",
  "accounts set": "change",
  "keys rotate": "change",
  "keys revoke": "change",

  export: "read",
  explain: "read",
  copy: "read",
  "imports list": "read",
  "sources list": "read",
  "sources status": "read",
  "plans list": "read",
  "accounts list": "read",
  "keys list": "read",
  "keys usage": "read",

  backup: "inspect",
  check: "inspect",

  demo: "nothing",
  health: "nothing",
  openapi: "nothing",
  mirror: "nothing",
  completion: "nothing",
  version: "nothing",
};

/** By a command's words, such as "keys list". */
export function modeOf(words: string): Mode | undefined {
  const mode = modes[words];
  if (mode === undefined) throw new Error(`"${words}" is missing in the table of modes in src/cli/databases.ts`);
  return mode === "nothing" ? undefined : mode;
}

/** The PostgreSQL database at the URL `database` where there is one, otherwise the files in the directory `data`. */
export type Place = { data: string; database?: string | undefined; mode?: Mode | undefined };

/** What a server asks for: `waitMs` is how long a writer on files waits for another. */
export type PlaceOpening = Omit<Opening, "mode"> & { waitMs?: number; postgres?: Omit<PostgresOptions, keyof Opening> };

/** Throws an Error with one sentence, without the password. */
export async function openCatalogAt(place: Place, now: number, opening: PlaceOpening = {}): Promise<CatalogDb> {
  const { files, postgres } = openingsOf(place, opening);
  return place.database === undefined ? openCatalog(place.data, now, files) : openPostgresCatalog(place.database, now, postgres);
}

export async function openStateAt(place: Place, now: number, opening: PlaceOpening = {}): Promise<StateDb> {
  const { files, postgres } = openingsOf(place, opening);
  return place.database === undefined ? openState(place.data, now, files) : openPostgresState(place.database, now, postgres);
}

function openingsOf({ mode = "create" }: Place, { waitMs, postgres, onMigrated }: PlaceOpening) {
  return { files: { mode, onMigrated, ...(waitMs !== undefined && { waitMs }) }, postgres: { ...postgres, mode, onMigrated } };
}

/** For people and logs: without user, password and parameters. */
export function nameOf({ data, database }: Place): string {
  return database === undefined ? data : shownAddress(database);
}
