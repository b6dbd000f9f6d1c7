/** A PostgreSQL server for the benchmarks. Its data stays in the work directory for the next run, and it writes to disk as in production. */
import { chownSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "../tests/support/free-port.ts";
import { INITDB_OPTIONS, postgresCommand, postgresUser, waitForPostgres } from "../tests/support/postgres.ts";
import { workDirectory } from "./processes.ts";

/** PostgreSQL's defaults are for a small machine. docs/guides/postgres.md recommends lz4. */
const SETTINGS = [
  "shared_buffers=2GB",
  "max_wal_size=8GB",
  "default_toast_compression=lz4",
  "max_connections=300",
  "listen_addresses=127.0.0.1",
];

export type Postgres = {
  pid: number;
  url: (database: string) => string;
  /** Runs a statement in a database, by default in `postgres`, and returns its rows. */
  command: (statement: string, database?: string) => Promise<Record<string, unknown>[]>;
  stop: () => Promise<void>;
};

/** Starts the server on a free port, with the databases of earlier runs. */
export async function startPostgres(): Promise<Postgres> {
  const home = join(workDirectory, "postgres");
  const data = join(home, "data");
  mkdirSync(home, { recursive: true });
  if (postgresUser !== undefined) chownSync(home, postgresUser.uid, postgresUser.gid);
  if (!existsSync(data)) initialize(data);

  const port = await freePort();
  const settings = [...SETTINGS, "unix_socket_directories="].flatMap((setting) => ["-c", setting]);
  const server = Bun.spawn([...postgresCommand("postgres"), "-D", data, "-p", `${port}`, ...settings], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const url = (database: string) => `postgres://fundfeed@127.0.0.1:${port}/${database}`;
  await waitForPostgres(url("postgres"));
  return {
    pid: server.pid,
    url,
    async command(statement, database = "postgres") {
      await using sql = new SQL(url(database), { max: 1 });
      return [...(await sql.unsafe(statement))];
    },
    async stop() {
      server.kill("SIGINT");
      await server.exited;
    },
  };
}

function initialize(data: string): void {
  const unfinished = `${data}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const initdb = Bun.spawnSync([...postgresCommand("initdb"), "--pgdata", unfinished, ...INITDB_OPTIONS]);
  if (initdb.exitCode !== 0) throw new Error(`initdb failed: ${initdb.stderr}`);
  renameSync(unfinished, data);
}
