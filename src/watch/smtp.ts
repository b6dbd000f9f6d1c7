/** Sends messages as mail, through the SMTP server that the operator names. */
import { isPercentEncoded } from "../../db/percent-encoded.ts";
import { codeOf } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";
import { parseInstantMs } from "../text/instant.ts";
import { requestFailure } from "../text/request-failure.ts";
import { DeliveryError, STOPPED } from "./attempts.ts";
import type { MailLinks } from "./mail.tsx";
import type { Message } from "./message.ts";
import { placeName, readSecret } from "./secrets.ts";
import type { MailReceiver, SecretPlace, SentMessage, Zone } from "./watch.ts";

const TIMEOUTS = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000, dnsTimeout: 30_000, totalMs: 120_000 };

/** `to` is who it is for in errors, which are logged: a member's address is not in them. */
type OutgoingMail = {
  url: SecretPlace;
  mail_from: string;
  mail_to: string;
  to: string;
  id: string;
  date: number;
  headers?: Readonly<Record<string, string>>;
  subject: string;
  text: string;
  html: string;
};

type Additions = { links?: MailLinks; headers?: Readonly<Record<string, string>> };

/** The address of the pages that mails link to; undefined if none is set. Throws a DeliveryError. */
export function linkBase({ env }: Pick<Machine, "env">): string | undefined {
  const text = (env.FUNDFEED_PAGES_URL ?? "").trim();
  const url = URL.parse(text);
  if (text !== "" && !/^https?:$/.test(url?.protocol ?? ""))
    throw new DeliveryError("Cannot use FUNDFEED_PAGES_URL: it must be an address such as https://funding.example.org");
  return url?.origin;
}

/** Sends a message, unless `stop` is aborted. It has the same Message-ID and Date at every attempt. */
export async function sendMail(
  receiver: MailReceiver,
  { id, body }: SentMessage,
  zone: Zone,
  machine: Pick<Machine, "env">,
  stop: AbortSignal,
  timeouts: Partial<typeof TIMEOUTS> = {},
  { links, headers = {} }: Additions = {},
): Promise<void> {
  const { mailOf } = await import("./mail.tsx");
  const message: Message = JSON.parse(body);
  const { to, ...place } = receiver;
  const date = parseInstantMs(message.timestamp) ?? 0;
  await handToServer(
    { ...place, to: place.mail_to, id, date, headers, ...mailOf([{ message, zone, links }], linkBase(machine)) },
    machine,
    stop,
    timeouts,
  );
}

/** Returns once the server accepted the mail. Its text is in no error, because it could repeat a password. */
export async function handToServer(
  { url, mail_from, mail_to, to, id, date, headers, subject, text, html }: OutgoingMail,
  { env }: Pick<Machine, "env">,
  stop: AbortSignal,
  timeouts: Partial<typeof TIMEOUTS> = {},
): Promise<void> {
  const { totalMs, ...limits } = { ...TIMEOUTS, ...timeouts };
  const server = smtpServer({ url }, { env });
  const { createTransport } = await import("nodemailer"); // Imported here, because no other command needs it.
  // `localhost` is resolved without a name server (RFC 6761), which nodemailer would ask first.
  const place = server.host === "localhost" ? { host: "127.0.0.1", tls: { servername: "localhost" } } : {};
  const transport = createTransport({ ...server, ...place, ...limits, disableFileAccess: true, disableUrlAccess: true });
  const [, domain = "localhost"] = mail_from.split("@");
  try {
    await transport.sendMail({
      from: mail_from,
      to: mail_to,
      messageId: `<${id}@${domain}>`,
      date: new Date(date),
      headers: { "Auto-Submitted": "auto-generated", ...headers }, // RFC 3834: no automatic replies.
      subject,
      text,
      html,
      signal: AbortSignal.any([stop, AbortSignal.timeout(totalMs)]), // A server that sends a line now and then is never silent for long.
    });
  } catch (error) {
    const reason = stop.aborted ? STOPPED : whyNotSent(error, totalMs);
    throw new DeliveryError(`Cannot deliver to ${to} through ${server.host}: ${reason}`, undefined, false, isRefused(error));
  } finally {
    transport.close();
  }
}

/** Permanently, and not because of the mail or this sender. */
function isRefused(error: unknown): boolean {
  const { responseCode = 0, command = "" } = error as { responseCode?: number; command?: string };
  return command === "RCPT TO" && responseCode >= 550 && responseCode <= 556;
}

/** The server of smtps://user:password@mail.example.org or smtp://…, which requires STARTTLS but on this machine or with ?requireTLS=false. */
export function smtpServer({ url: place }: Pick<MailReceiver, "url">, machine: Pick<Machine, "env">) {
  const url = URL.parse(readSecret(place, machine));
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === "" || !isPercentEncoded(url))
    throw new DeliveryError(
      `Cannot use the URL in ${placeName(place)}: it must be such as smtps://user:password@mail.example.org, percent-encoded`,
    );
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isOwnMachine = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  const requireTLS = !secure && !isOwnMachine && url.searchParams.get("requireTLS") !== "false";
  const port = url.port === "" ? (secure ? 465 : isOwnMachine ? 25 : 587) : Number(url.port);
  const [user = "", pass = ""] = [url.username, url.password].map(decodeURIComponent);
  // Mail servers on the same machine often have a self-signed certificate, and nobody can intercept the connection.
  return { host, port, secure, requireTLS, ignoreTLS: isOwnMachine, ...(user !== "" && { auth: { user, pass } }) };
}

const reasons: Readonly<Record<string, string>> = {
  EAUTH: "the server refused the user or the password",
  ENOAUTH: "the server refused the user or the password",
  ETLS: "the server offers no TLS; ?requireTLS=false at the end of the URL sends without it",
  EDNS: "its host name does not resolve",
  ENOTFOUND: "its host name does not resolve",
  ECONNECTION: "the connection was closed",
  ETIMEDOUT: "it did not respond in time",
  ESOCKET: "the connection failed",
  EPROTOCOL: "it does not speak SMTP",
};

function whyNotSent(error: unknown, totalMs: number): string {
  if (codeOf(error) === "EABORT") return `it took longer than ${totalMs / 1000} s`;
  const { responseCode, response, originalCode } = error as { responseCode?: number; response?: string; originalCode?: string };
  const reason = reasons[codeOf(error)];
  if (responseCode === undefined && originalCode !== undefined && codeOf(error) === "ESOCKET")
    return requestFailure(Object.assign(new Error(), { code: originalCode })).reason;
  if (responseCode === undefined) return reason ?? "the message could not be sent";
  const [, enhanced = ""] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response ?? "") ?? []; // RFC 3463: 5.1.1 is an unknown mailbox.
  const returned = `it returned ${[responseCode, enhanced].filter(Boolean).join(" ")}`;
  return codeOf(error) === "EAUTH" ? `${reason}: ${returned}` : returned;
}
