/** Mails to members: their recipients, their links, and the header with which a mail program unsubscribes. */
import type { StateDb, WatchDb } from "../../db/engine.ts";
import { addressOfMember } from "../accounts/members.ts";
import { sealedTokens } from "../accounts/sealed.ts";
import type { Machine } from "../runtime/machine.ts";
import { parseInstantMs } from "../text/instant.ts";
import { isMailAddress } from "../text/mail-address.ts";
import { DeliveryError } from "./attempts.ts";
import { teamsMessage } from "./chats.ts";
import { openChannel } from "./member-channel.ts";
import type { Message } from "./message.ts";
import { handToServer, linkBase, smtpServer } from "./smtp.ts";
import type { SentMessage, Watch } from "./watch.ts";
import { listWatches, watchesOf } from "./watches.ts";
import { postTo } from "./webhook.ts";

/** Where the links of mails to members lead, and the server and the sender of these mails. Throws a DeliveryError that says what is missing. */
export function memberMailing(machine: Pick<Machine, "env">) {
  const url = { variable: "FUNDFEED_SMTP_URL" };
  smtpServer({ url }, machine);
  const mail_from = machine.env.FUNDFEED_MAIL_FROM ?? "";
  if (!isMailAddress(mail_from)) throw new DeliveryError("Cannot write to members: FUNDFEED_MAIL_FROM is not set");
  const origin = linkBase(machine);
  if (origin === undefined)
    throw new DeliveryError("Cannot write to members: FUNDFEED_PAGES_URL is not set, to which the links of mails lead");
  return { origin, url, mail_from };
}

/** The base of links in mails, and the secret that seals unsubscribe links. */
export type MailBase = { origin: string; secret: Uint8Array };

/** In place of the member, in the link of a watch of the operator. */
const OPERATOR = "-";

function mailToOf({ definition: { receiver } }: Watch): string {
  return receiver.to === "smtp" ? receiver.mail_to : "";
}

/** The unsubscribe link of a mail, and the headers by which programs sort and unsubscribe (RFC 2369, RFC 2919, RFC 8058). */
export function listLinks([first, ...others]: readonly [Watch, ...Watch[]], { origin, secret }: MailBase) {
  const words = [first.owner ?? OPERATOR, mailToOf(first), first.name, ...others.map(({ name }) => name)];
  const stop = `${origin}/unsubscribe/${sealedTokens(secret, "unsubscribe").make(words.join(" "))}`;
  const id = [...(others.length === 0 ? [first.name] : []), "watches", new URL(origin).hostname.replace(/[^\w.-]/g, "-")].join(".");
  const post = "List-Unsubscribe=One-Click";
  return { links: { stop }, headers: { "List-Unsubscribe": `<${stop}>`, "List-Unsubscribe-Post": post, "List-Id": `<${id}>` } };
}

/** The watches that such a link unsubscribes from; none if it was not made here. */
export async function watchesToStop(db: WatchDb, secret: Uint8Array, token: string): Promise<Watch[]> {
  const [owner = "", mailTo, ...names] = sealedTokens(secret, "unsubscribe").open(token)?.split(" ") ?? [];
  const watches = owner === OPERATOR ? await listWatches(db) : await watchesOf(db, owner);
  return watches.filter((watch) => (watch.owner ?? OPERATOR) === owner && names.includes(watch.name) && mailToOf(watch) === mailTo);
}

type Sent = { watch: Watch; message: SentMessage };
type Sending = { machine: Pick<Machine, "env" | "now">; state: StateDb; secret: Uint8Array };

/** Sends messages of one member's watches as one mail, or the message of one watch to its channel. Throws a DeliveryError. */
export async function sendToMember(
  sent: readonly Sent[],
  id: string,
  { machine, state, secret }: Sending,
  stop: AbortSignal,
): Promise<void> {
  const [first, ...others] = sent.map(({ watch, message }) => ({ watch, message: JSON.parse(message.body) as Message }));
  if (first === undefined) return;
  const { owner, definition } = first.watch;
  const address = await addressOfMember(state, owner ?? ""); // Read now, not when the run began, so that a removed member gets no more messages.
  if (address === undefined)
    throw new DeliveryError(`Cannot deliver to member ${owner}: it was removed, or members are shut out`, undefined, true);
  const pageOf = (origin: string, { name, definition: { follows } }: Watch) => origin + (follows ? "/following" : `/watches/${name}`);
  if (definition.receiver.to === "channel") {
    const channel = openChannel(definition.receiver, machine, secret);
    const origin = linkBase(machine);
    const card = teamsMessage(first.message, definition.zone, origin && pageOf(origin, first.watch));
    return postTo(channel, JSON.stringify(card), machine, stop);
  }
  const { origin, ...mailing } = memberMailing(machine);
  const { links, headers: ofList } = listLinks([first.watch, ...others.map(({ watch }) => watch)], { origin, secret });
  const parts = [first, ...others].map(({ watch, message }) => {
    return { message, zone: watch.definition.zone, links: { ...links, watch: pageOf(origin, watch) } };
  });
  const { mailOf } = await import("./mail.tsx");
  const headers = { ...ofList, "X-Fundfeed-Messages": sent.map(({ message }) => message.id).join(" ") };
  const date = Math.max(...parts.map(({ message }) => parseInstantMs(message.timestamp) ?? 0));
  const mail = { mail_to: address, to: `member ${owner}`, id, date, headers, ...mailOf(parts, origin) };
  await handToServer({ ...mailing, ...mail }, machine, stop);
}
