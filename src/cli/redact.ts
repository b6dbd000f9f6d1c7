import type { Command } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { reasonOf } from "../../db/reason.ts";
import { redactStored } from "../changes/redact.ts";
import { withStaging } from "../import/workplace.ts";
import { requireSources } from "../sources.ts";
import { answer, type Cli, type CommonOptions, command } from "./command.ts";
import { nameOf } from "./databases.ts";
import { sourceCodes } from "./export.ts";
import { withWorkplace } from "./import.ts";

/** How long a dump or another long read of a PostgreSQL is waited for. */
const WAIT_MS = 10 * 60_000;

export function redactCommand(cli: Cli): Command {
  return command("redact", "Erase the contacts, which are personal data, of stored records and of their whole history")
    .option("--source <code...>", "only these sources; repeated or with commas")
    .action(async (options: CommonOptions & { source?: string[] }) => {
      const { now, tell } = cli.machine;
      const codes = sourceCodes(options.source);
      const redacted = await withWorkplace(cli, options, async (place) => {
        const { db } = place;
        await requireSources(db, codes ?? [], "redact");
        if (!(await db.mayDropUnusedPages()))
          throw new Error(`Cannot redact ${nameOf(options)}: that rewrites tables, so it takes their owner's role`);
        // An import under way goes first; what a killed one left is gone.
        return withStaging(place, async () => ({ ...(await redactStored(db, codes, now())), complete: await dropUnusedPages(cli, db) }));
      });
      const { records, events, complete } = redacted;
      answer(
        cli,
        options,
        redacted,
        `Contacts erased from ${records.toLocaleString("en-US")} records and ${events.toLocaleString("en-US")} events`,
      );
      if (!complete) tell(options.database === undefined ? LEFT_IN_LOG : LEFT_IN_TABLES);
    });
}

const LEFT_IN_LOG = "A reader kept the log from being emptied: it still holds them until a server stops or redact runs again.";
const LEFT_IN_TABLES =
  "A dump, an export or another long read kept tables from being rewritten: their unused space still holds them until redact runs again when that has ended.";

async function dropUnusedPages({ machine }: Cli, db: CatalogDb): Promise<boolean> {
  const onWait = () => machine.tell("Contacts are erased. Waiting for a long read, such as a dump or an export, to end, to rewrite tables");
  try {
    return await db.dropUnusedPages({ forMs: WAIT_MS, onWait });
  } catch (error) {
    throw new Error(`Cannot rewrite what held the contacts, which are erased but for unused space; run redact again: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}
