/** A real PgBouncer before a PostgreSQL server, on loopback. */
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { postgresUser, waitForPostgres } from "./postgres.ts";

/** Where Debian installs it, which is not on every user's path. */
const PROGRAM = "/usr/sbin/pgbouncer";
export const pgbouncerIsInstalled = existsSync(PROGRAM);

type Options = {
  /** How many connections to the server it lends. */
  servers?: number;
  /** Whether it lends them in turn. Otherwise it lends the last one first. */
  inTurn?: boolean;
};

/** Starts it before the database at `url`, and waits until it passes a statement on. It refuses to run as root. */
export async function startPgBouncer(
  url: string,
  mode: "session" | "transaction",
  { servers = 30, inTurn = false }: Options = {},
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { hostname, port, pathname } = new URL(url);
  const listenPort = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-pgbouncer-"));
  const file = join(directory, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port} user=fundfeed
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${servers}
server_round_robin = ${Number(inTurn)}
`,
  );
  if (postgresUser !== undefined) for (const path of [directory, file]) chownSync(path, postgresUser.uid, postgresUser.gid);
  const user =
    postgresUser === undefined ? [] : ["setpriv", `--reuid=${postgresUser.uid}`, `--regid=${postgresUser.gid}`, "--clear-groups"];
  const child = Bun.spawn([...user, PROGRAM, file], { stdio: ["ignore", "ignore", "ignore"] });
  const bounced = `postgres://fundfeed@127.0.0.1:${listenPort}${pathname}`;
  await waitForPostgres(bounced);
  return {
    url: bounced,
    stop: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(directory, { recursive: true });
    },
  };
}
