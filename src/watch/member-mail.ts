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
import { handToServer, linkBase, smtpServer } from "./smtp.ts";
import { teamsMessage } from "./teams.ts";
import type { ChannelReceiver, Receiver, SecretPlace, SentMessage, Watch } from "./watch.ts";
import { listWatches, watchesOf } from "./watches.ts";
import { postTo } from "./webhook.ts";

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

/**
 * The unsubscribe link with these words (the owner, then the names of watches), and the headers by which mail programs sort the mails of a
 * watch and unsubscribe (RFC 2369, RFC 2919, RFC 8058). A mail of several watches has no `name`.
 */
function unsubscribing({ origin, secret }: MailBase, words: readonly string[], name?: string) {
  const stop = `${origin}/unsubscribe/${signedTokens(secret, "unsubscribe").make(words.join(" "))}`;
  const id = [...(name === undefined ? [] : [name]), "watches", new URL(origin).hostname.replace(/[^\w.-]/g, "-")].join(".");
  const post = "List-Unsubscribe=One-Click";
  return { stop, headers: { "List-Unsubscribe": `<${stop}>`, "List-Unsubscribe-Post": post, "List-Id": `<${id}>` } };
}

/** In place of the member, for a mail receiver of a watch of the operator. */
const OPERATOR = "-";

/** Names a mail receiver of the operator in a link, without its mail address. */
function addressCode(secret: Uint8Array, receiver: Receiver): string {
  return receiver.to === "smtp" ? (signedTokens(secret, "unsubscribe").make(receiver.mail_to).split(".")[1] ?? "") : "";
}

/** The watches that a path unsubscribes from; none if the path was not made by `unsubscribing`. */
export async function watchesToStop(db: WatchDb, secret: Uint8Array, token: string): Promise<Watch[]> {
  const [owner = "", ...names] = signedTokens(secret, "unsubscribe").open(token)?.split(" ") ?? [];
  if (owner !== OPERATOR) return (await watchesOf(db, owner)).filter(({ name }) => names.includes(name));
  const [name = "", code = ""] = names;
  const receivers = (await listWatches(db)).filter((watch) => watch.name === name && watch.owner === null);
  return receivers.filter(({ definition: { receiver } }) => code !== "" && addressCode(secret, receiver) === code);
}

/** The links and headers of a mail of an operator's watch. */
export function additionsFor(
  { name, definition: { receiver } }: Watch,
  base: MailBase,
): { links: MailLinks; headers: Record<string, string> } {
  const { stop, headers } = unsubscribing(base, [OPERATOR, name, addressCode(base.secret, receiver)], name);
  return { links: { stop }, headers };
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
  const { stop: stopAt, headers: ofList } = unsubscribing({ origin, secret }, [owner, ...names], names.length === 1 ? names[0] : undefined);
  const parts = sent.map(({ watch, message }): MailPart => {
    const links = { watch: origin + pathOf(watch), stop: stopAt };
    return { message: JSON.parse(message.body), zone: watch.definition.zone, links };
  });
  const { mailOf } = await import("./mail.tsx");
  const headers = { ...ofList, "X-Fundfeed-Messages": sent.map(({ message }) => message.id).join(" ") };
  const date = Math.max(...parts.map(({ message }) => parseInstantMs(message.timestamp) ?? 0));
  const mail = { mail_to: address, to: `member ${owner}`, id, date, headers, ...mailOf(parts, origin) };
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
  const channel = openChannel(receiver, machine, secret);
  const origin = linkBase(machine);
  const card = teamsMessage(JSON.parse(body) as Message, watch.definition.zone, origin && origin + pathOf(watch));
  await postTo(channel, JSON.stringify(card), machine, stop);
}
