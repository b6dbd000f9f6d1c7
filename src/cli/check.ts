import type { Command } from "commander";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { NoData } from "../../db/opening.ts";
import { schemas } from "../../db/postgres/migrate.ts";
import { reasonOf } from "../../db/reason.ts";
import { fileNames } from "../../db/sqlite/open.ts";
import { findVersion } from "../../db/version.ts";
import { checkCatalog, type Fault } from "../changes/check.ts";
import { oneLine } from "../text/terminal-text.ts";
import { answer, type Cli, type CommonOptions, command, withCatalog, withState } from "./command.ts";

/** Faults shown and reported; the first few tell what happened, a million would not. */
const SHOWN = 100;

/** What was found in one file or schema. `older` says which version it is of where it is not this program's. */
type Found = { where: string; faults: Fault[]; older?: string };

export function checkCommand(cli: Cli): Command {
  return command(
    "check",
    "Check what is stored and every promise that can be told from the data, and change nothing; exit with 1 and say what is wrong",
  ).action(async (options: CommonOptions) => {
    const found = await findFaults(cli, options);
    const faults = found.flatMap((each) => each.faults).slice(0, SHOWN);
    const lines = [
      ...found.flatMap(({ where, older }) =>
        older === undefined ? [] : [`${where}: ${older}; not migrated, and only its storage was checked`],
      ),
      ...faults.map(({ where, what }) => oneLine(`${where}: ${what}`)),
    ];
    const older = found.filter((each) => each.older !== undefined).map(({ where }) => where);
    if (faults.length === 0) lines.push(older.length === 0 ? "Everything holds" : "Everything that was checked holds");
    answer(cli, options, { ok: faults.length === 0, faults, not_migrated: older }, lines.join("\n"));
    if (faults.length > 0) cli.exitCode = 1;
  });
}

/** What cannot be opened is a fault of that file or schema alone; a file that is missing is none while the other one is there. */
async function findFaults(cli: Cli, options: CommonOptions): Promise<Found[]> {
  const { catalog, state } = options.database === undefined ? fileNames : schemas;
  const looks = await Promise.allSettled([
    look(
      catalog,
      withCatalog(cli, options, (db) => inspect(catalog, db, () => checkCatalog(db, SHOWN, cli.machine.now()))),
    ),
    look(
      state,
      withState(cli, options, (db) => inspect(state, db, async () => [])),
    ),
  ]);
  const found = looks.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [missing] = looks.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  if (found.length === 0) throw missing;
  return found;
}

async function look(where: string, work: Promise<Omit<Found, "where">>): Promise<Found> {
  try {
    return { where, ...(await work) };
  } catch (error) {
    if (error instanceof NoData) throw error;
    return { where, faults: [{ where, what: reasonOf(error) }] };
  }
}

/** Only the storage of an older version can be checked: what its tables hold is for the program of that version to read. */
async function inspect(where: string, db: CatalogDb | StateDb, checkContent: () => Promise<Fault[]>): Promise<Omit<Found, "where">> {
  const damage = (await db.storageFaults()).map((what) => ({ where, what }));
  const { applied, known } = await findVersion(db);
  if (applied < known) return { faults: damage, older: `of an older version of fundfeed (schema ${applied} of ${known})` };
  return { faults: damage.length > 0 ? damage : await checkContent() };
}
