/** `fundfeed quality`: report how good the data of each source are. */
import { InvalidArgumentError } from "commander";
import { DUPLICATE, qualityOf, type SourceQuality } from "../../quality/report.ts";
import { dataRules } from "../../quality/rules.ts";
import { requireSources } from "../../sources/source.ts";
import { didYouMean } from "../../text/closest.ts";
import { counted, withCommas } from "../../text/in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import { AS_OF } from "../../text/moment.ts";
import { type CliCommand, type CommonOptions, momentOption, parserOfList, sourceCodes } from "../command.ts";
import { helpEntry, indented, table, toSecond } from "../output.ts";
import { recordReporter } from "../progress.ts";

const OTHERS = [
  { name: "fall", says: "share of a field fell by a tenth or more, or the live records by half" },
  { name: "rejected", says: "last import rejected something" },
  { name: "anything", says: "any of these" },
];
const failures = [...dataRules, DUPLICATE, ...OTHERS];

export const failureNames: readonly string[] = failures.map(({ name }) => name);

type QualityCommandOptions = CommonOptions & { source?: string[]; since?: EpochMs; failOn?: string[] };

export function qualityCommand(command: CliCommand): CliCommand {
  return command
    .option("--source <code...>", "only these sources; repeated or with commas", sourceCodes)
    .option(
      "--since <when>",
      "compare with what was stored then: 7d ago, monday, a date, a timestamp (default: before the last import)",
      momentOption(command, AS_OF),
    )
    .option("--fail-on <what...>", "exit with 1 if it is found; repeated or with commas", knownFailures)
    .addHelpText("after", HELP)
    .examples(
      "fundfeed quality",
      "fundfeed quality --source GRANTS_GOV --since 7d",
      "# for cron",
      "fundfeed quality --fail-on fall,rejected",
    )
    .action(async (options: QualityCommandOptions) => {
      const now = command.machine.now();
      const found = await command.withCatalog(async (db) => {
        const { source: sources, since } = options;
        if (sources !== undefined) await requireSources(db, sources, "report on");
        return qualityOf(db, { sources, since, now, report: recordReporter(command.machine, "reading") });
      });
      command.print(found, found.length === 0 ? "Nothing has been imported yet" : found.map(textOf).join("\n\n"));
      const reasons = (options.failOn ?? []).flatMap((name) =>
        found.filter((each) => has(each, name)).map(({ source }) => `${name} in ${source}`),
      );
      if (reasons.length === 0) return;
      command.machine.printError(`error: found ${reasons.join(", ")}`);
      command.cli.exitCode = 1;
    });
}

const knownFailures = parserOfList((text) => {
  const given = text.split(",").map((each) => each.trim());
  const unknown = given.find((each) => !failureNames.includes(each));
  if (unknown === undefined) return given;
  throw new InvalidArgumentError(`There is no "${unknown}"${didYouMean(unknown, failureNames)}. There are ${failureNames.join(", ")}.`);
});

function has({ findings, falls, last_import }: SourceQuality, what: string): boolean {
  const isRejected = (last_import?.rejected ?? 0) > 0;
  if (what === "fall") return falls.length > 0;
  if (what === "rejected") return isRejected;
  if (what === "anything") return findings.length > 0 || falls.length > 0 || isRejected;
  return findings.some(({ rule }) => rule === what);
}

function textOf({ source, records, live, linked, last_import, fill, findings, falls, compared }: SourceQuality): string {
  const facts = [
    `${counted(records, "record")}, ${withCommas(live)} not archived`,
    ...(linked === 0 ? [] : [`${withCommas(linked)} also in another source`]),
    ...(last_import === null || last_import.rejected === 0
      ? []
      : [`${withCommas(last_import.rejected)} of ${withCommas(last_import.read)} rejected by the last import`]),
  ];
  const found = findings.map((each) => ({ rule: each.rule, records: each.records, for_example: each.sample_ids[0] ?? "" }));
  const amount = (what: string, value: number) => (what === "records" ? withCommas(value) : percent(value));
  const fell = falls.map(({ what, before, now }) => `${what} fell from ${amount(what, before)} to ${amount(what, now)}`);
  const since = compared === null ? "" : ` since ${toSecond(compared.since)}`;
  const partly = fill.filter(({ share }) => share > 0 && share < 1).map(({ field, share }) => `${field} ${percent(share)}`);
  const never = fill.filter(({ share }) => share === 0).map(({ field }) => field);
  const fills =
    live === 0 ? [] : [`partly filled: ${partly.join(", ")}`, `never filled: ${never.join(", ")}`].filter((line) => !line.endsWith(": "));
  return [
    ...indented(facts.join("; "), " ".repeat(source.length + 2), `${source}  `),
    ...(found.length === 0 ? [] : [table(found, "").replace(/^/gm, "  ")]),
    ...fell.flatMap((line) => indented(`${line}${since}`, "  ")),
    ...fills.flatMap((line) => indented(line, "    ", "  ")),
  ].join("\n");
}

/** A share that is neither none nor all is never written as 0% or 100%. */
function percent(share: number): string {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share < 1 && share > 0.9994) return ">99.9%";
  return `${Math.round(share * 1000) / 10}%`;
}

const HELP = `
What is looked for, by the names that --fail-on takes:
${failures.map(({ name, says }) => helpEntry(name.padEnd(20), says)).join("\n")}

Shares of fields are those of the records that are not archived; fields that are
always filled are not listed. A record is read as it is now: its status is that
of this moment. --json has all fields and three records for each finding.`;
