/** `fundfeed keys list`, `fundfeed keys create`, `fundfeed keys rotate`, `fundfeed keys revoke` and `fundfeed keys usage`. */
import { Option } from "commander";
import { DEFAULT_PLAN } from "../../accounts/account.ts";
import { createKey, isExpired, type KeyListing, listKeys, listUse, type NewKey, revokeKey, rotateKey } from "../../accounts/key.ts";
import { counted } from "../../text/in-words.ts";
import { DAY_MS, type EpochMs, formatInstant, parseStoredMs } from "../../text/instant.ts";
import { AHEAD } from "../../text/moment.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { type CliCommand, type CommonOptions, durationMs, momentOption, wholeNumber } from "../command.ts";
import { indented, table, toSecond, withInstants } from "../output.ts";

const GRACE_MS = DAY_MS;
const USE_DAYS = 30;
const USE_DAYS_MAX = 3660;
const STATE_WIDTH = 7;

export function listCommand(command: CliCommand): CliCommand {
  return command.action(async () => {
    const now = command.machine.now();
    const keys = (await command.withState((db) => listKeys(db, now))).map(withInstants);
    const text = keys.map((key) => entryOf(key, now)).join("\n");
    command.print(keys, text === "" ? "No keys yet. Create one: fundfeed keys create --account NAME" : text);
  });
}

export function createCommand(command: CliCommand): CliCommand {
  return command
    .requiredOption("--account <name>", "account of the key; created if it is missing")
    .option("--plan <plan>", `put the account on this plan (default for a new account: ${DEFAULT_PLAN})`)
    .option("--label <text>", "what the key is for")
    .addOption(expiryOption(command))
    .examples(
      'fundfeed keys create --account "Acme Research" --plan starter --label nightly',
      'export FUNDFEED_KEY="$(fundfeed keys create --account me --expires 90d)"',
    )
    .action(async (options: CommonOptions & { account: string; plan?: string; label?: string; expires?: number }) => {
      const wanted = { ...options, expires_at: options.expires };
      const created = await command.withState((db) => createKey(db, wanted, command.machine.randomBytes, command.machine.now()));
      showOnce(command, options, created);
    });
}

export function rotateCommand(command: CliCommand): CliCommand {
  return command
    .argument("<id>", "id of the old key, as `keys list` shows it")
    .addOption(new Option("--grace <duration>", "how long the old key stays valid").argParser(durationMs).default(GRACE_MS, "24h"))
    .addOption(expiryOption(command))
    .examples("fundfeed keys rotate key_j0NwyNJ3DU33 --grace 7d")
    .action(async (id: string, options: { json?: true; grace: number; expires?: number }) => {
      const { machine } = command;
      const terms = { graceMs: options.grace, expires_at: options.expires };
      const rotated = await command.withState((db) => rotateKey(db, id, terms, machine.randomBytes, machine.now()));
      const expires_at = formatInstant(rotated.replaced.expires_at);
      showOnce(command, options, { ...rotated, replaced: { id, expires_at } });
      if (!options.json) machine.printError(`The old key ${id} is valid until ${expires_at}.`);
    });
}

export function usageCommand(command: CliCommand): CliCommand {
  return command
    .argument("[id]", "only this key")
    .option("--days <n>", "number of days, including today", wholeNumber(1, USE_DAYS_MAX), USE_DAYS)
    .action(async (id: string | undefined, options: { days: number }) => {
      const use = await command.withState((db) => listUse(db, options.days, id, command.machine.now()));
      command.print(use, table(use, "No requests in that time"));
    });
}

export function revokeCommand(command: CliCommand): CliCommand {
  return command.argument("<id>", "id of the key, as `keys list` shows it").action(async (id: string) => {
    await command.withState((db) => revokeKey(db, id, command.machine.now()));
    command.print({ id, revoked: true }, `${id} is revoked`);
  });
}

type ListedKey = ReturnType<typeof withInstants<KeyListing>>;

function entryOf({ id, state, account, label, last_four, used_today, ...times }: ListedKey, now: EpochMs): string {
  const at = (what: string, instant: string | null) => (instant === null ? [] : [`${what} ${toSecond(instant)}`]);
  const facts = [
    ...(label === null ? [] : [`"${oneLine(label)}"`]),
    ...at("created", times.created_at),
    ...(times.last_used_at === null ? ["never used"] : at("last used", times.last_used_at)),
    ...(used_today === 0 ? [] : [`${counted(used_today, "request")} today`]),
    ...at(isExpired(parseStoredMs(times.expires_at) ?? null, now) ? "expired" : "expires", times.expires_at), // Also a revoked key.
    ...at("revoked", times.revoked_at),
  ];
  const lines = indented(facts.join(", "), "  ");
  return [`${id}  …${last_four}  ${state.padEnd(STATE_WIDTH)}  ${oneLine(account)}`, ...lines].join("\n");
}

function showOnce(command: CliCommand, options: { json?: true; expires?: number }, created: NewKey & { replaced?: object }): void {
  const expiresAt = options.expires === undefined ? undefined : formatInstant(options.expires);
  command.print({ ...created, ...(expiresAt !== undefined && { expires_at: expiresAt }) }, created.key);
  if (options.json) return;
  const { id, account, plan } = created;
  const until = expiresAt === undefined ? "" : `, valid until ${expiresAt}`;
  command.machine.printError(`Created key ${id} of account "${account}" on plan ${plan}${until}. Store it now: it cannot be shown again.`);
}

function expiryOption(command: CliCommand): Option {
  const description = "when the new key expires: 90d or 12h from now, a date or a timestamp (default: never)";
  return new Option("--expires <when>", description).argParser(momentOption(command, AHEAD));
}
