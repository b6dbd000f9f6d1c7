/** Mails to members: their recipients, their links, and the header with which a mail program unsubscribes. */
import type { StateDb, WatchDb } from "../../db/engine.ts";
import { addressOfMember } from "../accounts/members.ts";
import { signedTokens } from "../accounts/signed.ts";
import type { Machine } from "../runtime/machine.ts";
import { parseInstantMs } from "../text/instant.ts";
import { isMailAddress } from "../text/mail-address.ts";
import { DeliveryError } from "./attempts.ts";
import type { MailLinks, MailPart } from "./mail.tsx";
import { openChannel } from "./member-channel.ts";
import type { Message } from "./message.ts";
import { post } from "./post.ts";
import { handToServer, linkBase, smtpServer } from "./smtp.ts";
import { teamsMessage } from "./teams.ts";
import type { ChannelReceiver, Receiver, SecretPlace, SentMessage, Watch } from "./watch.ts";
import { listWatches, watchesOf } from "./watches.ts";
import { postingTo } from "./webhook.ts";

/** Where the links of mails to members lead, and the server and the sender of these mails. */
type MemberMailing = { origin: string; url: SecretPlace; mail_from: string };

const SMTP = { variable: "FUNDFEED_SMTP_URL" };

/** Reads the settings. Throws a DeliveryError that says what is missing. */
export function memberMailing(machine: Pick<Machine, "env">): MemberMailing {
  const { env } = machine;
  smtpServer({ url: SMTP }, machine);
  const mail_from = env.FUNDFEED_MAIL_FROM ?? "";
  if (!isMailAddress(mail_from)) throw new DeliveryError("Cannot write to members: FUNDFEED_MAIL_FROM is not set");
  const origin = linkBase(machine);
  if (origin === undefined)
    throw new DeliveryError("Cannot write to members: FUNDFEED_PAGES_URL is not set, to which the links of mails lead");
  return { origin, url: SMTP, mail_from };
}

/** The base of links in mails, and the secret that signs unsubscribe links. */
export type MailBase = { origin: string; secret: Uint8Array };

/** The page that unsubscribes a member from the mails of some watches. */
function stopPath(secret: Uint8Array, owner: string, names: readonly string[]): string {
  return `/unsubscribe/${signedTokens(secret, "unsubscribe").make([owner, ...names].join(" "))}`;
}

/** In place of the member, for a mail receiver of a watch of the operator. */
const OPERATOR = "-";

/** The same of a mail receiver of the operator. The link does not contain the mail address, only a code computed from it with the secret. */
function stopPathOf(secret: Uint8Array, { name, definition: { receiver } }: Watch): string {
  return stopPath(secret, OPERATOR, [name, addressCode(secret, receiver)]);
}

function addressCode(secret: Uint8Array, receiver: Receiver): string {
  return receiver.to === "smtp" ? (signedTokens(secret, "unsubscribe").make(receiver.mail_to).split(".")[1] ?? "") : "";
}

/** The watches that a path unsubscribes from; none if the path was not made by `stopPath`. */
export async function watchesToStop(db: WatchDb, secret: Uint8Array, token: string): Promise<Watch[]> {
  const [owner = "", ...names] = signedTokens(secret, "unsubscribe").open(token)?.split(" ") ?? [];
  if (owner !== OPERATOR) return (await watchesOf(db, owner)).filter(({ name }) => names.includes(name));
  const [name = "", code = ""] = names;
  const receivers = (await listWatches(db)).filter((watch) => watch.name === name && watch.owner === null);
  return receivers.filter(({ definition: { receiver } }) => code !== "" && addressCode(secret, receiver) === code);
}

/** The headers by which mail programs sort the mails of a watch, and unsubscribe (RFC 2369, RFC 2919, RFC 8058). */
function listHeaders(stop: string, listId: string): Record<string, string> {
  return {
    "List-Unsubscribe": `<${stop}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "List-Id": `<${listId}>`,
  };
}

function listIdOf(origin: string, name?: string): string {
  return [name, "watches", new URL(origin).hostname.replace(/[^\w.-]/g, "-")].filter((part) => part !== undefined).join(".");
}

/** The links and headers of a mail of an operator's watch, if the base address is known. */
export function additionsFor(watch: Watch, base: MailBase | undefined): { links?: MailLinks; headers?: Record<string, string> } {
  if (base === undefined) return {};
  const stop = base.origin + stopPathOf(base.secret, watch);
  return { links: { stop }, headers: listHeaders(stop, listIdOf(base.origin, watch.name)) };
}

type Sending = { machine: Pick<Machine, "env" | "now">; state: StateDb; secret: Uint8Array };

/** Sends messages of one member's watches as one mail, or the message of one watch to its channel. Throws a DeliveryError. */
export async function sendToMember(
  sent: readonly { watch: Watch; message: SentMessage }[],
  id: string,
  { machine, state, secret }: Sending,
  stop: AbortSignal,
): Promise<void> {
  const [first] = sent;
  const owner = first?.watch.owner ?? "";
  const address = await addressOfMember(state, owner); // Read now, not when the run began, so that a removed member gets no more messages.
  if (address === undefined)
    throw new DeliveryError(`Cannot deliver to member ${owner}: it was removed, or members are shut out`, undefined, true);
  if (first?.watch.definition.receiver.to === "channel")
    return sendToChannel(first.watch, first.watch.definition.receiver, first.message, machine, secret, stop);
  const mailing = memberMailing(machine);
  const { origin } = mailing;
  const names = sent.map(({ watch }) => watch.name);
  const stopAt = origin + stopPath(secret, owner, names);
  const parts = sent.map(({ watch: { name, definition }, message }): MailPart => {
    const links = { watch: origin + pathOf({ name, definition }), stop: stopAt };
    return { message: JSON.parse(message.body), zone: definition.zone, links };
  });
  const { mailOfAll } = await import("./mail.tsx");
  const headers = {
    ...listHeaders(stopAt, listIdOf(origin, names.length === 1 ? names[0] : undefined)),
    "X-Fundfeed-Messages": sent.map(({ message }) => message.id).join(" "),
  };
  const date = Math.max(...parts.map(({ message }) => parseInstantMs(message.timestamp) ?? 0));
  const mail = { mail_to: address, to: `member ${owner}`, id, date, headers, ...mailOfAll(parts, origin) };
  await handToServer({ ...mailing, ...mail }, machine, stop);
}

/** The page on which a member changes a watch. */
function pathOf({ name, definition }: Pick<Watch, "name" | "definition">): string {
  return definition.follows ? "/following" : `/watches/${name}`;
}

async function sendToChannel(
  watch: Watch,
  receiver: ChannelReceiver,
  { body }: SentMessage,
  machine: Pick<Machine, "env" | "now">,
  secret: Uint8Array,
  stop: AbortSignal,
): Promise<void> {
  const posting = postingTo(openChannel(receiver, machine, secret), machine);
  const origin = linkBase(machine);
  const card = teamsMessage(JSON.parse(body) as Message, watch.definition.zone, origin && origin + pathOf(watch));
  await post({ ...posting, headers: {}, body: JSON.stringify(card), stop });
}
