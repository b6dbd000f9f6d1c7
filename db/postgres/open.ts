/** Opens the catalogue or the state in a PostgreSQL database, creating and migrating it where needed. */
import type { CatalogDb, StateDb } from "../engine.ts";
import { reasonOf, sqlStateOf } from "../reason.ts";
import { isPostgresAddress, POSTGRES_ADDRESS, shownAddress } from "./address.ts";
import { type Client, type ClientOptions, connect } from "./client.ts";
import { postgresEngine } from "./engine.ts";
import { type Kind, migratePostgres, requireMigrated, schemas } from "./migrate.ts";

/** `readOnly`: a replica, which others migrate. */
export type PostgresOptions = Omit<ClientOptions, "schema"> & { readOnly?: boolean };

const CURSOR_SECRET_BYTES = 32;

/** SQLSTATE of what a migration meets in a schema that somebody else has filled: a column that is missing, a table that is there. */
const FOREIGN = /^(42703|42P07)$/;

/** `url` is postgres://user:password@host:port/database. Throws an Error with one sentence, without the password. */
export async function openPostgresCatalog(url: string, now: number, options: PostgresOptions = {}): Promise<CatalogDb> {
  const client = await open(url, "catalog", now, options);
  if (!options.readOnly && (await client.rows("select 1 from settings where name = 'cursor_secret'", [])).length === 0) {
    const secret = crypto.getRandomValues(new Uint8Array(CURSOR_SECRET_BYTES));
    await client.written("insert into settings (name, value) values ('cursor_secret', ?) on conflict (name) do nothing", [secret]);
  }
  return postgresEngine(client, "catalog");
}

export async function openPostgresState(url: string, now: number, options: PostgresOptions = {}): Promise<StateDb> {
  return postgresEngine(await open(url, "state", now, options), "state");
}

async function open(url: string, kind: Kind, now: number, { readOnly, ...options }: PostgresOptions): Promise<Client> {
  if (!isPostgresAddress(url)) throw new Error(`Cannot open the database: its URL must be ${POSTGRES_ADDRESS}`);
  let client: Client | undefined;
  try {
    client = connect(url, { schema: schemas[kind], ...options });
    await requireUtf8(client);
    if (readOnly) await requireMigrated(client, kind);
    else await migratePostgres(client, kind, now);
    return client;
  } catch (error) {
    await client?.close();
    const whose = FOREIGN.test(sqlStateOf(error)) ? `its schemas ${Object.values(schemas).join(" and ")} must be fundfeed's own; ` : "";
    throw new Error(`Cannot open ${shownAddress(url)}: ${whose}${reasonOf(error)}`, { cause: error });
  }
}

async function requireUtf8(client: Client): Promise<void> {
  const [encoding] = await client.rows<{ server_encoding: string }>("show server_encoding", []);
  if (encoding?.server_encoding !== "UTF8") throw new Error(`its encoding is ${encoding?.server_encoding}, and must be UTF8`);
}
