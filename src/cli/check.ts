import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { fileNames } from "../../db/open.ts";
import { reasonOf } from "../../db/reason.ts";
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

/** What is not there is not made, and a file that cannot be opened is a fault of that file alone. */
async function faultsOf(cli: Cli, options: CommonOptions): Promise<Fault[]> {
  const looks = {
    [fileNames.catalog]: () =>
      withCatalog(cli, options, async (db) => {
        const damage = firstOf(checkFile(db.sqlite, fileNames.catalog));
        return damage.length > 0 ? damage : firstOf(checkCatalog(db));
      }),
    [fileNames.state]: () => withState(cli, options, async ({ sqlite }) => firstOf(checkFile(sqlite, fileNames.state))),
  };
  const there = Object.entries(looks).filter(([name]) => existsSync(join(options.data, name)));
  if (there.length === 0) throw new Error(`Cannot check ${options.data}: it has neither ${Object.values(fileNames).join(" nor ")}`);
  const faults = await Promise.all(
    there.map(([name, look]) => look().catch((error: unknown): Fault[] => [{ where: name, what: reasonOf(error) }])),
  );
  return faults.flat().slice(0, SHOWN);
}

function firstOf(faults: Iterable<Fault>): Fault[] {
  const first: Fault[] = [];
  for (const fault of faults) {
    first.push(fault);
    if (first.length === SHOWN) break;
  }
  return first;
}
