/** `fundfeed watch mute` and `fundfeed watch unmute`: leave one opportunity out of messages for a while. */
import { Failure } from "../../../db/reason.ts";
import { meets } from "../../events/feed.ts";
import { readHistory } from "../../events/history.ts";
import { counted } from "../../text/in-words.ts";
import { quoted } from "../../text/quoted.ts";
import { watchStatusOf } from "../../watch/pending.ts";
import { changeTypes } from "../../watch/watch.ts";
import { listMuted, mute, unmute } from "../../watch/watches.ts";
import type { CliCommand } from "../command.ts";
import { addIdArgument, requireOpportunity } from "../one-opportunity.ts";
import { addSearchOptions } from "../search-options.ts";
import { addWatchOptions, watchesNamed, withWatches } from "../watch-options.ts";

export function muteCommand(muting: CliCommand): CliCommand {
  return addArguments(muting)
    .examples("fundfeed watch mute PD-16-1271", "fundfeed watch mute eb7863be quantum")
    .action(async (text: string, names: string[]) => {
      await withWatches(muting, "create", async (db, catalog) => {
        const { id, title } = await requireOpportunity(muting, catalog, text, "mute");
        const watches = await watchesNamed(db, names);
        if (watches.length === 0) throw new Failure(`Cannot mute ${text}: there are no watches yet`);
        for (const watch of watches) await mute(db, watch, id, muting.machine.now());
        const json = { id, watches: [...new Set(watches.map(({ name }) => name))], muted: true };
        muting.print(json, `Muted ${quoted(title)} in ${json.watches.join(", ")}; fundfeed watch unmute ${text} ends that`);
      });
    });
}

export function unmuteCommand(unmuting: CliCommand): CliCommand {
  return addArguments(unmuting).action(async (text: string, names: string[]) => {
    await withWatches(unmuting, "create", async (db, catalog) => {
      const { id, title } = await requireOpportunity(unmuting, catalog, text, "unmute");
      const history = await readHistory(catalog, id);
      const ended: { watch: string; skipped: number }[] = [];
      for (const watch of await watchesNamed(db, names)) {
        const muted = (await listMuted(db, watch)).find((each) => each.id === id);
        if (muted === undefined) continue;
        await unmute(db, watch, id);
        if (ended.some((each) => each.watch === watch.name)) continue; // Another receiver of the same watch.
        // A run after the muting, and none later, has passed over these.
        const { types = changeTypes, at_least: atLeast } = watch.definition;
        const passed = { types, atLeast, since: muted.muted_at, until: (await watchStatusOf(db, watch)).checked_at };
        ended.push({ watch: watch.name, skipped: history.filter((event) => meets(event, passed)).length });
      }
      if (ended.length === 0)
        throw new Failure(`Cannot unmute ${text}: it is not muted${names.length === 0 ? "" : ` in ${names.join(", ")}`}`);
      const parts = ended.map(({ watch, skipped }) => `${watch} (${skipped === 0 ? "no change" : counted(skipped, "change")} skipped)`);
      const lost = ended.some(({ skipped }) => skipped > 0) ? `; fundfeed show ${text} has them` : "";
      unmuting.print({ id, watches: ended, muted: false }, `Unmuted ${quoted(title)} in ${parts.join(", ")}${lost}`);
    });
  });
}

function addArguments(command: CliCommand): CliCommand {
  return addSearchOptions(addIdArgument(addWatchOptions(command)).argument("[names...]", "only in these watches"));
}
