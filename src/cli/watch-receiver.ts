/** The receiver of a watch, and what its messages are like, as options of `watch add` and `watch set`. */

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";
import { type EventType, type Severity, severities } from "../events/event.ts";
import { isMailAddress } from "../text/mail-address.ts";
import { oneLine } from "../text/terminal-text.ts";
import { findZone } from "../text/zone-name.ts";
import { readSchedule, type Schedule } from "../watch/schedule.ts";
import { receiverName } from "../watch/send.ts";
import { smtpServer } from "../watch/smtp.ts";
import { changeTypes, isOfMember, type Receiver, type SecretPlace, type WatchDefinition } from "../watch/watch.ts";
import { newSigningSecret, readSigningSecrets, urlOf } from "../watch/webhook.ts";
import { type CliCommand, parserBy, parserOfList, plainHttpUrl, typesAmong } from "./command.ts";

const receivers = ["stdout", "webhook", "smtp", "slack", "teams"] as const;
type Kind = (typeof receivers)[number];

const kindsOf = {
  url: ["webhook"],
  urlFile: ["webhook", "slack", "teams"],
  secretFile: ["webhook"],
  mailTo: ["smtp"],
  mailFrom: ["smtp"],
  smtpUrlFile: ["smtp"],
  allowPrivate: ["webhook", "slack", "teams"],
  allowHttp: ["webhook", "slack", "teams"],
} as const satisfies Record<string, readonly Kind[]>;

type ReceiverOptions = { url?: URL | undefined; allowPrivate?: true | undefined; allowHttp?: true | undefined } & {
  [name in "urlFile" | "secretFile" | "mailFrom" | "smtpUrlFile"]?: string | undefined;
} & { mailTo?: string[] | undefined };

export type MessageOptions = ReceiverOptions & { to?: Kind; atLeast?: Severity; fromStart?: true; zone?: string } & {
  type?: EventType[];
  remind?: number[];
  every?: Schedule;
  note?: string;
};

export const clearableOptions = ["type", "remind", "every", "note"] as const;

const NOTE_MAX = 500;
const [REMINDERS_MAX, REMIND_DAYS_MAX] = [10, 365];

const VARIABLES = {
  secret: "FUNDFEED_WEBHOOK_SECRET",
  slack: "FUNDFEED_SLACK_URL",
  teams: "FUNDFEED_TEAMS_URL",
  smtp: "FUNDFEED_SMTP_URL",
};

/** A new watch gets a default for what is not given. */
export function addMessageOptions(command: CliCommand, isNew: boolean): CliCommand {
  const to = new Option("--to <receiver>", "what receives the messages").choices(receivers);
  const atLeast = new Option("--at-least <severity>", "report changes of this severity or a higher one").choices(
    severities.filter((each) => each !== "unknown"),
  );
  const zone = new Option("--zone <zone>", "time zone of dates in messages for people, and of --every and --remind").argParser(timeZone);
  return command
    .addOption(isNew ? to.makeOptionMandatory() : to)
    .addOption(isNew ? atLeast.default("material") : atLeast)
    .option("--type <types>", `report only changes of these types: ${changeTypes.join(", ")}`, typesAmong(changeTypes))
    .option("--remind <days>", "remind of due dates so many days before: 14d,3d", reminders)
    .option("--every <when>", 'make messages only then, in --zone: day, week, "day 08:00" or "monday 08:00"', schedule)
    .option("--note <text>", "a note that every message repeats", note)
    .option("--from-start", "report all opportunities that match already as new, in the first messages")
    .option("--url <url>", "webhook: URL to post to; one that contains a secret belongs in a file", receiverUrl)
    .option("--url-file <file>", `webhook, slack, teams: file with the URL (or ${VARIABLES.slack}, ${VARIABLES.teams})`)
    .option("--secret-file <file>", `webhook: file of signing secrets (default: ${VARIABLES.secret}); created with a new one if missing`)
    .option("--mail-to <address>", "smtp: who gets the mail: one address or several, each a receiver of its own", mailAddresses)
    .setting("--mail-from <address>", "smtp: the sender", mailAddress)
    .option("--smtp-url-file <file>", `smtp: file with the server, smtps://user:password@mail.example.org (default: ${VARIABLES.smtp})`)
    .option("--allow-private", "webhook, slack, teams: allow addresses of this machine and of private networks")
    .option("--allow-http", "webhook, slack, teams: allow a URL without TLS")
    .addOption(isNew ? zone.default("America/New_York") : zone);
}

/** What the options say about messages, in place of what is present. */
export function messageFields(
  command: CliCommand,
  words: readonly string[],
  { type: types, remind, every, note }: MessageOptions,
): Pick<WatchDefinition, "types" | "remind" | "every" | "note"> {
  const time = words.find((word) => /^\d?\d:\d\d$/.test(word));
  if (every !== undefined && time !== undefined)
    command.error(`error: put the time of --every into quotes, or ${time} is a word: --every "${every.split(" ")[0]} ${time}"`);
  return { ...(types && { types }), ...(remind && { remind }), ...(every && { every }), ...(note && { note }) };
}

/** The receivers that the options name, if they can be used. Options of other receivers end the command with a usage error. */
export function receiversOf(command: CliCommand, to: Kind, options: ReceiverOptions): Receiver[] {
  if ((to === "slack" || to === "teams") && options.url !== undefined)
    command.error(`error: the URL of --to ${to} is a secret; put it into a file (--url-file) or into ${VARIABLES[to]}`);
  const foreign = givenNames(command).find((name) => !(kindsOf[name] as readonly string[]).includes(to));
  if (foreign !== undefined) {
    const { long } = command.options.find((each) => each.attributeName() === foreign) ?? {};
    command.error(`error: ${long} is not for --to ${to}, but for ${kindsOf[foreign].join(" and ")}`);
  }
  const receiver = usableReceiver(command, to, options);
  return receiver.to === "smtp" ? (options.mailTo ?? []).map((mail_to) => ({ ...receiver, mail_to })) : [receiver];
}

/** The receivers after a change: others with --to, more with --also, else the only one with the options in place of its own. */
export function changedReceivers(
  command: CliCommand,
  all: readonly Receiver[],
  options: MessageOptions & { also?: true; drop?: string },
): Receiver[] {
  const present = all.filter((each) => receiverName(each) !== options.drop);
  if (options.drop !== undefined && present.length === all.length)
    command.error(`error: there is no receiver ${options.drop}; there is ${all.map(receiverName).join(", ")}`);
  const changed = newReceivers(command, present, options);
  const result = options.also ? [...present, ...changed] : changed;
  const names = result.map(receiverName);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) command.error(`error: ${repeated} would be a receiver twice`);
  if (result.length === 0) command.error("error: a watch needs a receiver; fundfeed watch remove removes the watch");
  return result;
}

function newReceivers(command: CliCommand, present: readonly Receiver[], options: MessageOptions & { also?: true }): Receiver[] {
  const names = givenNames(command);
  if (options.to !== undefined) return receiversOf(command, options.to, options);
  if (names.length === 0) return options.also ? command.error("error: --also needs a receiver: --to, or --mail-to") : [...present];
  const [only, ...others] = options.also ? present.filter(({ to }) => to === "smtp").slice(0, 1) : [...present];
  if (only === undefined || others.length > 0)
    return command.error("error: the watch has several receivers; replace them with --to, or use --also and --drop");
  return withOptions(command, only, options);
}

function withOptions(command: CliCommand, present: Receiver, options: MessageOptions): Receiver[] {
  if (isOfMember(present)) command.error("error: a member chooses the receiver on the page of the watch");
  const names = givenNames(command);
  const { url, urlFile, ...others } = optionsOf(present);
  const address = names.includes("url") || names.includes("urlFile") ? {} : { url, urlFile };
  const given = Object.fromEntries(names.map((name) => [name, options[name]]));
  return receiversOf(command, present.to, { ...address, ...others, ...given });
}

function givenNames(command: CliCommand): (keyof typeof kindsOf)[] {
  const names = Object.keys(kindsOf) as (keyof typeof kindsOf)[];
  return names.filter((name) => command.getOptionValueSource(name) === "cli");
}

function optionsOf(receiver: Receiver): ReceiverOptions {
  const fileOf = (place: SecretPlace) => ("file" in place ? place.file : undefined);
  if (receiver.to === "stdout" || isOfMember(receiver)) return {};
  if (receiver.to === "smtp") return { mailTo: [receiver.mail_to], mailFrom: receiver.mail_from, smtpUrlFile: fileOf(receiver.url) };
  const { url, allow_private, allow_http } = receiver;
  return {
    ...("text" in url ? { url: new URL(url.text) } : { urlFile: fileOf(url) }),
    ...(receiver.to === "webhook" && { secretFile: fileOf(receiver.secret) }),
    ...(allow_private && { allowPrivate: true }),
    ...(allow_http && { allowHttp: true }),
  };
}

function usableReceiver(command: CliCommand, to: Kind, options: ReceiverOptions): Receiver {
  const { machine } = command;
  const { url, urlFile, allowPrivate: allow_private = false, allowHttp: allow_http = false, mailTo, mailFrom } = options;
  if (to === "stdout") return { to };
  if (to === "smtp") {
    if (mailTo === undefined || mailFrom === undefined) command.error("error: --to smtp requires --mail-to and --mail-from");
    const receiver = {
      to,
      url: placeOf(command, options.smtpUrlFile, VARIABLES.smtp, "--to smtp requires --smtp-url-file"),
      mail_to: mailTo?.[0] ?? "",
      mail_from: mailFrom ?? "",
    };
    smtpServer(receiver, machine);
    return receiver;
  }
  if (to === "slack" || to === "teams") {
    const place = placeOf(command, urlFile, VARIABLES[to], `--to ${to} requires --url-file`);
    urlOf(place, machine);
    return { to, url: place, allow_private, allow_http };
  }
  if ((url === undefined) === (urlFile === undefined)) command.error("error: --to webhook requires --url or --url-file");
  if (url?.protocol === "http:" && !allow_http) command.error(`error: ${url.href} is not https; --allow-http allows that`);
  const place = urlFile === undefined ? { text: url?.href ?? "" } : { file: resolve(urlFile) };
  urlOf(place, machine);
  return { to, url: place, secret: secretPlace(command, options.secretFile), allow_private, allow_http };
}

/** The file or the variable. Without either, ends the command with a usage error that begins with `requirement`. */
function placeOf(command: CliCommand, file: string | undefined, variable: string, requirement: string): SecretPlace {
  if (file !== undefined) return { file: resolve(file) };
  if ((command.machine.env[variable] ?? "").trim() === "") command.error(`error: ${requirement} or ${variable}`);
  return { variable };
}

/** Creates a file with a new secret if there is none. Throws if the secrets there cannot be used. */
function secretPlace(command: CliCommand, path: string | undefined): SecretPlace {
  const { machine } = command;
  const requirement = "--to webhook requires --secret-file, which is created if it is missing,";
  const place = placeOf(command, path, VARIABLES.secret, requirement);
  if (path !== undefined && writeNew(path, `${newSigningSecret(machine)}\n`))
    machine.printError(`Wrote a new signing secret to ${path}; the receiver needs it to verify messages`);
  readSigningSecrets(place, machine);
  return place;
}

function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw new Failure(`Cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

const receiverUrl = parserBy(
  "It must be an https URL without query and password; put one that has them into a file: --url-file.",
  plainHttpUrl,
);
const mailAddress = parserBy("It must be one mail address such as ann@example.org, without a name.", (text) =>
  isMailAddress(text) ? text : undefined,
);
const mailAddresses = parserOfList((text) => text.split(",").map((each) => mailAddress(each.trim())));
const schedule = parserBy('It must be day, week or a day of the week, and may end in a time: "monday 08:00".', readSchedule);
const timeZone = parserBy("It must be a time zone such as America/New_York or UTC.", findZone);
const note = parserBy(`It must have 1 to ${NOTE_MAX} characters.`, (text) => {
  const line = oneLine(text).trim();
  return line !== "" && line.length <= NOTE_MAX ? line : undefined;
});

function reminders(text: string, earlier: number[] = []): number[] {
  const given = text.split(",").map((each) => /^(\d{1,3})d$/.exec(each.trim())?.[1]);
  const days = [...new Set([...earlier, ...given.map((each) => (each === undefined ? Number.NaN : Number(each)))])];
  if (days.length <= REMINDERS_MAX && days.every((each) => each <= REMIND_DAYS_MAX)) return days.toSorted((one, other) => other - one);
  throw new InvalidArgumentError(
    `It must be days before the due date such as 14d,3d: at most ${REMINDERS_MAX}, each at most ${REMIND_DAYS_MAX}d.`,
  );
}
