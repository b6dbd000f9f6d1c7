/** Sends a message to the receiver of its watch. */
import type { Machine } from "../runtime/machine.ts";
import { placeName } from "./secrets.ts";
import { sendToSlack } from "./slack.ts";
import { sendMail } from "./smtp.ts";
import type { Pending, Receiver, Watch } from "./watch.ts";
import { sendWebhook } from "./webhook.ts";

/** Returns once the receiver has accepted the message. Throws a DeliveryError if it did not, or if `stop` was aborted before. */
export async function send(
  { definition }: Watch,
  message: Pick<Pending, "id" | "body">,
  machine: Machine,
  stop: AbortSignal,
): Promise<void> {
  const { receiver, zone } = definition;
  if (receiver.to === "stdout") {
    machine.printLine(message.body);
    machine.syncOutput(); // On disk before watch.db says that it was accepted.
  } else if (receiver.to === "webhook") await sendWebhook(receiver, message, machine, stop);
  else if (receiver.to === "slack") await sendToSlack(receiver, message, zone, machine, stop);
  else await sendMail(receiver, message, zone, machine, stop);
}

/** The receiver in words, without a secret. */
export function receiverName(receiver: Receiver): string {
  if (receiver.to === "stdout") return "stdout";
  if (receiver.to === "smtp") return receiver.mail_to;
  return `${receiver.to} ${"text" in receiver.url ? receiver.url.text : placeName(receiver.url)}`;
}
