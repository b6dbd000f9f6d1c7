/** A throw-away PostgreSQL server for one test process: without fsync, on a free loopback port, from the programs that Debian installs. */
import { chownSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { openPostgresCatalog, openPostgresState } from "../../db/postgres/open.ts";
import { freePort } from "./free-port.ts";
import { afterProcess } from "./once-per-run.ts";
import { postgresPrograms } from "./postgres-programs.ts";

const TIMEOUT_MS = 30_000;

/**
 * Every local user may connect without a password, because the server ends with the tests. Texts have a linguistic order by default, so a
 * column that needs the order of bytes must say so.
 */
export const INITDB_OPTIONS = [
  "--username=fundfeed",
  "--auth=trust",
  "--encoding=UTF8",
  "--locale=C.UTF-8",
  "--locale-provider=icu",
  "--icu-locale=en-US",
  "--no-sync",
];

/** Shell that ends the server and removes its directory. */
const CLEAN_UP =
  'server=$(head -n 1 "$0/data/postmaster.pid") && kill -QUIT "$server" && while kill -0 "$server"; do sleep 0.1; done; rm -rf "$0"';

/**
 * A function that empties a database down to what its migrations put there, which takes a fraction of the time of making a new one. Returns
 * false if somebody changed its tables.
 */
const RESTORE = `
  create schema pristine;
  do $$ declare t record; begin
    for t in select schemaname s, tablename n from pg_tables where schemaname like 'fundfeed%' loop
      execute format('create table pristine.%I as table %I.%I', t.s || t.n, t.s, t.n);
    end loop;
  end $$;
  create function pristine.shape() returns text language sql as $$
    select string_agg(concat_ws(' ', oid, relname, relnatts, relhastriggers), ',' order by oid)
    from pg_class where relnamespace::regnamespace::text like 'fundfeed%'
  $$;
  create table pristine.shape as select pristine.shape() as shape;
  create function pristine.restore() returns boolean language plpgsql set session_replication_role = replica as $$
  declare t record; isFilled boolean; begin
    if pristine.shape() is distinct from (select shape from pristine.shape) then return false; end if;
    for t in select schemaname s, tablename n from pg_tables where schemaname like 'fundfeed%' loop
      execute format('select exists (select from %I.%I)', t.s, t.n) into isFilled;
      continue when not isFilled;
      begin
        execute format('truncate %I.%I', t.s, t.n);
      exception when feature_not_supported then execute format('delete from %I.%I', t.s, t.n); -- Others refer to it.
      end;
      execute format('insert into %I.%I select * from pristine.%I', t.s, t.n, t.s || t.n);
    end loop;
    perform setval(format('%I.%I', schemaname, sequencename), start_value, false) from pg_sequences where last_value is not null;
    return true;
  end $$`;

const programs = postgresPrograms();
export const hasPostgres = programs !== undefined;
if (!hasPostgres) process.stderr.write("PostgreSQL is not installed: tests that need it are skipped\n");

export type PostgresServer = {
  /** Returns the URL of a database. */
  url: (database: string) => string;
  /** Creates a database with both schemas, or an empty one, and returns its URL. */
  freshDatabase: (options?: { empty?: boolean }) => Promise<string>;
  /** Empties a database that `freshDatabase` made, as if it were new. Returns false if it cannot be used again: its tables were changed. */
  restoreDatabase: (url: string) => Promise<boolean>;
  /** Runs a statement as the server's owner, and returns its rows. */
  command: (statement: string) => Promise<Record<string, unknown>[]>;
  /** Stops the server: `fast` closes its connections first, `immediate` is a crash. */
  stop: (mode: "fast" | "immediate") => Promise<void>;
  /** Starts the stopped server again, on the same port. */
  start: () => Promise<void>;
  /** Returns the ids of the processes that serve connections to a database. */
  backends: (database: string) => Promise<number[]>;
  /** Starts a streaming replica of all databases, which ends with the process. It cancels every statement that blocks replay, without delay. */
  startReplica: () => Promise<PostgresReplica>;
};

export type PostgresReplica = Pick<PostgresServer, "url" | "command"> & {
  /** Waits until the replica has applied every commit of the primary. Throws after half a minute. */
  waitUntilCaughtUp: () => Promise<void>;
};

let running: Promise<PostgresServer> | undefined;

/** Returns the server of this test process, and starts it at the first call. It ends with the process. */
export function postgresServer(): Promise<PostgresServer> {
  running ??= startServer();
  return running;
}

async function startServer(): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-postgres-"));
  if (postgresUser !== undefined) chownSync(directory, postgresUser.uid, postgresUser.gid);
  const data = join(directory, "data");
  const port = await freePort();
  const url = (database: string) => `postgres://fundfeed@127.0.0.1:${port}/${database}`;
  const initdb = Bun.spawnSync([...postgresCommand("initdb"), "--pgdata", data, ...INITDB_OPTIONS]);
  if (initdb.exitCode !== 0) throw new Error(`initdb failed: ${initdb.stderr}`);

  let server: Bun.Subprocess | undefined;
  const start = async () => {
    server = startPostgres(data, port, []);
    await waitForPostgres(url("postgres"));
  };
  const stop = async (mode: "fast" | "immediate") => {
    server?.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
    await server?.exited;
  };
  afterProcess(process.pid, CLEAN_UP, directory);
  await start();

  const command = commandTo(url("postgres"));
  await command("create database migrated");
  await (await openPostgresCatalog(url("migrated"), 0)).close();
  await (await openPostgresState(url("migrated"), 0)).close();
  await commandTo(url("migrated"))(RESTORE);
  let count = 0;
  return {
    url,
    command,
    start,
    stop,
    async freshDatabase({ empty = false } = {}) {
      const name = `fresh_${++count}`;
      await command(`create database ${name} template ${empty ? "template0" : "migrated"}`);
      return url(name);
    },
    async restoreDatabase(url) {
      const [row] = await commandTo(url)("select pristine.restore() as is_restored");
      return row?.is_restored === true;
    },
    startReplica: () => replicaOf(url("postgres")),
    async backends(database) {
      const rows = await command(`select pid from pg_stat_activity where datname = '${database}'`);
      return rows.map(({ pid }) => Number(pid));
    },
  };
}

function startPostgres(data: string, port: number, more: readonly string[]): Bun.Subprocess {
  const settings = [
    "fsync=off",
    "full_page_writes=off",
    "autovacuum=off",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    ...more,
  ];
  return Bun.spawn([...postgresCommand("postgres"), "-D", data, "-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])], {
    stdio: ["ignore", "ignore", "ignore"],
  });
}

function commandTo(url: string): PostgresServer["command"] {
  return async (statement) => {
    await using sql = new SQL(url, { max: 1 });
    return [...(await sql.unsafe(statement))];
  };
}

async function replicaOf(primary: string): Promise<PostgresReplica> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-replica-"));
  if (postgresUser !== undefined) chownSync(directory, postgresUser.uid, postgresUser.gid);
  const data = join(directory, "data");
  const baseBackup = Bun.spawnSync([
    ...postgresCommand("pg_basebackup"),
    "--dbname",
    primary,
    "--pgdata",
    data,
    "--write-recovery-conf",
    "--no-sync",
    "--checkpoint=fast",
  ]);
  if (baseBackup.exitCode !== 0) throw new Error(`pg_basebackup failed: ${baseBackup.stderr}`);
  const port = await freePort();
  const url = (database: string) => `postgres://fundfeed@127.0.0.1:${port}/${database}`;
  afterProcess(process.pid, CLEAN_UP, directory);
  startPostgres(data, port, ["hot_standby_feedback=off", "max_standby_streaming_delay=0"]);
  await waitForPostgres(url("postgres"));
  const [command, primaryCommand] = [commandTo(url("postgres")), commandTo(primary)];
  return {
    url,
    command,
    async waitUntilCaughtUp() {
      const [row] = await primaryCommand("select pg_current_wal_flush_lsn() as lsn");
      for (const deadline = Date.now() + TIMEOUT_MS; ; await Bun.sleep(20)) {
        const [{ applied } = {}] = await command(`select pg_last_wal_replay_lsn() >= '${row?.lsn}' as applied`);
        if (applied) return;
        if (Date.now() > deadline) throw new Error("The replica has not caught up with the primary within half a minute");
      }
    },
  };
}

/** Debian's user for PostgreSQL, which refuses to run as root; `undefined` if the tests do not run as root. */
export const postgresUser = process.getuid?.() === 0 ? idsOf("postgres") : undefined;

/** Returns the command line of one of PostgreSQL's programs, run as that user. */
export function postgresCommand(program: string): string[] {
  const user =
    postgresUser === undefined ? [] : ["setpriv", `--reuid=${postgresUser.uid}`, `--regid=${postgresUser.gid}`, "--clear-groups"];
  return [...user, join(programs ?? "", program)];
}

function idsOf(user: string): { uid: number; gid: number } {
  const [uid, gid] = ["-u", "-g"].map((option) => Number(Bun.spawnSync(["id", option, user]).stdout.toString()));
  return { uid: uid ?? 0, gid: gid ?? 0 };
}

/** Waits until the server at `url` runs a statement. Throws its last error after half a minute. */
export async function waitForPostgres(url: string): Promise<void> {
  for (const deadline = Date.now() + TIMEOUT_MS; ; await Bun.sleep(20)) {
    await using sql = new SQL(url, { max: 1, connectionTimeout: 2 });
    try {
      await sql.unsafe("select 1");
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
