import { type Command, InvalidArgumentError, Option } from "commander";
import { createKey, listKeys, listUse, type NewKey, revokeKey, rotateKey } from "../accounts/key.ts";
import { formatInstant, parseStoredMs } from "../text/instant.ts";
import {
  answer,
  type Cli,
  type CommonOptions,
  command,
  commandGroup,
  duration,
  examples,
  instantOrNull,
  table,
  wholeNumber,
  withState,
} from "./command.ts";

const GRACE_MS = 24 * 3_600_000;
const USE_DAYS = 30;
const USE_DAYS_MAX = 3660;

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
      expires: key.expires_at,
      revoked: key.revoked_at,
    }));
    answer(cli, options, keys, table(lines, "There is no key yet: fundfeed keys create --account NAME makes one"));
  });

  const create = command("create", "Create a key and print it, once, alone on standard output")
    .requiredOption("--account <name>", "whose key it is; created where it is missing")
    .option("--plan <plan>", "put the account on this plan")
    .option("--label <text>", "what the key is for")
    .addOption(expiryOption(cli))
    .addHelpText(
      "after",
      examples(
        'fundfeed keys create --account "Acme Research" --plan starter --label "nightly sync"',
        'export FUNDFEED_KEY="$(fundfeed keys create --account me --expires 90d)"',
      ),
    )
    .action(async (options: CommonOptions & CreateOptions) => {
      const { account, plan, label, expires } = options;
      const wanted = {
        account,
        ...(plan === undefined ? {} : { plan }),
        ...(label === undefined ? {} : { label }),
        ...(expires === undefined ? {} : { expires_at: expires }),
      };
      const created = await withState(cli, options, (db) => createKey(db, wanted, cli.machine.randomBytes, cli.machine.now()));
      showOnce(cli, options, created);
    });

  const rotate = command("rotate", "Create a key in place of another and print it, once; the old one stays valid for a while")
    .argument("<id>", "the old key's id, as `keys list` shows it")
    .addOption(new Option("--grace <duration>", "for how long the old key stays valid").argParser(duration).default(GRACE_MS, "24h"))
    .addOption(expiryOption(cli))
    .action(async (id: string, options: CommonOptions & { grace: number; expires?: number }) => {
      const { machine } = cli;
      const terms = { graceMs: options.grace, ...(options.expires === undefined ? {} : { expires_at: options.expires }) };
      const rotated = await withState(cli, options, (db) => rotateKey(db, id, terms, machine.randomBytes, machine.now()));
      const expires_at = formatInstant(rotated.replaced.expires_at);
      showOnce(cli, options, { ...rotated, replaced: { id, expires_at } });
      if (!options.json) machine.printError(`The old key, ${id}, stops working at ${expires_at}.`);
    });

  const usage = command("usage", "Requests of each key and UTC day; a running server adds to them within a second")
    .argument("[id]", "only this key")
    .option("--days <n>", "how many days, today included", wholeNumber(1, USE_DAYS_MAX), USE_DAYS)
    .action(async (id: string | undefined, options: CommonOptions & { days: number }) => {
      const use = await withState(cli, options, (db) => listUse(db, options.days, id, cli.machine.now()));
      answer(cli, options, use, table(use, "There was no request in that time"));
    });

  const revoke = command("revoke", "End a key for good, at once, also in a running server")
    .argument("<id>", "its id, as `keys list` shows it")
    .action(async (id: string, options: CommonOptions) => {
      await withState(cli, options, (db) => revokeKey(db, id, cli.machine.now()));
      answer(cli, options, { id, revoked: true }, `${id} is revoked`);
    });

  return commandGroup("keys", "API keys: made, shown once, replaced, ended", [list, create, rotate, revoke, usage]);
}

type CreateOptions = { account: string; plan?: string; label?: string; expires?: number };

function showOnce(cli: Cli, options: CommonOptions & { expires?: number }, created: NewKey & { replaced?: object }): void {
  const end = options.expires === undefined ? undefined : formatInstant(options.expires);
  answer(cli, options, { ...created, ...(end !== undefined && { expires_at: end }) }, created.key);
  if (options.json) return;
  const { id, account, plan } = created;
  const until = end === undefined ? "" : ` until ${end}`;
  cli.machine.printError(`Key ${id} of account "${account}" on plan ${plan}${until}. It is shown only now: keep it safe.`);
}

function expiryOption({ machine }: Cli): Option {
  const parse = (text: string) => {
    const instant = /^\d+[a-z]$/.test(text) ? machine.now() + duration(text) : parseStoredMs(text);
    if (instant !== undefined) return instant;
    throw new InvalidArgumentError("It must be a time such as 90d, or an RFC 3339 timestamp with an offset such as 2027-01-31T17:00:00Z.");
  };
  return new Option("--expires <when>", "when the new key stops working: after a time such as 90d, or at a timestamp").argParser(parse);
}
