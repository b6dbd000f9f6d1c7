/** `fundfeed accounts list`, `fundfeed accounts create` and `fundfeed accounts set`. */
import { type Account, createAccount, DEFAULT_PLAN, listAccounts, setAccount, subscriptions } from "../../accounts/account.ts";
import type { CliCommand } from "../command.ts";
import { table, withInstants } from "../output.ts";

export function listCommand(command: CliCommand): CliCommand {
  return command.action(async () => {
    const accounts = (await command.withState(listAccounts)).map(shown);
    command.print(accounts, table(accounts, "No accounts yet. Create one with a key: fundfeed keys create --account NAME"));
  });
}

export function createCommand(command: CliCommand): CliCommand {
  return command
    .argument("<name>", "name of the account")
    .option("--plan <plan>", "plan of the account", DEFAULT_PLAN)
    .action(async (name: string, options: { plan: string }) => {
      const account = shown(await command.withState((db) => createAccount(db, { name, plan: options.plan }, command.machine.now())));
      command.print(account, table([account], ""));
    });
}

export function setCommand(command: CliCommand): CliCommand {
  return command
    .argument("<name>", "name of the account")
    .option("--plan <plan>", "new plan")
    .choice("--subscription <state>", "active, or inactive to refuse the account's keys", subscriptions)
    .examples('fundfeed accounts set "Acme Research" --subscription inactive')
    .action(async (name: string, options: { plan?: string; subscription?: string }) => {
      if (options.plan === undefined && options.subscription === undefined) command.error("error: give --plan, --subscription or both");
      const account = shown(await command.withState((db) => setAccount(db, name, options)));
      command.print(account, table([account], ""));
    });
}

function shown({ name, plan, subscription, created_at }: Account) {
  return withInstants({ name, plan, subscription, created_at });
}
