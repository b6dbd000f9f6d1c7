/** Lets requests that share a thread take turns: one that held it for a while yields before its next statement. (E-170) */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";

const HELD_MAX_MS = 15;

type Clock = () => number;

let begun = 0;

async function letOthersGo(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  if (clock() - begun < HELD_MAX_MS) return;
  await nextTurn();
  begun = clock();
  signal?.throwIfAborted();
}

/** The catalog, taking turns, until the signal is aborted. Its connection must be of one request: transactions stay open meanwhile. */
export function takingTurns(catalog: CatalogDb, signal?: AbortSignal, clock: Clock = () => performance.now()): CatalogDb {
  return {
    ...catalog,
    ...statementsInTurn(catalog, clock, signal),
    readTransaction: (read) => catalog.readTransaction((sql) => read({ ...sql, ...statementsInTurn(sql, clock, signal) })),
  };
}

function statementsInTurn(sql: CatalogSql, clock: Clock, signal: AbortSignal | undefined): Pick<CatalogSql, "get" | "all" | "each"> {
  return {
    get: async (...statement) => {
      await letOthersGo(clock, signal);
      return sql.get(...statement);
    },
    all: async (...statement) => {
      await letOthersGo(clock, signal);
      return sql.all(...statement);
    },
    each: async (query, values, take) =>
      sql.each(query, values, async (rows) => {
        await letOthersGo(clock, signal);
        await take(rows);
      }),
  };
}
