/** Sends a message to the receiver of its watch. */
import type { Machine } from "../runtime/machine.ts";
import type { Pending, Receiver, Watch } from "./watch.ts";
import { sendWebhook } from "./webhook.ts";

/** Returns once the receiver has accepted the message. Throws a DeliveryError if it did not. */
export async function send({ definition: { receiver } }: Watch, message: Pick<Pending, "id" | "body">, machine: Machine): Promise<void> {
  if (receiver.to === "stdout")
    machine.printLine(message.body); // Written when this returns.
  else await sendWebhook(receiver, message, machine);
}

/** The receiver in words, without a secret. */
export function receiverName(receiver: Receiver): string {
  if (receiver.to === "stdout") return "stdout";
  const place = "text" in receiver.url ? receiver.url.text : "file" in receiver.url ? receiver.url.file : receiver.url.variable;
  return `${receiver.to} ${place}`;
}
