/** A PostgreSQL server of the tests' own: throw-away, without fsync, on a free loopback port, from the programs that Debian installs. */

import { chownSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { openPostgresCatalog, openPostgresState } from "../../db/postgres/open.ts";
import { freePort } from "./free-port.ts";
import { postgresPrograms } from "./postgres-programs.ts";

const STARTS_WITHIN_MS = 30_000;

/** Trusts everybody who reaches its port, as long as the tests last; and orders texts as people do, unless a column says otherwise. */
export const INITDB = [
  "--username=fundfeed",
  "--auth=trust",
  "--encoding=UTF8",
  "--locale=C.UTF-8",
  "--locale-provider=icu",
  "--icu-locale=en-US",
  "--no-sync",
];

/**
 * Waits for our end, whatever it is, then ends the server and removes its directory. In the background of a shell that has gone: `bun test`
 * kills the children that it knows, and tells nobody that it ends.
 */
const CLEAN_UP = `
  trap "" INT
  {
    while kill -0 "$1"; do sleep 0.2; done
    server=$(head -n 1 "$0/data/postmaster.pid") && kill -QUIT "$server" && while kill -0 "$server"; do sleep 0.1; done
    rm -rf "$0"
  } &`;

const programs = postgresPrograms();
export const hasPostgres = programs !== undefined;
if (!hasPostgres) process.stderr.write("PostgreSQL is not installed: what needs it is skipped\n");

export type Server = {
  /** The URL of a database on it. */
  url: (database: string) => string;
  /** A database that nobody has used, with both schemas in it or with nothing; its URL. */
  freshDatabase: (options?: { empty?: boolean }) => Promise<string>;
  /** Runs a statement as the server's owner. */
  command: (statement: string) => Promise<Record<string, unknown>[]>;
  /** `fast` says goodbye to every connection, `immediate` is a crash. */
  stop: (mode: "fast" | "immediate") => Promise<void>;
  start: () => Promise<void>;
  /** Process ids of those who serve connections to a database. */
  backends: (database: string) => Promise<number[]>;
  /** A streaming replica of all databases, which cancels at once whatever keeps it from following. It ends with the process, too. */
  startReplica: () => Promise<Replica>;
};

export type Replica = Pick<Server, "url" | "command"> & {
  /** Waits until it has all that the primary has committed. */
  followed: () => Promise<void>;
};

let running: Promise<Server> | undefined;

/** The server of this test process, started at the first call. It ends with the process. */
export function postgresServer(): Promise<Server> {
  running ??= startServer();
  return running;
}

async function startServer(): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-postgres-"));
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, "data");
  const port = await freePort();
  const url = (database: string) => `postgres://fundfeed@127.0.0.1:${port}/${database}`;
  const made = Bun.spawnSync([...asOwner("initdb"), "--pgdata", data, ...INITDB]);
  if (made.exitCode !== 0) throw new Error(`initdb failed: ${made.stderr.toString()}`);

  let server: Bun.Subprocess | undefined;
  const start = async () => {
    server = startPostgres(data, port, []);
    await answering(url("postgres"));
  };
  const stop = async (mode: "fast" | "immediate") => {
    server?.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
    await server?.exited;
  };
  Bun.spawn(["sh", "-c", CLEAN_UP, directory, `${process.pid}`], { stdio: ["ignore", "ignore", "ignore"] });
  await start();

  const command = commandTo(url("postgres"));
  await command("create database migrated");
  await (await openPostgresCatalog(url("migrated"), 0)).close();
  await (await openPostgresState(url("migrated"), 0)).close();
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
  return Bun.spawn([...asOwner("postgres"), "-D", data, "-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])], {
    stdio: ["ignore", "ignore", "ignore"],
  });
}

function commandTo(url: string): Server["command"] {
  return async (statement) => {
    await using sql = new SQL(url, { max: 1 });
    return [...(await sql.unsafe(statement))];
  };
}

async function replicaOf(primary: string): Promise<Replica> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-replica-"));
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, "data");
  const copied = Bun.spawnSync([
    ...asOwner("pg_basebackup"),
    "--dbname",
    primary,
    "--pgdata",
    data,
    "--write-recovery-conf",
    "--no-sync",
    "--checkpoint=fast",
  ]);
  if (copied.exitCode !== 0) throw new Error(`pg_basebackup failed: ${copied.stderr.toString()}`);
  const port = await freePort();
  const url = (database: string) => `postgres://fundfeed@127.0.0.1:${port}/${database}`;
  Bun.spawn(["sh", "-c", CLEAN_UP, directory, `${process.pid}`], { stdio: ["ignore", "ignore", "ignore"] });
  startPostgres(data, port, ["hot_standby_feedback=off", "max_standby_streaming_delay=0"]);
  await answering(url("postgres"));
  const [here, there] = [commandTo(url("postgres")), commandTo(primary)];
  return {
    url,
    command: here,
    async followed() {
      const [row] = await there("select pg_current_wal_flush_lsn() as lsn");
      for (const deadline = Date.now() + STARTS_WITHIN_MS; ; await Bun.sleep(20)) {
        const [{ reached } = {}] = await here(`select pg_last_wal_replay_lsn() >= '${row?.lsn}' as reached`);
        if (reached) return;
        if (Date.now() > deadline) throw new Error("The replica does not follow");
      }
    },
  };
}

/** PostgreSQL refuses to run as root; Debian has a user for it. */
export const owner = process.getuid?.() === 0 ? idsOf("postgres") : undefined;

/** A program of PostgreSQL as that user runs it. */
export function asOwner(program: string): string[] {
  const user = owner === undefined ? [] : ["setpriv", `--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups"];
  return [...user, join(programs ?? "", program)];
}

function idsOf(user: string): { uid: number; gid: number } {
  const [uid, gid] = ["-u", "-g"].map((option) => Number(Bun.spawnSync(["id", option, user]).stdout.toString()));
  return { uid: uid ?? 0, gid: gid ?? 0 };
}

/** Waits until the server at `url` answers; throws what it said last when it does not within half a minute. */
export async function answering(url: string): Promise<void> {
  for (const deadline = Date.now() + STARTS_WITHIN_MS; ; await Bun.sleep(20)) {
    await using sql = new SQL(url, { max: 1, connectionTimeout: 2 });
    try {
      await sql.unsafe("select 1");
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
