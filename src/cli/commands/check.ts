/** `fundfeed check`: check the databases and every rule that their records must follow. */
import { sql } from "drizzle-orm";
import type { CatalogDb, Engine, StateDb } from "../../../db/engine.ts";
import { NoData } from "../../../db/opening.ts";
import { postgresMigrations, schemas } from "../../../db/postgres/migrate.ts";
import { query } from "../../../db/query.ts";
import { reasonOf } from "../../../db/reason.ts";
import { migrations } from "../../../db/sqlite/migrate.ts";
import { fileNames } from "../../../db/sqlite/open.ts";
import { checkCatalog, type Fault } from "../../changes/check.ts";
import { oneLine } from "../../text/terminal-text.ts";
import type { CliCommand, CommonOptions } from "../command.ts";
import { recordReporter } from "../progress.ts";

/** The most faults that are listed for one file. The first ones show what happened; a million more would not. */
const FAULTS_MAX = 100;

type Found = { where: string; faults: Fault[]; older?: string };

export function checkCommand(command: CliCommand): CliCommand {
  return command.action(async (options: CommonOptions) => {
    const found = await findFaults(command, options);
    const faults = found.flatMap((each) => each.faults.slice(0, FAULTS_MAX));
    const hasMore = found.some((each) => each.faults.length > FAULTS_MAX);
    const lines = [
      ...found.flatMap(({ where, older }) =>
        older === undefined ? [] : [`${where}: ${older}; it was not migrated, and only its storage was checked`],
      ),
      ...faults.map(({ where, what }) => oneLine(`${where}: ${what}`)),
    ];
    if (hasMore) lines.push(`There are more; these are the first ${FAULTS_MAX} of a file`);
    const older = found.filter((each) => each.older !== undefined).map(({ where }) => where);
    if (faults.length === 0) lines.push(older.length === 0 ? "No problems found" : "No problems found in what was checked");
    command.print({ ok: faults.length === 0, faults, has_more: hasMore, not_migrated: older }, lines.join("\n"));
    if (faults.length > 0) command.cli.exitCode = 1;
  });
}

/** A database that cannot be opened is a fault. A missing one is not, as long as the other one exists. */
async function findFaults(command: CliCommand, options: CommonOptions): Promise<Found[]> {
  const { catalog, state } = options.database === undefined ? fileNames : schemas;
  const progress = recordReporter(command.machine, "checking");
  const results = await Promise.allSettled([
    faultsOf(
      catalog,
      command.withCatalog((db) => inspect(catalog, db, () => checkCatalog(db, FAULTS_MAX + 1, command.machine.now(), progress))),
    ),
    faultsOf(
      state,
      command.withState((db) => inspect(state, db, async () => [])),
    ),
  ]);
  const found = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [missing] = results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  if (found.length === 0) throw missing;
  return found;
}

async function faultsOf(where: string, work: Promise<Omit<Found, "where">>): Promise<Found> {
  try {
    return { where, ...(await work) };
  } catch (error) {
    if (error instanceof NoData) throw error;
    return { where, faults: [{ where, what: reasonOf(error) }] };
  }
}

/** In a database of an older version, only the storage is checked: this program does not know its tables. */
async function inspect(where: string, db: CatalogDb | StateDb, checkContent: () => Promise<Fault[]>): Promise<Omit<Found, "where">> {
  const damage = (await db.storageFaults()).map((what) => ({ where, what }));
  const { applied, known } = await findSchemaVersion(db);
  if (applied < known) return { faults: damage, older: `created by an older version of fundfeed (schema ${applied} of ${known})` };
  return { faults: damage.length > 0 ? damage : await checkContent() };
}

const countMigrations = query({}, () => sql<{ count: number }>`select count(*) as count from migrations`);

async function findSchemaVersion(db: Engine<"catalog" | "state">): Promise<{ applied: number; known: number }> {
  const all = db.dialect.name === "SQLite" ? migrations : postgresMigrations;
  return { applied: (await db.get(countMigrations))?.count ?? 0, known: all[db.name].length };
}
