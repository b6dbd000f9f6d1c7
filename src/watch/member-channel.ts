/**
 * Channels of members: messages of a watch may go to Teams instead of the mailbox. The operator lists the allowed hosts. The address of a
 * channel is a secret, so watch.db has it only encrypted with the pages' secret.
 */
import { Failure, messageOf } from "../../db/reason.ts";
import { sealedTokens } from "../accounts/sealed.ts";
import type { Machine } from "../runtime/machine.ts";
import { BadValue } from "../text/read-value.ts";
import { DeliveryError } from "./attempts.ts";
import type { ChannelReceiver, HttpReceiver } from "./watch.ts";

/** The longest address of a channel. Those of Teams have some 350 characters. */
export const CHANNEL_MAX = 800;

/**
 * The hosts that an operator lists: "logic.azure.com,http://10.0.0.5:8065". A domain allows its subdomains, at public addresses and by https;
 * the address of a server allows it alone, which may be private or without TLS. Throws a BadValue.
 */
export function readChannelHosts(text: string): string[] {
  return text.split(",").map((each) => {
    const host = each.trim().toLowerCase().replace(/\/$/, "");
    const isServer = /^https?:/.test(host) && URL.parse(host)?.origin === host;
    if (isServer || /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(host)) return host;
    throw new BadValue("must list domains such as logic.azure.com, or addresses of servers such as https://chat.lab.example:8443");
  });
}

/** The hosts that FUNDFEED_MEMBER_HOSTS allows. Throws a Failure. */
export function channelHosts({ env }: Pick<Machine, "env">): string[] {
  const text = env.FUNDFEED_MEMBER_HOSTS ?? "";
  try {
    return text === "" ? [] : readChannelHosts(text);
  } catch (error) {
    throw new Failure(`Cannot read FUNDFEED_MEMBER_HOSTS: it ${messageOf(error)}`, { cause: error });
  }
}

/** The address that a member typed. Throws a BadValue whose sentence is shown to the member. */
export function readChannel(text: string, hosts: readonly string[]): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || text.length > CHANNEL_MAX)
    throw new BadValue("Enter the address that Teams shows for the workflow. It begins with https://.");
  if (allowanceOf(url, hosts) !== undefined) return url;
  throw new BadValue(`This server sends only to ${hosts.join(", ") || "mailboxes"}. Its operator can allow ${url.host}.`);
}

function allowanceOf(url: URL, hosts: readonly string[]): Pick<HttpReceiver, "allow_private" | "allow_http"> | undefined {
  if (hosts.includes(url.origin)) return { allow_private: true, allow_http: true };
  const isAllowed = url.protocol === "https:" && url.port === "" && hosts.some((host) => `.${url.hostname}`.endsWith(`.${host}`));
  return isAllowed ? { allow_private: false, allow_http: false } : undefined;
}

/** A channel as stored in a watch. */
export function sealChannel(url: URL, secret: Uint8Array): ChannelReceiver {
  return { to: "channel", host: url.host, sealed: sealedTokens(secret, "channel").make(url.href) };
}

/** The channel with its address. Throws a DeliveryError if it cannot be read or is no longer allowed. */
export function openChannel({ host, sealed }: ChannelReceiver, machine: Pick<Machine, "env">, secret: Uint8Array): HttpReceiver {
  const text = sealedTokens(secret, "channel").open(sealed);
  if (text === undefined) throw new DeliveryError(`Cannot read the address of the channel at ${host}: enter it again`);
  const allowance = allowanceOf(new URL(text), channelHosts(machine));
  if (allowance === undefined) throw new DeliveryError(`Cannot deliver to ${host}: FUNDFEED_MEMBER_HOSTS does not allow it`);
  return { url: { text }, ...allowance };
}
