/** How the commands of `watch` send: mails need the state, which has the addresses of members and the secret of the links that end mails. */
import type { StateDb } from "../../db/engine.ts";
import { failureOf } from "../../db/reason.ts";
import { readPagesSecret } from "../accounts/sealed.ts";
import { DeliveryError } from "../watch/attempts.ts";
import { openChannel } from "../watch/member-channel.ts";
import { memberMailing, sendToMember } from "../watch/member-mail.ts";
import type { RunContext } from "../watch/run.ts";
import { send, setupFault } from "../watch/send.ts";
import { linkBase } from "../watch/smtp.ts";
import type { Watch } from "../watch/watch.ts";
import type { CliCommand } from "./command.ts";

type Sending = Pick<RunContext, "send" | "sendToMember" | "setupFault"> & { state: StateDb | undefined };

/** Runs `work` with what sends the messages of these watches, and closes the state. */
export async function withSending<T>(command: CliCommand, watches: readonly Watch[], work: (sending: Sending) => Promise<T>): Promise<T> {
  const { machine } = command;
  const origin = linkBase(machine);
  const hasMembers = watches.some(({ owner }) => owner !== null);
  const hasLinks = origin !== undefined && watches.some(({ definition }) => definition.receiver.to === "smtp");
  const sending = async (state: StateDb | undefined) => {
    const secret = state && (await readPagesSecret(state, machine.randomBytes));
    const base = origin === undefined || secret === undefined ? undefined : { origin, secret };
    return work({
      state,
      send: (watch, message, stop) => send(watch, message, machine, stop, base),
      sendToMember: async (parts, id, stop) => {
        if (state === undefined || secret === undefined)
          throw new DeliveryError("Cannot write to members: their addresses are in the state");
        await sendToMember(parts, id, { machine, state, secret }, stop);
      },
      setupFault: ({ definition: { receiver } }) => {
        if (receiver.to === "member") return failureOf(() => memberMailing(machine));
        if (receiver.to === "channel") return secret === undefined ? null : failureOf(() => openChannel(receiver, machine, secret));
        return setupFault(receiver, machine);
      },
    });
  };
  return hasMembers || hasLinks ? command.withState(sending) : sending(undefined);
}
