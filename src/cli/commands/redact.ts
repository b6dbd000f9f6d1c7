/** `fundfeed redact`: erase contacts from records and their history. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CatalogDb } from "../../../db/engine.ts";
import { locationName } from "../../../db/open.ts";
import { Failure, reasonOf } from "../../../db/reason.ts";
import { fileNames } from "../../../db/sqlite/open.ts";
import { type Redacted, redactStored, rehearseRedaction } from "../../changes/redact.ts";
import { type ImportContext, withStaging } from "../../import/context.ts";
import { filesWithRecords, withholdRecords } from "../../import/rejects.ts";
import { dropDownloads } from "../../pull/pull.ts";
import { upstreams } from "../../pull/upstreams.ts";
import { requireSources } from "../../sources/source.ts";
import { counted } from "../../text/in-words.ts";
import { type CliCommand, type CommonOptions, sourceCodes } from "../command.ts";
import { withImportContext } from "../import-context.ts";
import { recordReporter } from "../progress.ts";

const WAIT_MS = 10 * 60_000;

type RedactOptions = CommonOptions & { source?: string[]; dryRun?: true };

export function redactCommand(command: CliCommand): CliCommand {
  return command
    .option("--source <code...>", "only these sources; repeated or with commas", sourceCodes)
    .option("--dry-run", "print what would be erased (erasing cannot be undone), and erase nothing")
    .examples("fundfeed redact --source SAM_GOV --dry-run")
    .action(async (options: RedactOptions) => {
      const { now, printError } = command.machine;
      const { source: codes } = options;
      if (options.dryRun) return rehearse(command, options);
      const redacted = await withImportContext(command, async (context) => {
        const { db } = context;
        await requireSources(db, codes ?? [], "redact");
        if (!(await db.mayVacuum()))
          throw new Failure(`Cannot redact ${locationName(options)}: it rewrites tables, which requires the role of their owner`);
        // Waits for a running import, and removes what a killed one left.
        return withStaging(context, async () => {
          const erased = await redactStored(db, codes, now(), recordReporter(command.machine, "reading"));
          command.machine.showProgress("");
          const stored = { ...erased, complete: await vacuum(command, db) };
          await redactFiles(context).catch((error: unknown) => {
            const rest = "contacts are erased from records and events, but files may still have some until redact runs again";
            throw new Failure(`Cannot redact the files beside the catalog: ${rest}: ${reasonOf(error)}`, { cause: error });
          });
          return stored;
        });
      });
      const { records, events, complete } = redacted;
      command.print(redacted, `Contacts erased from ${formatRedacted({ records, events })}`);
      if (!complete) printError(options.database === undefined ? LEFT_IN_LOG : LEFT_IN_TABLES);
    });
}

async function rehearse(command: CliCommand, { source: codes, ...options }: RedactOptions): Promise<void> {
  const counted = await command.withCatalog(
    async (db) => {
      await requireSources(db, codes ?? [], "redact");
      return rehearseRedaction(db, codes, recordReporter(command.machine, "reading"));
    },
    { ...options, mode: "read" },
  );
  command.print(counted, `Contacts would be erased from ${formatRedacted(counted)}`);
  const files = options.database === undefined ? await filesWithRecords(options.data) : [];
  for (const file of files)
    command.machine.printError(`${file} would keep the line and reason of each rejected record, but not the record`);
}

function formatRedacted({ records, events }: Redacted): string {
  return `${counted(records, "record")} and ${counted(events, "event")}`;
}

const LEFT_IN_LOG =
  "The write-ahead log still contains contacts, because a reader kept it from being emptied. Run redact again, or stop the servers.";
const LEFT_IN_TABLES =
  "Unused space of tables still contains contacts, because a dump, an export or another long read kept them from being rewritten. Run redact again when it has ended.";

/** Removes contacts from the files next to the catalog that may hold whole records. They do not name sources, so all files are treated. */
async function redactFiles(context: ImportContext): Promise<void> {
  const { directory, notify } = context;
  for (const file of await withholdRecords(directory))
    notify(`${file} keeps the line and reason of each rejected record, but not the record`);
  for (const upstream of upstreams) {
    if (!(await dropDownloads(context, upstream))) notify(`A pull of ${upstream.name} is running; its downloads are removed when it ends`);
  }
  for (const name of Object.values(fileNames)) rmSync(join(directory, `${name}.partial`), { force: true }); // Left by a killed restore.
}

async function vacuum({ machine }: CliCommand, db: CatalogDb): Promise<boolean> {
  const onWait = () =>
    machine.printError("Contacts are erased. Waiting for a long read, such as a dump or an export, to end before tables are rewritten");
  try {
    return await db.vacuum({ forMs: WAIT_MS, onWait });
  } catch (error) {
    throw new Failure(
      `Cannot rewrite the tables: contacts are erased, but remain in unused space until redact runs again: ${reasonOf(error)}`,
      {
        cause: error,
      },
    );
  }
}
