/**
 * Throw-away PostgreSQL servers, from the programs that Debian installs: without fsync, on free loopback ports. All test files of a run share
 * one, with databases of their own.
 */
import { chownSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { openPostgres } from "../../db/postgres/open.ts";
import { freePort } from "./free-port.ts";
import { afterProcess, afterRun, oncePerRun } from "./once-per-run.ts";
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
      if pg_relation_size(format('%I.%I', t.s, t.n)::regclass) < 100000 then -- Small: this takes less time, until its dead rows are too many.
        execute format('delete from %I.%I', t.s, t.n);
      else
        begin
          execute format('truncate %I.%I', t.s, t.n);
        exception when feature_not_supported then execute format('delete from %I.%I', t.s, t.n); -- Others refer to it.
        end;
      end if;
      execute format('insert into %I.%I select * from pristine.%I', t.s, t.n, t.s || t.n);
    end loop;
    perform setval(format('%I.%I', schemaname, sequencename), start_value, false) from pg_sequences where last_value is not null;
    return true;
  end $$`;

const programs = postgresPrograms();
export const hasPostgres = programs !== undefined;
if (!hasPostgres) process.stderr.write("PostgreSQL is not installed: tests that need it are skipped\n");

export type PostgresServer = {
  url: (database: string) => string;
  /** Returns the name of a new role that may log in. Roles belong to the server, so test files must not share one. */
  freshRole: () => Promise<string>;
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

let shared: Promise<PostgresServer> | undefined;

/** Returns the server that all test files of this run share. The first caller starts it, and it ends with the run. */
export function postgresServer(): Promise<PostgresServer> {
  shared ??= oncePerRun("postgres", async (path) => {
    const place = await startServer();
    afterRun(CLEAN_UP, place.directory);
    writeFileSync(path, JSON.stringify(place));
  }).then((path) => serverAt(JSON.parse(readFileSync(path, "utf8"))));
  return shared;
}

/** Starts a server for a test that stops it or that copies it as a whole. It ends with this process. */
export async function ownPostgresServer(): Promise<PostgresServer> {
  const place = await startServer();
  afterProcess(process.pid, CLEAN_UP, place.directory);
  return serverAt(place);
}

let quiet: Promise<PostgresServer> | undefined;

/**
 * Returns a server of this test process alone, for tests that rewrite tables: a transaction that writes in any database of a server keeps
 * the old row versions of all of them.
 */
export function quietPostgresServer(): Promise<PostgresServer> {
  quiet ??= ownPostgresServer();
  return quiet;
}

type Place = { directory: string; port: number };

const dataOf = ({ directory }: Place) => join(directory, "data");
const urlOf = ({ port }: Place, database: string) => `postgres://fundfeed@127.0.0.1:${port}/${database}`;

async function aPlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-postgres-"));
  if (postgresUser !== undefined) chownSync(directory, postgresUser.uid, postgresUser.gid);
  return { directory, port: await freePort() };
}

async function startServer(): Promise<Place> {
  const [place, pristine] = [await aPlace(), await oncePerRun("postgres-data", makeData)];
  Bun.spawnSync(["cp", "-a", pristine, dataOf(place)]);
  await startPostgres(place);
  return place;
}

/** Makes the data directory of a server that is stopped. It has the database of which `freshDatabase` makes copies. */
async function makeData(path: string): Promise<void> {
  const place = await aPlace();
  await run("initdb", "--pgdata", dataOf(place), ...INITDB_OPTIONS);
  await startPostgres(place);
  await commandTo(urlOf(place, "postgres"))("create database migrated");
  const migrated = urlOf(place, "migrated");
  await (await openPostgres("catalog", migrated, 0)).close();
  await (await openPostgres("state", migrated, 0)).close();
  await commandTo(migrated)(RESTORE);
  await stopPostgres(place, "fast");
  renameSync(dataOf(place), path);
  rmSync(place.directory, { recursive: true });
}

function serverAt(place: Place): PostgresServer {
  const url = (database: string) => urlOf(place, database);
  const command = commandTo(url("postgres"));
  let count = 0;
  const freshName = (kind: string) => `${kind}_${process.pid}_${++count}`;
  return {
    url,
    command,
    async freshRole() {
      const name = freshName("role");
      await command(`create role ${name} login`);
      return name;
    },
    start: () => startPostgres(place),
    stop: (mode) => stopPostgres(place, mode),
    async freshDatabase({ empty = false } = {}) {
      const name = freshName("fresh");
      await command(`create database ${name} template ${empty ? "template0" : "migrated"} strategy file_copy`); // Half the time.
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

/** Starts the server of a place and waits until it answers. It is no child of this process, because other ones may need it longer. */
async function startPostgres(place: Place, more: readonly string[] = []): Promise<void> {
  const settings = [
    `port=${place.port}`,
    "fsync=off",
    "full_page_writes=off",
    "autovacuum=off",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "max_wal_size=128MB",
    ...more,
  ];
  const options = settings.map((setting) => `-c ${setting}`).join(" ");
  await run("pg_ctl", "start", "--pgdata", dataOf(place), "--log", join(place.directory, "log"), "--timeout", "240", "--options", options);
}

const stopPostgres = (place: Place, mode: "fast" | "immediate") => run("pg_ctl", "stop", "--pgdata", dataOf(place), "--mode", mode);

async function run(program: string, ...args: readonly string[]): Promise<void> {
  const child = Bun.spawn([...postgresCommand(program), ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const messages = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`${program} failed: ${messages}`);
}

function commandTo(url: string): PostgresServer["command"] {
  return async (statement) => {
    await using sql = new SQL(url, { max: 1 });
    return [...(await sql.unsafe(statement))];
  };
}

async function replicaOf(primary: string): Promise<PostgresReplica> {
  const place = await aPlace();
  await run("pg_basebackup", "--dbname", primary, "--pgdata", dataOf(place), "--write-recovery-conf", "--no-sync", "--checkpoint=fast");
  afterProcess(process.pid, CLEAN_UP, place.directory);
  await startPostgres(place, ["hot_standby_feedback=off", "max_standby_streaming_delay=0"]);
  const url = (database: string) => urlOf(place, database);
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
