import type { Command } from "commander";
import { listPlans, QUOTA_MAX, setPlan } from "../accounts/plan.ts";
import { answer, type Cli, type CommonOptions, command, commandGroup, table, wholeNumber, withState } from "./command.ts";

export function plansCommand(cli: Cli): Command {
  const list = command("list", "Plans and their quotas").action(async (options: CommonOptions) => {
    const plans = await withState(cli, options, listPlans);
    answer(cli, options, plans, table(plans, "There is no plan"));
  });

  const set = command("set", "Change a plan's quotas at once, also in a running server; a new name is a new plan and needs both")
    .argument("<name>", "its name")
    .option("--daily <n>", "requests a day (UTC)", wholeNumber(1, QUOTA_MAX))
    .option("--per-minute <n>", "requests a minute, also the most at once", wholeNumber(1, QUOTA_MAX));
  set.action(async (name: string, options: CommonOptions & { daily?: number; perMinute?: number }) => {
    if (options.daily === undefined && options.perMinute === undefined) set.error("error: give --daily, --per-minute or both");
    const plan = await withState(cli, options, (db) => setPlan(db, { name, daily: options.daily, per_minute: options.perMinute }));
    answer(cli, options, plan, table([plan], ""));
  });

  return commandGroup("plans", "Plans: requests a day and a minute", [list, set]);
}
