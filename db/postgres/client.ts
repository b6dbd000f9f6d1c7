/**
 * Bun's client for PostgreSQL, and what has to be known of it (1.4.5):
 *
 * - It waits without limit: a server that is stopped or out of reach without having said so would be waited for until the operating
 *   system gives up on the connection. Hence `answered`.
 * - With no connection free it sends a statement behind another one, and so a slow statement delays others: what may take long, or wait
 *   for a lock, belongs on a connection of its own (`bracketed`, `apart`).
 * - Connections that broke are replaced at the next statement; those that were under way, or sent before it noticed, fail.
 * - A number is sent as int4, int8 or float8 by its value, `null` and text as what the statement makes of them: `? is null` alone is an
 *   error, `cast(? as text) is null` is none. A text for a parameter of type json is encoded once more. A number with a fraction is rounded
 *   by a column of integers, half a surrogate pair is replaced: hence `requireStorable`.
 * - A statement without values goes by the simple protocol, so it may hold several; with values it may not.
 * - What changes a table outside of a transaction may go on with prepared statements, which are prepared anew; within one they fail.
 */
import { SQL } from "bun";
import { requireStorable, type Value } from "../engine.ts";
import { sqlStateOf } from "../reason.ts";
import { numbered } from "./placeholders.ts";

export type ClientOptions = {
  /** PostgreSQL's schema in which unqualified names are looked up. */
  schema: string;
  /** Connections at most; they are opened when they are needed. */
  connections?: number;
  /** How long a statement may take; the server gives up on it then, and a second later we on the server. */
  answersWithinMs?: number;
  /** How long a writer may be silent within a transaction. */
  silentInTransactionMs?: number;
  /** Lets PostgreSQL refuse every statement that would change something. */
  readOnly?: boolean;
};

export type Asking = {
  rows<Row>(statement: string, values: readonly Value[]): Promise<Row[]>;
  written(statement: string, values: readonly Value[]): Promise<number>;
};

export type Client = Asking & {
  /** `work` between `begin` and a commit, on a connection of its own. */
  bracketed<T>(begin: string, work: (connection: Asking) => Promise<T>): Promise<T>;
  /** A connection of its own until it is closed, whose statements take as long as they take. */
  apart(): Promise<Asking & { close: () => Promise<void> }>;
  close(): Promise<void>;
};

const CONNECTIONS = 10;
const ANSWERS_WITHIN_MS = 30_000;
/** A writing transaction whose program says nothing for so long is rolled back: it would keep every other writer waiting. */
const SILENT_IN_TRANSACTION_MS = 60_000;
const CONNECTS_WITHIN_MS = 5_000;

export function connect(url: string, options: ClientOptions): Client {
  const { schema, connections = CONNECTIONS, answersWithinMs = ANSWERS_WITHIN_MS, readOnly = false } = options;
  const { silentInTransactionMs = SILENT_IN_TRANSACTION_MS } = options;
  const open = () =>
    new SQL(url, {
      max: connections,
      connectionTimeout: Math.min(CONNECTS_WITHIN_MS, answersWithinMs) / 1000,
      connection: {
        application_name: "fundfeed",
        search_path: schema,
        statement_timeout: answersWithinMs,
        lock_timeout: answersWithinMs,
        idle_in_transaction_session_timeout: silentInTransactionMs,
        ...(readOnly && { default_transaction_read_only: "on" }),
      },
    });
  let pool = open();

  /** Leaves all connections of a silent server for new ones; whoever waits for it gets ERR_POSTGRES_CONNECTION_CLOSED. */
  async function answered<T>(answer: Promise<T>): Promise<T> {
    const asked = pool;
    const giveUp = setTimeout(() => {
      if (pool !== asked) return;
      pool = open();
      void asked.close({ timeout: 0 });
    }, answersWithinMs + 1000);
    try {
      return await answer;
    } finally {
      clearTimeout(giveUp);
    }
  }

  function askingOn(connection: () => SQL, limited: typeof answered = answered): Asking {
    const query = (statement: string, values: readonly Value[]) => {
      requireStorable(values);
      return connection().unsafe(numbered(statement), [...values]);
    };
    return {
      rows: async (statement, values) => inPlainValues(await limited(query(statement, values))),
      written: async (statement, values) => (await limited(query(statement, values))).affectedRows,
    };
  }

  return {
    ...askingTwice(askingOn(() => pool)),
    async bracketed(begin, work) {
      const connection = await pool.reserve({ signal: AbortSignal.timeout(answersWithinMs) });
      try {
        await answered(connection.unsafe(begin));
        const result = await work(askingOn(() => connection));
        // A statement that failed and was caught has aborted the transaction: the server answers the commit with a rollback, and no error.
        const { command } = await answered(connection.unsafe("commit"));
        if (command !== "COMMIT") throw new Error("Cannot commit: a statement of this transaction has failed");
        return result;
      } catch (error) {
        await answered(connection.unsafe("rollback")).catch(() => undefined); // Bun closes a connection that is released in a transaction.
        throw error;
      } finally {
        await connection.release();
      }
    },
    async apart() {
      const connection = await pool.reserve({ signal: AbortSignal.timeout(answersWithinMs) });
      const close = () => connection.close(); // And not given back: the next one would find it without its limit, or with a lock.
      try {
        await answered(connection.unsafe("set statement_timeout = 0"));
      } catch (error) {
        await close();
        throw error;
      }
      return { ...askingOn(() => connection, unlimited), close };
    },
    close: () => pool.close(),
  };
}

/** SQLSTATE: on a replica, a statement could still see rows that its primary has vacuumed away. */
const CONFLICT_WITH_RECOVERY = "40001";

/** A statement outside of a transaction that a replica cancelled is sent once more: it then reads a newer state. */
function askingTwice(asking: Asking): Asking {
  return {
    ...asking,
    rows: <Row>(statement: string, values: readonly Value[]) =>
      asking.rows<Row>(statement, values).catch((error: unknown) => {
        if (sqlStateOf(error) !== CONFLICT_WITH_RECOVERY) throw error;
        return asking.rows<Row>(statement, values);
      }),
  };
}

async function unlimited<T>(answer: Promise<T>): Promise<T> {
  return answer;
}

/** Types by their number in PostgreSQL's catalog: pg_type.dat. */
const [BOOL, INT8, NUMERIC] = [16, 20, 1700];

/** By the columns of a statement, which are the same object at each of its runs on a connection. */
const altered = new WeakMap<SQL.ResultColumn[], string[]>();

/** 64-bit integers come as text, and sums of them as decimal numbers. */
function inPlainValues<Row>(result: Row[] & SQL.ResultMetadata): Row[] {
  const columns = result.columns ?? [];
  let names = altered.get(columns);
  if (names === undefined) {
    names = columns.filter(({ type }) => type === INT8 || type === NUMERIC || type === BOOL).map(({ name }) => name);
    altered.set(columns, names);
  }
  for (const row of result as Record<string, unknown>[]) for (const name of names) row[name] = asInteger(row[name]);
  return [...result];
}

function asInteger(value: unknown): number | null {
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error(`Cannot read ${value}: it is no integer below 2^53`);
  return number;
}
