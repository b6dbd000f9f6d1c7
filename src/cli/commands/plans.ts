/** `fundfeed plans list` and `fundfeed plans set`. */
import { listPlans, QUOTA_MAX, setPlan } from "../../accounts/account.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
import { table } from "../output.ts";

export function listCommand(command: CliCommand): CliCommand {
  return command.action(async () => {
    const plans = await command.withState(listPlans);
    command.print(plans, table(plans, "No plans"));
  });
}

export function setCommand(setting: CliCommand): CliCommand {
  setting
    .argument("<name>", "name of the plan")
    .option("--daily <n>", "requests per UTC day", wholeNumber(1, QUOTA_MAX))
    .option("--per-minute <n>", "requests per minute, which is also the largest burst", wholeNumber(1, QUOTA_MAX))
    .examples("fundfeed plans set partner --daily 50000 --per-minute 300");
  return setting.action(async (name: string, options: { daily?: number; perMinute?: number }) => {
    if (options.daily === undefined && options.perMinute === undefined) setting.error("error: give --daily, --per-minute or both");
    const plan = await setting.withState((db) => setPlan(db, { name, daily: options.daily, per_minute: options.perMinute }));
    setting.print(plan, table([plan], ""));
  });
}
