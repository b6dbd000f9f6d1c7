import { type Command, Option } from "commander";
import { type Account, createAccount, FIRST_PLAN, listAccounts, setAccount, subscriptions } from "../accounts/account.ts";
import { type Cli, type CommonOptions, command, commandGroup, withState } from "./command.ts";
import { instantOrNull, printResult, table } from "./output.ts";

export function accountsCommand(cli: Cli): Command {
  const list = command("list", "List accounts with their plans and subscriptions").action(async (options: CommonOptions) => {
    const accounts = (await withState(cli, options, listAccounts)).map(shown);
    printResult(cli, options, accounts, table(accounts, "No accounts yet. Create one with a key: fundfeed keys create --account NAME"));
  });

  const create = command("create", "Create an account with an active subscription")
    .argument("<name>", "name of the account")
    .option("--plan <plan>", "plan of the account", FIRST_PLAN)
    .action(async (name: string, options: CommonOptions & { plan: string }) => {
      const account = shown(await withState(cli, options, (db) => createAccount(db, { name, plan: options.plan }, cli.machine.now())));
      printResult(cli, options, account, table([account], ""));
    });

  const set = command("set", "Change an account's plan or subscription; a running server applies it at once")
    .argument("<name>", "name of the account")
    .option("--plan <plan>", "new plan")
    .addOption(new Option("--subscription <state>", "active, or inactive to refuse the account's keys").choices(subscriptions))
    .action(async (name: string, options: CommonOptions & { plan?: string; subscription?: string }) => {
      const { plan, subscription } = options;
      const change = { ...(plan === undefined ? {} : { plan }), ...(subscription === undefined ? {} : { subscription }) };
      const account = shown(await withState(cli, options, (db) => setAccount(db, name, change)));
      printResult(cli, options, account, table([account], ""));
    });

  return commandGroup("accounts", "Manage accounts", [list, create, set]);
}

function shown({ name, plan, subscription, created_at }: Account) {
  return { name, plan, subscription, created_at: instantOrNull(created_at) };
}
