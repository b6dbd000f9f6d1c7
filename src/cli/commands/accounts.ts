/** `fundfeed accounts list`, `fundfeed accounts create` and `fundfeed accounts set`. */
import { type Account, createAccount, DEFAULT_PLAN, listAccounts, setAccount, subscriptions } from "../../accounts/account.ts";
import type { Cli, CliCommand, CommonOptions } from "../command.ts";
import { withState } from "../databases.ts";
import { printResult, table, withInstants } from "../output.ts";

export function listCommand(command: CliCommand, cli: Cli): CliCommand {
  return command.action(async (options: CommonOptions) => {
    const accounts = (await withState(cli, options, listAccounts)).map(shown);
    printResult(cli, options, accounts, table(accounts, "No accounts yet. Create one with a key: fundfeed keys create --account NAME"));
  });
}

export function createCommand(command: CliCommand, cli: Cli): CliCommand {
  return command
    .argument("<name>", "name of the account")
    .option("--plan <plan>", "plan of the account", DEFAULT_PLAN)
    .action(async (name: string, options: CommonOptions & { plan: string }) => {
      const account = shown(await withState(cli, options, (db) => createAccount(db, { name, plan: options.plan }, cli.machine.now())));
      printResult(cli, options, account, table([account], ""));
    });
}

export function setCommand(command: CliCommand, cli: Cli): CliCommand {
  return command
    .argument("<name>", "name of the account")
    .option("--plan <plan>", "new plan")
    .choice("--subscription <state>", "active, or inactive to refuse the account's keys", subscriptions)
    .examples('fundfeed accounts set "Acme Research" --subscription inactive')
    .action(async (name: string, options: CommonOptions & { plan?: string; subscription?: string }) => {
      if (options.plan === undefined && options.subscription === undefined) command.error("error: give --plan, --subscription or both");
      const account = shown(await withState(cli, options, (db) => setAccount(db, name, options)));
      printResult(cli, options, account, table([account], ""));
    });
}

function shown({ name, plan, subscription, created_at }: Account) {
  return withInstants({ name, plan, subscription, created_at });
}
