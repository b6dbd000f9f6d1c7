import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { fileNames } from "../../db/open.ts";
import { schemas } from "../../db/postgres/migrate.ts";
import { reasonOf } from "../../db/reason.ts";
import { checkCatalog, type Fault } from "../changes/check.ts";
import { oneLine } from "../terminal-text.ts";
import { answer, type Cli, type CommonOptions, command, withCatalog, withState } from "./command.ts";

/** Faults shown and reported; the first few tell what happened, a million would not. */
const SHOWN = 100;

export function checkCommand(cli: Cli): Command {
  return command(
    "check",
    "Check what is stored and every promise that can be told from the data; exit with 1 and say what is wrong",
  ).action(async (options: CommonOptions) => {
    const faults = await faultsOf(cli, options);
    const shown = faults.map(({ where, what }) => oneLine(`${where}: ${what}`)).join("\n");
    answer(cli, options, { ok: faults.length === 0, faults }, faults.length === 0 ? "Everything holds" : shown);
    if (faults.length > 0) cli.exitCode = 1;
  });
}

/** What is not there is not made, and what cannot be opened is a fault of that file or schema alone. */
async function faultsOf(cli: Cli, options: CommonOptions): Promise<Fault[]> {
  const { catalog, state } = options.database === undefined ? fileNames : schemas;
  const looks = {
    [catalog]: () =>
      withCatalog(cli, options, async (db) => {
        const damage = await storageFaults(db, catalog);
        return damage.length > 0 ? damage : checkCatalog(db, SHOWN, cli.machine.now());
      }),
    [state]: () => withState(cli, options, (db) => storageFaults(db, state)),
  };
  const there = Object.entries(looks).filter(([name]) => options.database !== undefined || existsSync(join(options.data, name)));
  if (there.length === 0) throw new Error(`Cannot check ${options.data}: it has neither ${Object.values(fileNames).join(" nor ")}`);
  const faults = await Promise.all(
    there.map(([name, look]) => look().catch((error: unknown): Fault[] => [{ where: name, what: reasonOf(error) }])),
  );
  return faults.flat().slice(0, SHOWN);
}

async function storageFaults(db: CatalogDb | StateDb, where: string): Promise<Fault[]> {
  return (await db.storageFaults()).map((what) => ({ where, what }));
}
