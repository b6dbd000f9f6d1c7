/** `fundfeed members add`, `fundfeed members list` and `fundfeed members remove`. */
import { openWatchFile } from "../../../db/sqlite/open.ts";
import { allowMembers, endMembers, listMembers } from "../../accounts/members.ts";
import { counted } from "../../text/in-words.ts";
import { removeWatchesOf } from "../../watch/member-watches.ts";
import type { CliCommand } from "../command.ts";
import { table, withInstants } from "../output.ts";
import { addWatchOptions, watchDirectory } from "../watch-options.ts";

export function addCommand(command: CliCommand): CliCommand {
  return addWatchOptions(command)
    .argument("<entries...>", "addresses such as a@uni.example, domains such as @lab.example, and denials such as !b@lab.example")
    .examples("fundfeed members add a@uni.example @lab.example", "fundfeed members add '!b@lab.example'")
    .action(async (given: string[]) => {
      const { entries, ended } = await command.withState((db) => allowMembers(db, given, command.machine.now()));
      const { inWords, ...gone } = await goneWith(command, ended);
      command.print({ entries, ...gone }, `Added ${entries.join(", ")}${ended.length === 0 ? "" : `; removed ${inWords}`}`);
    });
}

export function listCommand(command: CliCommand): CliCommand {
  return command.action(async () => {
    const listed = await command.withState(listMembers);
    const [allowed, members] = [listed.allowed.map(withInstants), listed.members.map(withInstants)];
    const rows = [
      ...allowed.map(({ entry, added_at }) => ({ entry, member: null, since: added_at, last_seen: null })),
      ...members.map((each) => ({ entry: each.address, member: each.id, since: each.created_at, last_seen: each.last_used_at })),
    ];
    command.print({ allowed, members }, table(rows, "Nobody is allowed yet; fundfeed members add a@uni.example does that"));
  });
}

export function removeCommand(command: CliCommand): CliCommand {
  return addWatchOptions(command)
    .argument("<entries...>", "addresses, domains and denials, as `members list` shows them")
    .action(async (given: string[]) => {
      const { entries, ended, stillAllowed } = await command.withState((db) => endMembers(db, given, command.machine.now()));
      const { inWords, ...gone } = await goneWith(command, ended);
      command.print({ removed: entries, ...gone }, `Removed ${entries.join(", ")}: ${inWords}`);
      for (const address of stillAllowed)
        command.machine.printError(`The domain still allows ${address}; fundfeed members add '!${address}' denies it`);
    });
}

/** Removes the watches of members who ended. Even before, they get no mail and cannot sign in; the next `watch run` removes what is left. */
async function goneWith(command: CliCommand, members: readonly string[]) {
  const open = () => openWatchFile(watchDirectory(command.opts()), command.machine.now(), { mode: "create" });
  await using db = members.length === 0 ? undefined : open();
  const watches = db === undefined ? 0 : await removeWatchesOf(db, members);
  return { members, watches, inWords: `${counted(members.length, "member")}, with ${counted(watches, "watch", "watches")}` };
}
