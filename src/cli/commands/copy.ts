/** `fundfeed copy`: copy everything from files to PostgreSQL. */
import { type BothDatabases, type Copied, type CopyProgress, copyDatabases } from "../../../db/copy.ts";
import { type DatabaseLocation, locationName, openCatalogAt, openStateAt } from "../../../db/open.ts";
import { CannotOpen } from "../../../db/opening.ts";
import { Failure, reasonOf } from "../../../db/reason.ts";
import type { Machine } from "../../runtime/machine.ts";
import { type CliCommand, type CommonOptions, requirePostgresAddress } from "../command.ts";
import { table } from "../output.ts";
import { progressReporter } from "../progress.ts";

export function copyCommand(copy: CliCommand): CliCommand {
  copy
    .argument("<to>", "URL of a new PostgreSQL database, or a new data directory; the password can also be in PGPASSWORD")
    .examples(
      "# the data directory into PostgreSQL, and back",
      "fundfeed copy postgres://fundfeed@db.example.org/fundfeed",
      "fundfeed copy --database postgres://db.example.org/fundfeed new-directory",
    );
  return copy.action(async (to: string, options: CommonOptions) => {
    const isAddress = /^postgres(ql)?:/.test(to); // Never a directory, even if it is not valid.
    const target: DatabaseLocation = { mode: "create", ...(isAddress ? { data: "", database: to } : { data: to }) };
    requirePostgresAddress(copy, "the target", target.database);
    if (options.database === undefined && target.database === undefined)
      copy.error("error: to copy a data directory to a data directory, use fundfeed backup");
    const [from, into] = [locationName(options), locationName(target)];
    const copied = await copyTo(copy.machine, options, target).catch((error: unknown) => {
      throw error instanceof CannotOpen ? error : new Failure(`Cannot copy ${from} to ${into}: ${reasonOf(error)}`, { cause: error });
    });
    const rows = Object.entries(copied).flatMap(([database, tables]) =>
      Object.entries(tables).map(([name, rows]) => ({ database, table: name, rows })),
    );
    copy.print({ from, to: into, ...copied }, `Copied ${from} to ${into}\n\n${table(rows, "")}`);
    copy.machine.printError("The copy contains key hashes and the cursor secret. Keep it as private as the original.");
  });
}

async function copyTo(machine: Machine, source: DatabaseLocation, target: DatabaseLocation): Promise<{ catalog: Copied; state: Copied }> {
  await using opened = new AsyncDisposableStack();
  const opening = { onMigrated: machine.printError };
  const open = async (location: DatabaseLocation): Promise<BothDatabases> => ({
    catalog: opened.use(await openCatalogAt(location, machine.now(), opening)),
    state: opened.use(await openStateAt(location, machine.now(), opening)),
  });
  const from = await open(source);
  const report = progressReporter(machine);
  const progress: CopyProgress = (name, done, total) => report({ step: `copying ${name}`, done, total, unit: "rows" });
  return await copyDatabases(from, await open(target), progress);
}
