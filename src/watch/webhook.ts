/** Webhooks by Standard Webhooks 1.0 (standardwebhooks.com): three headers, one of them with the signatures of id, timestamp and body. */
import { createHmac } from "node:crypto";
import type { Machine } from "../runtime/machine.ts";
import { DeliveryError } from "./attempts.ts";
import { post } from "./post.ts";
import { placeName, readSecret } from "./secrets.ts";
import type { HttpReceiver, SecretPlace, SentMessage, WebhookReceiver } from "./watch.ts";

const PREFIX = "whsec_";
const [BYTES_MIN, BYTES_MAX] = [24, 64];
const NEW_BYTES = 32;

/** Posts a message. Throws a DeliveryError. */
export async function sendWebhook(receiver: WebhookReceiver, sent: SentMessage, machine: Machine, stop: AbortSignal): Promise<void> {
  const { id, body } = sent;
  const secrets = readSigningSecrets(receiver.secret, machine);
  const timestamp = `${Math.floor(machine.now() / 1000)}`;
  const signed = (secret: Buffer) => createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  const signature = secrets.map((secret) => `v1,${signed(secret)}`).join(" ");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  await postTo(receiver, body, machine, stop, headers);
}

/** Posts JSON to a receiver. Throws a DeliveryError. */
export async function postTo(
  { url, allow_private, allow_http }: HttpReceiver,
  body: string,
  machine: Pick<Machine, "env" | "now">,
  stop: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const allowed = { allowPrivate: allow_private, allowHttp: allow_http };
  await post({ url: urlOf(url, machine), ...allowed, now: machine.now(), headers, body, stop });
}

/** The URL of a receiver. Throws a DeliveryError that does not repeat it. */
export function urlOf(url: { text: string } | SecretPlace, machine: Pick<Machine, "env">): URL {
  const place = "text" in url ? "the watch" : placeName(url);
  const parsed = URL.parse("text" in url ? url.text : readSecret(url, machine));
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new DeliveryError(`Cannot use the URL in ${place}: it must be an https URL`);
  return parsed;
}

/** The secrets of a place, separated by white space or commas: two while one replaces the other. Throws a DeliveryError. */
export function readSigningSecrets(place: SecretPlace, machine: Pick<Machine, "env">): Buffer[] {
  return readSecret(place, machine)
    .split(/[\s,]+/)
    .map((text) => {
      const bytes = text.startsWith(PREFIX) ? Buffer.from(text.slice(PREFIX.length), "base64") : Buffer.alloc(0);
      if (bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX) return bytes;
      throw new DeliveryError(
        `Cannot use the secret in ${placeName(place)}: it must be whsec_ and the base64 of ${BYTES_MIN} to ${BYTES_MAX} bytes`,
      );
    });
}

/** A new secret. */
export function newSigningSecret({ randomBytes }: Pick<Machine, "randomBytes">): string {
  return `${PREFIX}${Buffer.from(randomBytes(NEW_BYTES)).toString("base64")}`;
}
