/** Opens the catalog or the state in a PostgreSQL database. */
import type { Engine } from "../engine.ts";
import { cannotOpen, isReading, migrated, NoData, type Opening, olderVersion } from "../opening.ts";
import { Failure, reasonOf, sqlStateOf } from "../reason.ts";
import { isPostgresAddress, POSTGRES_ADDRESS, shownAddress } from "./address.ts";
import { type Client, type ClientOptions, connect } from "./client.ts";
import { postgresEngine } from "./engine.ts";
import { type Kind, migratePostgres, schemas, schemaVersionOf } from "./migrate.ts";

export type PostgresOptions = Omit<ClientOptions, "schema" | "readOnly"> & Opening;

const CURSOR_SECRET_BYTES = 32;

/** SQLSTATE of a migration in a schema that another program filled: a column is missing, or a table exists. */
const FOREIGN = /^(42703|42P07)$/;

/** `url` is postgres://user:password@host:port/database. Throws an Error whose message is one sentence, without the password. */
export async function openPostgres<Name extends Kind>(
  kind: Name,
  url: string,
  now: number,
  options: PostgresOptions = {},
): Promise<Engine<Name>> {
  const client = await open(url, kind, now, options);
  const isWriter = kind === "catalog" && !isReading(options.mode ?? "create");
  if (isWriter && (await client.rows("select 1 from settings where name = 'cursor_secret'", [])).length === 0) {
    const secret = crypto.getRandomValues(new Uint8Array(CURSOR_SECRET_BYTES));
    await client.execute("insert into settings (name, value) values ('cursor_secret', ?) on conflict (name) do nothing", [secret]);
  }
  return postgresEngine(client, kind);
}

async function open(url: string, kind: Kind, now: number, { mode = "create", onMigrated, ...options }: PostgresOptions): Promise<Client> {
  if (!isPostgresAddress(url)) throw new Failure(`Cannot open the database: its URL must be ${POSTGRES_ADDRESS}`);
  const name = shownAddress(url);
  let client: Client | undefined;
  try {
    client = connect(url, { schema: schemas[kind], readOnly: isReading(mode), ...options });
    await client.requireSessions(); // Before a statement is prepared, which another client of the pooler would meet.
    const [encoding] = await client.rows<{ server_encoding: string }>("show server_encoding", []);
    if (encoding?.server_encoding !== "UTF8") throw new Error(`its encoding is ${encoding?.server_encoding}, and must be UTF8`);
    const { applied, missing } = await schemaVersionOf(client, kind);
    if (mode !== "create" && applied === 0)
      throw new NoData(
        `no fundfeed data in ${name}; name the right database with --database or FUNDFEED_DATABASE, or make its tables with: fundfeed import`,
      );
    if (mode === "read" && missing > 0) throw olderVersion(applied, applied + missing);
    const changed = isReading(mode) ? [] : await migratePostgres(client, kind, now);
    for (const { schema, from, to } of changed) onMigrated?.(migrated(`${schema} in ${name}`, from, to));
    return client;
  } catch (error) {
    await client?.close();
    const whose = FOREIGN.test(sqlStateOf(error)) ? `its schemas ${Object.values(schemas).join(" and ")} must be fundfeed's own; ` : "";
    throw cannotOpen(name, whose + reasonOf(error), error);
  }
}
