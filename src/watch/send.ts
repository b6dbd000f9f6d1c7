/** Sends a message to the receiver of its watch. */
import { failureOf } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";
import { DeliveryError } from "./attempts.ts";
import { slackMessage, teamsMessage } from "./chats.ts";
import { listLinks, type MailBase } from "./member-mail.ts";
import type { Message } from "./message.ts";
import { placeName } from "./secrets.ts";
import { sendMail, smtpServer } from "./smtp.ts";
import type { Receiver, SentMessage, Watch } from "./watch.ts";
import { postTo, readSigningSecrets, sendWebhook, urlOf } from "./webhook.ts";

const chatMessages = { slack: slackMessage, teams: teamsMessage };

/** Returns once the receiver has accepted the message. Throws a DeliveryError if it did not, or if `stop` was aborted before. */
export async function send(watch: Watch, message: SentMessage, machine: Machine, stop: AbortSignal, base?: MailBase): Promise<void> {
  const { receiver, zone } = watch.definition;
  if (receiver.to === "stdout") {
    machine.printLine(message.body);
    machine.syncOutput(); // On disk before watch.db says that it was accepted.
  } else if (receiver.to === "webhook") await sendWebhook(receiver, message, machine, stop);
  else if (receiver.to === "slack" || receiver.to === "teams") {
    const body = JSON.stringify(chatMessages[receiver.to](JSON.parse(message.body) as Message, zone));
    await postTo(receiver, body, machine, stop);
  } else if (receiver.to === "member" || receiver.to === "channel") throw new DeliveryError("Cannot write to a member without the state");
  else await sendMail(receiver, message, zone, machine, stop, {}, base && listLinks([watch], base));
}

/** Why the receiver cannot be used with this machine's settings, such as a missing variable; null if it can. */
export function setupFault(receiver: Receiver, machine: Pick<Machine, "env">): string | null {
  return failureOf(() => {
    if (receiver.to === "smtp") smtpServer(receiver, machine);
    if (receiver.to === "slack" || receiver.to === "teams" || receiver.to === "webhook") urlOf(receiver.url, machine);
    if (receiver.to === "webhook") readSigningSecrets(receiver.secret, machine);
  });
}

export const MEMBER = "its member";

/** The receiver in words, without a secret. */
export function receiverName(receiver: Receiver): string {
  if (receiver.to === "stdout") return "stdout";
  if (receiver.to === "smtp") return receiver.mail_to;
  if (receiver.to === "member") return MEMBER;
  if (receiver.to === "channel") return `${MEMBER} in Teams, by ${receiver.host}`;
  return `${receiver.to} ${"text" in receiver.url ? receiver.url.text : placeName(receiver.url)}`;
}
