/** A catalog on which a test does something between two statements of the code under test. */
import type { CatalogDb } from "../../db/engine.ts";

/** Returns a connection to the same catalog that awaits `interrupt` before each statement outside a transaction. */
export function interruptedCatalog(db: CatalogDb, interrupt: () => Promise<void>): CatalogDb {
  return {
    ...db,
    get: (statement, ...values) => interrupt().then(() => db.get(statement, ...values)),
    all: (statement, ...values) => interrupt().then(() => db.all(statement, ...values)),
    each: (statement, values, take) => interrupt().then(() => db.each(statement, values, take)),
  };
}
