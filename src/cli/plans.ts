import type { Command } from "commander";
import { listPlans, QUOTA_MAX, setPlan } from "../accounts/plan.ts";
import { wholeNumber } from "./arguments.ts";
import { type Cli, type CommonOptions, command, commandGroup, withState } from "./command.ts";
import { printResult, table } from "./output.ts";

export function plansCommand(cli: Cli): Command {
  const list = command("list", "List plans and their quotas").action(async (options: CommonOptions) => {
    const plans = await withState(cli, options, listPlans);
    printResult(cli, options, plans, table(plans, "No plans"));
  });

  const set = command("set", "Change a plan's quotas, which a running server applies at once, or create a plan with both quotas")
    .argument("<name>", "name of the plan")
    .option("--daily <n>", "requests per UTC day", wholeNumber(1, QUOTA_MAX))
    .option("--per-minute <n>", "requests per minute, which is also the largest burst", wholeNumber(1, QUOTA_MAX));
  set.action(async (name: string, options: CommonOptions & { daily?: number; perMinute?: number }) => {
    if (options.daily === undefined && options.perMinute === undefined) set.error("error: give --daily, --per-minute or both");
    const plan = await withState(cli, options, (db) => setPlan(db, { name, daily: options.daily, per_minute: options.perMinute }));
    printResult(cli, options, plan, table([plan], ""));
  });

  return commandGroup("plans", "Manage plans: requests per day and per minute", [list, set]);
}
