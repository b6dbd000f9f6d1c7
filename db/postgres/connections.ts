/** Bun's own pool sends settings as startup parameters, which PgBouncer refuses. So each connection is a pool of one that makes its settings. */
import { SQL } from "bun";
import { Failure } from "../reason.ts";

export type Connection = {
  sql: SQL;
  ready: Promise<void>;
  /** False once it is broken: Bun would open another one, without the settings. */
  isOpen: boolean;
  isTaken: boolean;
  pending: number;
  process: string | undefined;
};

/** The error of a statement on a connection that is no longer open. */
export function connectionClosed(): Error {
  return Object.assign(new Error("Connection closed"), { code: "ERR_POSTGRES_CONNECTION_CLOSED" });
}

export function createConnections(url: string, max: number, connectTimeoutMs: number, settings: Readonly<Record<string, string>>) {
  const all = new Set<Connection>();
  const waiting = new Set<() => void>();
  let isClosed = false;
  const wake = () => {
    for (const look of waiting) look();
    waiting.clear();
  };
  const forget = (connection: Connection) => {
    connection.isOpen = false;
    if (all.delete(connection)) wake();
  };
  const drop = (connection: Connection) => {
    forget(connection);
    void connection.sql.close({ timeout: 0 }).catch(() => undefined);
  };
  const openOne = (): Connection => {
    if (isClosed) throw connectionClosed();
    const sql = new SQL(url, {
      max: 1,
      connectionTimeout: connectTimeoutMs / 1000,
      connection: { application_name: "fundfeed" },
      onclose: () => forget(connection),
    });
    const connection: Connection = { sql, ready: Promise.resolve(), isOpen: true, isTaken: false, pending: 0, process: undefined };
    all.add(connection);
    connection.ready = prepare(connection).catch((error: unknown) => {
      drop(connection);
      throw error;
    });
    connection.ready.catch(() => undefined); // Callers await the connection, and get the error.
    return connection;
  };
  /** In transaction mode PgBouncer gives a process to another connection as soon as a statement ends. */
  const prepare = async (connection: Connection) => {
    const values = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value.replaceAll("'", "''")}', false)`);
    const [row] = await connection.sql.unsafe(`select ${[...values, PROCESS].join(", ")}`);
    requireOwn(connection, row.process);
    connection.process = row.process;
  };
  const requireOwn = (connection: Connection, process: string) => {
    const isShared = [...all].some((other) => other !== connection && other.process === process);
    if (isShared || (connection.process ?? process) !== process) throw new Failure(NO_SESSIONS);
  };
  /** The text has no values, so no statement is prepared on the process of others. */
  const requireSameProcess = async (connection: Connection) => {
    await connection.ready;
    const [row] = await connection.sql.unsafe(`select ${PROCESS}`);
    requireOwn(connection, row.process);
  };
  const isIdle = ({ isTaken, pending }: Connection) => !isTaken && pending === 0;
  const idle = () => [...all].find(isIdle) ?? (all.size < max ? openOne() : undefined);
  const next = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });

  const leastBusy = () => [...all].filter(({ isTaken }) => !isTaken).sort((one, other) => one.pending - other.pending)[0];
  /** For the caller alone, until `release`. */
  const take = async (signal: AbortSignal) => {
    for (;;) {
      const connection = idle() ?? leastBusy();
      if (connection === undefined) {
        await next(signal);
        continue;
      }
      connection.isTaken = true; // From here on it gets no more statements, so that no number of them keeps a transaction waiting.
      try {
        while (connection.pending > 0) await next(signal);
      } catch (error) {
        release(connection);
        throw error;
      }
      if (connection.isOpen) return connection;
    }
  };
  const release = (connection: Connection) => {
    connection.isTaken = false;
    wake();
  };
  return {
    /** On an idle one, else a new one, else the one with the fewest statements. */
    async share<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
      for (;;) {
        const connection = idle() ?? leastBusy();
        if (connection === undefined) {
          await next();
          continue;
        }
        connection.pending++;
        try {
          return await run(connection);
        } finally {
          if (--connection.pending === 0) wake();
        }
      }
    },
    take,
    release,
    drop,
    open: () => [...all],
    /** Throws if two connections do not each keep a process of their own. */
    async requireSessions(signal: AbortSignal) {
      if (max < 2) return;
      const [one, other] = [await take(signal), await take(signal)];
      try {
        // One after the other: a pool that lends its last server first lends both the same, and one that lends in turn gives `one` another.
        for (let round = 0; round < ROUNDS; round++) for (const each of [one, one, other]) await requireSameProcess(each);
      } finally {
        release(one);
        release(other);
      }
    },
    close: async () => {
      isClosed = true;
      const closing = [...all];
      closing.forEach(forget);
      await Promise.all(closing.map(({ sql }) => sql.close()));
    },
  };
}

/** With its server: behind a load balancer, connections may go to several. */
const PROCESS = "concat(pg_backend_pid(), ' ', inet_server_addr(), ' ', inet_server_port()) as process";

/** One round detects a pooler that nobody else uses. Beside others on a pool of two servers, the worst case, one in five rounds misses it. */
const ROUNDS = 6;

const NO_SESSIONS =
  "connections share their server processes: a pooler such as PgBouncer stands between, in transaction or statement mode. Set pool_mode = session, or connect to PostgreSQL itself";
