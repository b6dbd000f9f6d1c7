/**
 * Bun's client for PostgreSQL (1.4.5), with what it lacks: it waits without limit for a server that became unreachable, a statement waits for a
 * slow one on its connection, and fractions in integer columns and half surrogate pairs are altered. PostgreSQL infers types: `? is null` alone
 * is an error, `cast(? as text) is null` is not, and a text for json is encoded again. Only a text without values may have several statements.
 * If a table changes, statements that were prepared fail inside of a transaction.
 */
import type { SQL } from "bun";
import { Failure, sqlStateOf } from "../reason.ts";
import type { Value } from "../value.ts";
import { type Connection, connectionClosed, createConnections } from "./connections.ts";

export type ClientOptions = {
  schema: string;
  connections?: number;
  connectTimeoutMs?: number;
  /** The server cancels a statement then; a second later the client gives up on the server. */
  statementTimeoutMs?: number;
  idleInTransactionMs?: number;
  readOnly?: boolean;
};

export type Executor = {
  rows<Row>(statement: string, values: readonly Value[]): Promise<Row[]>;
  execute(statement: string, values: readonly Value[]): Promise<number>;
};

export type Client = ReturnType<typeof connect>;

/** A command uses two to four at a time. Each costs PostgreSQL some 4 ms. */
const CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 30_000;
/** One that is idle for longer would keep every other writer waiting. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const CONNECT_TIMEOUT_MS = 5_000;

async function send(connection: Connection, statement: string, values: readonly Value[] = []) {
  await connection.ready;
  if (!connection.isOpen) throw connectionClosed();
  return await connection.sql.unsafe(numbered(statement), [...values]);
}

function executorOf(run: (statement: string, values: readonly Value[]) => ReturnType<typeof send>): Executor {
  return {
    rows: async (statement, values) => withIntegers(await run(statement, values)),
    execute: async (statement, values) => (await run(statement, values)).affectedRows,
  };
}

/** Connects to a database at the first statement. */
export function connect(url: string, options: ClientOptions) {
  const { schema, connections = CONNECTIONS, statementTimeoutMs = STATEMENT_TIMEOUT_MS, readOnly = false } = options;
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, idleInTransactionMs = IDLE_IN_TRANSACTION_MS } = options;
  const pool = createConnections(url, connections, connectTimeoutMs, {
    search_path: schema,
    statement_timeout: `${statementTimeoutMs}`,
    lock_timeout: `${statementTimeoutMs}`,
    idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
    ...(readOnly && { default_transaction_read_only: "on" }),
  });
  /** Another statement may use a connection until its limit. */
  const patience = () => AbortSignal.timeout(Math.max(connectTimeoutMs, statementTimeoutMs));

  /** Drops all connections to a server that does not respond. */
  async function withDeadline<T>(response: Promise<T>): Promise<T> {
    const asked = pool.open();
    const giveUp = setTimeout(() => asked.forEach(pool.drop), statementTimeoutMs + 1000);
    try {
      return await response;
    } finally {
      clearTimeout(giveUp);
    }
  }

  const onAny = executorOf((...sent) => withDeadline(pool.share((connection) => send(connection, ...sent))));
  return {
    ...onAny,
    /** Sends a statement again that a replica cancelled. It then reads a newer state. */
    rows: <Row>(statement: string, values: readonly Value[]) =>
      onAny.rows<Row>(statement, values).catch((error: unknown) => {
        if (sqlStateOf(error) !== CONFLICT_WITH_RECOVERY) throw error;
        return onAny.rows<Row>(statement, values);
      }),
    /** Runs `work` between `begin` and a commit, on its own connection. */
    async inTransaction<T>(begin: string, work: (connection: Executor) => Promise<T>): Promise<T> {
      const connection = await pool.take(patience());
      try {
        await withDeadline(send(connection, begin));
        const result = await work(executorOf((...sent) => withDeadline(send(connection, ...sent))));
        // If a statement failed and the error was caught, the server rolls back at the commit without an error.
        const { command } = await withDeadline(send(connection, "commit"));
        if (command !== "COMMIT") throw new Failure("Cannot commit: a statement of this transaction has failed");
        return result;
      } catch (error) {
        await withDeadline(send(connection, "rollback")).catch(() => pool.drop(connection));
        throw error;
      } finally {
        pool.release(connection);
      }
    },
    async dedicated() {
      const connection = await pool.take(patience());
      const close = async () => pool.drop(connection); // Not released: its next user would find it without a time limit, or with a lock.
      try {
        await withDeadline(send(connection, "set statement_timeout = 0"));
      } catch (error) {
        await close();
        throw error;
      }
      return { ...executorOf((...sent) => send(connection, ...sent)), close, [Symbol.asyncDispose]: close };
    },
    /** Throws if a pooler stands between that gives a connection to others between two statements. */
    requireSessions: () => pool.requireSessions(patience()),
    close: pool.close,
  };
}

/** A replica cancelled a statement, because its primary vacuumed rows that it could see. */
const CONFLICT_WITH_RECOVERY = "40001";

const [BOOL, INT8, NUMERIC] = [16, 20, 1700];

/** Columns to convert, by the list of columns: the same object at each run of a statement on a connection. */
const integerColumns = new WeakMap<SQL.ResultColumn[], string[]>();

/** Converts 64-bit integers, which arrive as text, their sums, which arrive as decimals, and booleans. */
function withIntegers<Row>(result: Row[] & SQL.ResultMetadata): Row[] {
  const names = integerColumns.getOrInsertComputed(result.columns ?? [], (columns) =>
    columns.filter(({ type }) => type === INT8 || type === NUMERIC || type === BOOL).map(({ name }) => name),
  );
  for (const row of result as Record<string, unknown>[]) for (const name of names) row[name] = asInteger(row[name]);
  return [...result];
}

function asInteger(value: unknown): number | null {
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Failure(`Cannot read ${value}: it is not an integer below 2^53`);
  return number;
}

/** Replaces `?` by `$1`, `$2` and so on, outside of strings, quoted names and comments. JSON operators that contain `?` cannot be used. */
export function numbered(statement: string): string {
  return translated.getOrInsertComputed(statement, () => {
    let count = 0;
    return statement.replace(SKIPPED_OR_PLACEHOLDER, (token) => (token === "?" ? `$${++count}` : token));
  });
}

const SKIPPED_OR_PLACEHOLDER = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\?/gs;

const translated = new Map<string, string>();
