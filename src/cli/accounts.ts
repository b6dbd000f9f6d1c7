import { type Command, Option } from "commander";
import { type Account, createAccount, FIRST_PLAN, listAccounts, setAccount, subscriptions } from "../accounts/account.ts";
import { answer, type Cli, type CommonOptions, command, commandGroup, instantOrNull, table, withState } from "./command.ts";

export function accountsCommand(cli: Cli): Command {
  const list = command("list", "Accounts, their plans and subscriptions").action(async (options: CommonOptions) => {
    const accounts = (await withState(cli, options, listAccounts)).map(shown);
    answer(cli, options, accounts, table(accounts, "There is no account yet: fundfeed keys create --account NAME makes one with a key"));
  });

  const create = command("create", "Create an account with an active subscription")
    .argument("<name>", "its name")
    .option("--plan <plan>", "its plan", FIRST_PLAN)
    .action(async (name: string, options: CommonOptions & { plan: string }) => {
      const account = shown(await withState(cli, options, (db) => createAccount(db, { name, plan: options.plan }, cli.machine.now())));
      answer(cli, options, account, table([account], ""));
    });

  const set = command("set", "Change an account's plan or subscription at once, also in a running server")
    .argument("<name>", "its name")
    .option("--plan <plan>", "its plan")
    .addOption(new Option("--subscription <state>", "without an active one its keys are refused").choices(subscriptions))
    .action(async (name: string, options: CommonOptions & { plan?: string; subscription?: string }) => {
      const { plan, subscription } = options;
      const change = { ...(plan === undefined ? {} : { plan }), ...(subscription === undefined ? {} : { subscription }) };
      const account = shown(await withState(cli, options, (db) => setAccount(db, name, change)));
      answer(cli, options, account, table([account], ""));
    });

  return commandGroup("accounts", "Accounts: who may call", [list, create, set]);
}

function shown({ name, plan, subscription, created_at }: Account) {
  return { name, plan, subscription, created_at: instantOrNull(created_at) };
}
