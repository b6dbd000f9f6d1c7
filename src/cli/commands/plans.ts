/** `fundfeed plans list` and `fundfeed plans set`. */
import { listPlans, QUOTA_MAX, setPlan } from "../../accounts/plan.ts";
import { wholeNumber } from "../arguments.ts";
import type { Cli, CliCommand, CommonOptions } from "../command.ts";
import { withState } from "../databases.ts";
import { printResult, table } from "../output.ts";

export function listCommand(command: CliCommand, cli: Cli): CliCommand {
  return command.action(async (options: CommonOptions) => {
    const plans = await withState(cli, options, listPlans);
    printResult(cli, options, plans, table(plans, "No plans"));
  });
}

export function setCommand(setting: CliCommand, cli: Cli): CliCommand {
  setting
    .argument("<name>", "name of the plan")
    .option("--daily <n>", "requests per UTC day", wholeNumber(1, QUOTA_MAX))
    .option("--per-minute <n>", "requests per minute, which is also the largest burst", wholeNumber(1, QUOTA_MAX))
    .examples("fundfeed plans set partner --daily 50000 --per-minute 300");
  return setting.action(async (name: string, options: CommonOptions & { daily?: number; perMinute?: number }) => {
    if (options.daily === undefined && options.perMinute === undefined) setting.error("error: give --daily, --per-minute or both");
    const plan = await withState(cli, options, (db) => setPlan(db, { name, daily: options.daily, per_minute: options.perMinute }));
    printResult(cli, options, plan, table([plan], ""));
  });
}
