/** Lets requests that share a thread take turns: a request that has held it for a while lets the others go on before its next statement. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";

/** A page of few records takes as long. */
const HELD_MAX_MS = 15;

let begun = 0;

async function letOthersGo(): Promise<void> {
  if (performance.now() - begun < HELD_MAX_MS) return;
  await nextTurn();
  begun = performance.now();
}

/** The catalog, which takes turns at each statement. Its connection must be that of one request, as transactions stay open meanwhile. */
export function takingTurns(catalog: CatalogDb): CatalogDb {
  return {
    ...catalog,
    ...statementsInTurn(catalog),
    readTransaction: (read) => catalog.readTransaction((sql) => read({ ...sql, ...statementsInTurn(sql) })),
  };
}

function statementsInTurn(sql: CatalogSql): Pick<CatalogSql, "get" | "all" | "each"> {
  return {
    get: async (...statement) => {
      await letOthersGo();
      return sql.get(...statement);
    },
    all: async (...statement) => {
      await letOthersGo();
      return sql.all(...statement);
    },
    each: async (query, values, take) =>
      sql.each(query, values, async (rows) => {
        await letOthersGo();
        await take(rows);
      }),
  };
}
