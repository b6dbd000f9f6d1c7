/** `fundfeed diff`: show what was added, removed and changed between two moments, net. */
import type { Static } from "@sinclair/typebox";
import { type Severity, severities } from "../../events/event.ts";
import type { PrintedDifferences } from "../../feed/printers.ts";
import { describeFilter } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { eachNetChange } from "../../past/net-changes.ts";
import { timeInWords } from "../../text/date-in-words.ts";
import { withCommas } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { AS_OF, SINCE } from "../../text/moment.ts";
import { addOutputOptions, type ChangeFormat, changeFormats, printerFor, widthOf, withOutput } from "../change-output.ts";
import { type CliCommand, type CommonOptions, momentOption } from "../command.ts";
import { addFilterOptions, type FilterOptions, givenFilter, refuseEmptyRanges } from "../filter-options.ts";
import { wrapped } from "../output.ts";

type DiffOptions = CommonOptions & FilterOptions & { atLeast: Severity; format?: ChangeFormat; bom?: true; output?: string };

type Summary = Omit<Static<typeof PrintedDifferences>, "data" | "filter"> & { filter: object };

const formats = changeFormats.filter((format) => format !== "atom");

export function diffCommand(command: CliCommand): CliCommand {
  command
    .argument("<from>", "7d or 12h ago, yesterday, monday, a date, a timestamp, or all", momentOption(command, SINCE))
    .argument("[to]", "the same but all; now if it is left out", momentOption(command, AS_OF));
  return addFilterOptions(addOutputOptions(command, "changes", formats))
    .addHelpText("after", HELP)
    .examples("fundfeed diff 2026-03-01 2026-04-01 --agency NSF", "fundfeed diff monday --format md")
    .action(async (from: EpochMs | "all", to: EpochMs | undefined, options: DiffOptions) => {
      const [since, until] = [from === "all" ? 0 : from, to ?? command.machine.now()];
      if (since >= until)
        command.error(`error: ${formatInstant(since)} must be earlier than ${to === undefined ? "now" : formatInstant(to)}`);
      const format = options.format ?? (options.json ? "json" : "table");
      if (options.bom && format !== "csv") command.error("error: --bom needs --format csv");
      const given = givenFilter(options);
      refuseEmptyRanges(command, given, until);
      const least = severities.indexOf(options.atLeast);
      await command.withCatalog(async (db) => {
        const filter = await resolveFilter(db, given, "compare");
        const choice = { ...options, format };
        const printer = await printerFor(command, db, choice, { filter });
        const records = { added: 0, removed: 0, changed: 0 };
        await withOutput(command, choice, async (output) => {
          output.print(printer.begin ?? "");
          await eachNetChange(db, { since, until, filter }, async (entries) => {
            const shown = entries.filter(({ event }) => (severities as readonly string[]).indexOf(event.severity) >= least);
            const kinds = new Map(shown.map(({ event }) => [event.opportunity_id, kindOf[event.type] ?? ("changed" as const)]));
            for (const kind of kinds.values()) records[kind]++;
            output.print(printer.entries(shown));
            await output.stopIfAsked();
          });
          const words = describeFilter(given, until);
          const period = { from: formatInstant(since), to: formatInstant(until) };
          output.print(
            printer.end?.({ ...period, at_least: options.atLeast, filter: given, filter_in_words: words, records } satisfies Summary) ?? "",
          );
          const counts = Object.entries(records).map(([kind, count]) => `${withCommas(count)} ${kind}`);
          const foot = [
            `${counts.join(", ")} from ${timeInWords(period.from)} to ${timeInWords(period.to)}`,
            options.atLeast,
            ...words,
          ].join("; ");
          if (format === "csv" || format === "ndjson") command.machine.printError(foot);
          if (format === "table" || format === "md") {
            output.print(
              `${Object.values(records).some((count) => count > 0) ? "\n" : ""}${wrapped(foot, widthOf(command.machine, choice)).join("\n")}\n`,
            );
          }
          output.finish();
        });
      });
    });
}

const HELP = `
Each opportunity is compared as it was at both moments: a date that moved twice
is one change, and one that moved back is none. \`changes\` shows every step.
Opportunities are compared as they were stored, with those of other sources
beside them; filters compare them as they were at the second moment.`;

const kindOf: { readonly [type: string]: "added" | "removed" } = { opportunity_added: "added", opportunity_removed: "removed" };
