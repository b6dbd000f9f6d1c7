import type { Command } from "commander";
import { checkCatalog, checkFile, type Fault } from "../changes/check.ts";
import { answer, type Cli, type CommonOptions, command, withCatalog, withState } from "./command.ts";

/** Faults shown and reported; the first few tell what happened, a million would not. */
const SHOWN = 100;

export function checkCommand(cli: Cli): Command {
  return command("check", "Check the files and every promise that can be told from the data; exit with 1 and say what is wrong").action(
    async (options: CommonOptions) => {
      const faults = await faultsOf(cli, options);
      const shown = faults.map(({ where, what }) => `${where}: ${what}`).join("\n");
      answer(cli, options, { ok: faults.length === 0, faults }, faults.length === 0 ? "Everything holds" : shown);
      if (faults.length > 0) cli.exitCode = 1;
    },
  );
}

async function faultsOf(cli: Cli, options: CommonOptions): Promise<Fault[]> {
  const state = await withState(cli, options, async ({ sqlite }) => firstOf(checkFile(sqlite, "state.db")));
  const catalog = await withCatalog(cli, options, async (db) => {
    const damage = firstOf(checkFile(db.sqlite, "catalog.db"));
    return damage.length > 0 ? damage : firstOf(checkCatalog(db));
  });
  return [...catalog, ...state].slice(0, SHOWN);
}

function firstOf(faults: Iterable<Fault>): Fault[] {
  const first: Fault[] = [];
  for (const fault of faults) {
    first.push(fault);
    if (first.length === SHOWN) break;
  }
  return first;
}
