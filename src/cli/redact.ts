import type { Command } from "commander";
import { redactStored } from "../changes/redact.ts";
import { withStaging } from "../import/workplace.ts";
import { requireSources } from "../sources.ts";
import { answer, type Cli, type CommonOptions, command } from "./command.ts";
import { nameOf } from "./databases.ts";
import { sourceCodes } from "./export.ts";
import { withWorkplace } from "./import.ts";

export function redactCommand(cli: Cli): Command {
  return command("redact", "Erase the contacts, which are personal data, of stored records and of their whole history")
    .option("--source <code...>", "only these sources; repeated or with commas")
    .action(async (options: CommonOptions & { source?: string[] }) => {
      const { now, tell } = cli.machine;
      const codes = sourceCodes(options.source);
      const { redacted, dropped } = await withWorkplace(cli, options, async (place) => {
        const { db } = place;
        await requireSources(db, codes ?? [], "redact");
        if (!(await db.mayDropUnusedPages()))
          throw new Error(`Cannot redact ${nameOf(options)}: that rewrites tables, so it takes their owner's role`);
        // An import under way goes first; what a killed one left is gone.
        return withStaging(place, async () => ({ redacted: await redactStored(db, codes, now()), dropped: await db.dropUnusedPages() }));
      });
      const { records, events } = redacted;
      answer(
        cli,
        options,
        redacted,
        `Contacts erased from ${records.toLocaleString("en-US")} records and ${events.toLocaleString("en-US")} events`,
      );
      if (!dropped) tell("A reader kept the log from being emptied: it still holds them until a server stops or redact runs again.");
    });
}
