import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { locationName } from "../../db/open.ts";
import { reasonOf } from "../../db/reason.ts";
import { fileNames } from "../../db/sqlite/open.ts";
import { type Redacted, redactStored, rehearseRedaction } from "../changes/redact.ts";
import { type ImportContext, withStaging } from "../import/context.ts";
import { filesWithRecords, withholdRecords } from "../import/rejects.ts";
import { dropDownloads } from "../pull/pull.ts";
import { upstreams } from "../pull/upstreams.ts";
import { requireSources } from "../sources/source.ts";
import { answer, type Cli, type CommonOptions, command, withCatalog } from "./command.ts";
import { sourceCodes } from "./export.ts";
import { withImportContext } from "./import.ts";

/** How long a dump or another long read of a PostgreSQL is waited for. */
const WAIT_MS = 10 * 60_000;

export function redactCommand(cli: Cli): Command {
  return command("redact", "Erase the contacts, which are personal data, of stored records and of their whole history")
    .option("--source <code...>", "only these sources; repeated or with commas")
    .option("--dry-run", "say what would be erased, which cannot be undone, and erase nothing")
    .action(async (options: CommonOptions & { source?: string[]; dryRun?: true }) => {
      const { now, printError } = cli.machine;
      const codes = sourceCodes(options.source);
      if (options.dryRun) return rehearse(cli, options, codes);
      const redacted = await withImportContext(cli, options, async (context) => {
        const { db } = context;
        await requireSources(db, codes ?? [], "redact");
        if (!(await db.mayVacuum()))
          throw new Error(`Cannot redact ${locationName(options)}: that rewrites tables, so it takes their owner's role`);
        // An import under way goes first; what a killed one left is gone.
        return withStaging(context, async () => {
          const stored = { ...(await redactStored(db, codes, now())), complete: await vacuum(cli, db) };
          await redactFiles(context);
          return stored;
        });
      });
      const { records, events, complete } = redacted;
      answer(cli, options, redacted, `Contacts erased from ${inWords({ records, events })}`);
      if (!complete) printError(options.database === undefined ? LEFT_IN_LOG : LEFT_IN_TABLES);
    });
}

async function rehearse(cli: Cli, options: CommonOptions, codes: readonly string[] | undefined): Promise<void> {
  const counted = await withCatalog(cli, { ...options, mode: "read" }, async (db) => {
    await requireSources(db, codes ?? [], "redact");
    return rehearseRedaction(db, codes);
  });
  answer(cli, options, counted, `Contacts would be erased from ${inWords(counted)}`);
  const files = options.database === undefined ? await filesWithRecords(options.data) : [];
  for (const file of files) cli.machine.printError(`${file} would keep line and reason of each rejected record, and not the record`);
}

function inWords({ records, events }: Redacted): string {
  return `${records.toLocaleString("en-US")} records and ${events.toLocaleString("en-US")} events`;
}

const LEFT_IN_LOG = "A reader kept the log from being emptied: it still holds them until a server stops or redact runs again.";
const LEFT_IN_TABLES =
  "A dump, an export or another long read kept tables from being rewritten: their unused space still holds them until redact runs again when that has ended.";

/** Files beside the catalog that may hold records as they came. They name no source, so all are meant. */
async function redactFiles(context: ImportContext): Promise<void> {
  const { directory, notify } = context;
  for (const file of await withholdRecords(directory)) notify(`${file} keeps line and reason of each rejected record, and not the record`);
  for (const upstream of upstreams) {
    if (!(await dropDownloads(context, upstream)))
      notify(`A pull of ${upstream.name} is running: what it has fetched is removed when it ends`);
  }
  for (const name of Object.values(fileNames)) rmSync(join(directory, `${name}.partial`), { force: true }); // Of a killed restore.
}

async function vacuum({ machine }: Cli, db: CatalogDb): Promise<boolean> {
  const onWait = () =>
    machine.printError("Contacts are erased. Waiting for a long read, such as a dump or an export, to end, to rewrite tables");
  try {
    return await db.vacuum({ forMs: WAIT_MS, onWait });
  } catch (error) {
    throw new Error(`Cannot rewrite what held the contacts, which are erased but for unused space; run redact again: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}
