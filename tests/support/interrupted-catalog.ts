/** A catalog on which a test does something between two statements of the code under test. */
import type { CatalogDb } from "../../db/engine.ts";
import { textOf } from "./sql.ts";

/** Returns a connection to the same catalog that awaits `interrupt` with the SQL of each statement outside a transaction before it runs. */
export function interruptedCatalog(db: CatalogDb, interrupt: (sql: string) => Promise<void>): CatalogDb {
  return {
    ...db,
    get: (statement, ...values) => interrupt(textOf(db, statement)).then(() => db.get(statement, ...values)),
    all: (statement, ...values) => interrupt(textOf(db, statement)).then(() => db.all(statement, ...values)),
    each: (statement, values, take) => interrupt(textOf(db, statement)).then(() => db.each(statement, values, take)),
  };
}
