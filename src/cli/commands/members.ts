/** `fundfeed members add`, `fundfeed members list` and `fundfeed members remove`. */
import { openWatchFile } from "../../../db/sqlite/open.ts";
import { allowMembers, endMembers, listMembers } from "../../accounts/members.ts";
import { counted } from "../../text/counted.ts";
import { removeWatchesOf } from "../../watch/member-watches.ts";
import type { Cli, CliCommand, CommonOptions } from "../command.ts";
import { useAndClose, withState } from "../databases.ts";
import { printResult, table, withInstants } from "../output.ts";
import { addWatchOptions, type WatchOptions, watchDirectory } from "../watch-options.ts";

export function addCommand(command: CliCommand, cli: Cli): CliCommand {
  return addWatchOptions(command)
    .argument("<entries...>", "addresses such as a@uni.example, domains such as @lab.example, and denials such as !b@lab.example")
    .examples("fundfeed members add a@uni.example @lab.example", "fundfeed members add '!b@lab.example'")
    .action(async (given: string[], options: CommonOptions & WatchOptions) => {
      const { entries, ended } = await withState(cli, options, (db) => allowMembers(db, given, cli.machine.now()));
      const removed = await removeTheirWatches(cli, options, ended);
      const gone = ended.length === 0 ? "" : `; removed ${endedInWords(ended, removed)}`;
      printResult(cli, options, { entries, members: ended, watches: removed }, `Added ${entries.join(", ")}${gone}`);
    });
}

export function listCommand(command: CliCommand, cli: Cli): CliCommand {
  return command.action(async (options: CommonOptions) => {
    const listed = await withState(cli, options, listMembers);
    const [allowed, members] = [listed.allowed.map(withInstants), listed.members.map(withInstants)];
    const rows = [
      ...allowed.map(({ entry, added_at }) => ({ entry, member: null, since: added_at, last_seen: null })),
      ...members.map(({ id, address, created_at, last_used_at }) => {
        return { entry: address, member: id, since: created_at, last_seen: last_used_at };
      }),
    ];
    printResult(cli, options, { allowed, members }, table(rows, "Nobody is allowed yet; fundfeed members add a@uni.example does that"));
  });
}

export function removeCommand(command: CliCommand, cli: Cli): CliCommand {
  return addWatchOptions(command)
    .argument("<entries...>", "addresses, domains and denials, as `members list` shows them")
    .action(async (given: string[], options: CommonOptions & WatchOptions) => {
      const { entries, ended, stillAllowed } = await withState(cli, options, (db) => endMembers(db, given, cli.machine.now()));
      const removed = await removeTheirWatches(cli, options, ended);
      const result = { removed: entries, members: ended, watches: removed };
      printResult(cli, options, result, `Removed ${entries.join(", ")}: ${endedInWords(ended, removed)}`);
      for (const address of stillAllowed)
        cli.machine.printError(`The domain still allows ${address}; fundfeed members add '!${address}' denies it`);
    });
}

/** Removes the watches of members who ended. Even before, they get no mail and cannot sign in; the next `watch run` removes what is left. */
async function removeTheirWatches({ machine }: Cli, options: WatchOptions, ended: readonly string[]): Promise<number> {
  if (ended.length === 0) return 0;
  return useAndClose(openWatchFile(watchDirectory(options), machine.now(), { mode: "create" }), (db) => removeWatchesOf(db, ended));
}

function endedInWords(ended: readonly string[], watches: number): string {
  return `${counted(ended.length, "member")}, with ${counted(watches, "watch", "watches")}`;
}
