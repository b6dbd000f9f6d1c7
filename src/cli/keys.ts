import type { Command } from "commander";
import { createKey, listKeys, revokeKey } from "../accounts/key.ts";
import { answer, type Cli, type CommonOptions, command, commandGroup, instantOrNull, table, withState } from "./command.ts";

export function keysCommand(cli: Cli): Command {
  const list = command("list", "Keys with their use; never the key itself").action(async (options: CommonOptions) => {
    const keys = (await withState(cli, options, (db) => listKeys(db, cli.machine.now()))).map((key) => ({
      ...key,
      created_at: instantOrNull(key.created_at),
      expires_at: instantOrNull(key.expires_at),
      revoked_at: instantOrNull(key.revoked_at),
      last_used_at: instantOrNull(key.last_used_at),
    }));
    const lines = keys.map((key) => ({
      id: key.id,
      account: key.account,
      label: key.label,
      ends_in: `…${key.last_four}`,
      created: key.created_at,
      last_used: key.last_used_at,
      today: key.used_today,
      revoked: key.revoked_at,
    }));
    answer(cli, options, keys, table(lines, "There is no key yet: fundfeed keys create --account NAME makes one"));
  });

  const create = command("create", "Create a key and print it, once, alone on standard output")
    .requiredOption("--account <name>", "whose key it is; created where it is missing")
    .option("--plan <plan>", "put the account on this plan")
    .option("--label <text>", "what the key is for")
    .action(async (options: CommonOptions & { account: string; plan?: string; label?: string }) => {
      const { account, plan, label } = options;
      const wanted = { account, ...(plan === undefined ? {} : { plan }), ...(label === undefined ? {} : { label }) };
      const created = await withState(cli, options, (db) => createKey(db, wanted, cli.machine.randomBytes, cli.machine.now()));
      answer(cli, options, created, created.key);
      if (!options.json)
        cli.machine.tell(`Key ${created.id} of account "${created.account}" on plan ${created.plan}. It is shown only now: keep it safe.`);
    });

  const revoke = command("revoke", "End a key for good, at once, also in a running server")
    .argument("<id>", "its id, as `keys list` shows it")
    .action(async (id: string, options: CommonOptions) => {
      await withState(cli, options, (db) => revokeKey(db, id, cli.machine.now()));
      answer(cli, options, { id, revoked: true }, `${id} is revoked`);
    });

  return commandGroup("keys", "API keys", [list, create, revoke]);
}
