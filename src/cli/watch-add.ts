import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { codeOf, reasonOf } from "../../db/reason.ts";
import { type Severity, severities } from "../events/event.ts";
import { describeFilter } from "../filter/filter.ts";
import { resolveSources } from "../filter/sources.ts";
import { matchesAtEnd } from "../watch/matching.ts";
import { isMailAddress, smtpServer } from "../watch/smtp.ts";
import { type Definition, isName, NAME_RULE, type Receiver, type SecretPlace } from "../watch/watch.ts";
import { addWatch } from "../watch/watch-file.ts";
import { newSigningSecret, readSigningSecrets, urlOf } from "../watch/webhook.ts";
import { plainHttpUrl } from "./arguments.ts";
import type { Cli } from "./command.ts";
import { addFilterOptions, type FilterOptions, filterOf, refuseEmptyRanges, refuseUnknownOptions, withWords } from "./filter-options.ts";
import { examples, formatCount, printResult } from "./output.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "./search-options.ts";
import { addWatchOptions, type WatchOptions, withWatches } from "./watch-options.ts";

const receivers = ["stdout", "webhook", "smtp", "slack"] as const;

type AddOptions = WatchOptions &
  SearchOptions &
  FilterOptions & {
    to: (typeof receivers)[number];
    atLeast: Severity;
    url?: URL;
    urlFile?: string;
    secretFile?: string;
    mailTo?: string;
    mailFrom?: string;
    smtpUrlFile?: string;
    allowPrivate?: true;
    allowHttp?: true;
    fromStart?: true;
    zone: string;
  };

/** A range such as from a date to 30d from now may be empty now and not later. */
const CENTURY_MS = 100 * 365 * 86_400_000;

/** Where secrets are without a file. */
const VARIABLES = { secret: "FUNDFEED_WEBHOOK_SECRET", slack: "FUNDFEED_SLACK_URL", smtp: "FUNDFEED_SMTP_URL" };

export function addCommand(adding: Command, cli: Cli): Command {
  addWatchOptions(adding)
    .argument("<name>", "name of the watch", watchName)
    .argument("[words...]", 'words that must all occur, as in find: quantum, "a phrase", quant*, -optical')
    .allowUnknownOption() // -optical
    .addOption(new Option("--to <receiver>", "what receives the messages").choices(receivers).makeOptionMandatory())
    .addOption(
      new Option("--at-least <severity>", "report changes of this severity or a higher one")
        .choices(severities.filter((each) => each !== "unknown"))
        .default("material"),
    )
    .option("--from-start", "report all opportunities that match already as new, in the first messages")
    .option("--url <url>", "webhook: URL to post to; one that contains a secret belongs in a file", receiverUrl)
    .option("--url-file <file>", `webhook, slack: file with the URL (slack: or ${VARIABLES.slack})`)
    .option("--secret-file <file>", `webhook: file of signing secrets (default: ${VARIABLES.secret}); created with a new one if missing`)
    .option("--mail-to <address>", "smtp: who gets the mail: one address", mailAddress)
    .addOption(new Option("--mail-from <address>", "smtp: the sender").env("FUNDFEED_MAIL_FROM").argParser(mailAddress))
    .option("--smtp-url-file <file>", `smtp: file with the server, smtps://user:password@mail.example.org (default: ${VARIABLES.smtp})`)
    .option("--allow-private", "webhook, slack: allow addresses of this machine and of private networks")
    .option("--allow-http", "webhook, slack: allow a URL without TLS")
    .addOption(new Option("--zone <zone>", "time zone of dates in messages for people").default("America/New_York").argParser(timeZone));
  addFilterOptions(adding);
  return addSearchOptions(adding)
    .addHelpText(
      "after",
      examples(
        "fundfeed watch add quantum quantum --status open,closing_soon --to stdout",
        "fundfeed watch add navy --agency navy --to webhook --url https://hooks.example.org/x --secret-file navy.secret",
        "fundfeed watch add sbir --program-type SBIR,STTR --to smtp --mail-to ann@example.org --mail-from fundfeed@example.org",
      ),
    )
    .action(async (name: string, words: string[], options: AddOptions) => {
      refuseUnknownOptions(adding, words);
      const filter = withWords(adding, filterOf(options), words);
      const now = cli.machine.now();
      refuseEmptyRanges(adding, filter, now, now + CENTURY_MS);
      await add(cli, name, { filter, ...definitionOf(cli, adding, options) }, options);
    });
}

async function add(cli: Cli, name: string, definition: Definition, options: AddOptions): Promise<void> {
  const { machine } = cli;
  const members = await withWatches(cli, options, async (file, catalog) => {
    await resolveSources(catalog, definition.filter, "watch opportunities of"); // Throws for a mistyped source.
    return withSearchIndex(cli, options, catalog, async (index) => {
      const now = machine.now();
      const { matching, position } = await matchesAtEnd(catalog, index, definition.filter, now);
      if (!addWatch(file, { name, created_at: now, definition }, position, options.fromStart ? [] : matching))
        throw new Error(`Cannot add watch ${name}: there is one with this name; fundfeed watch remove ${name} removes it`);
      return matching.length;
    });
  });
  const about = describeFilter(definition.filter, machine.now()).join("; ");
  const what = about === "" ? "all opportunities" : about;
  const text = `Added watch ${name} for ${what}; ${formatCount(members)} match now. fundfeed watch run sends its messages`;
  printResult(cli, options, { name, ...definition, matching: members }, text);
}

function definitionOf(cli: Cli, adding: Command, options: AddOptions): Omit<Definition, "words" | "filter"> {
  return { at_least: options.atLeast, zone: options.zone, receiver: receiverOf(cli, adding, options) };
}

/** The receiver, if what the options name can be used. */
function receiverOf(cli: Cli, adding: Command, options: AddOptions): Receiver {
  const { machine } = cli;
  const { to, url, urlFile, allowPrivate: allow_private = false, allowHttp: allow_http = false, mailTo, mailFrom } = options;
  if (to === "stdout") return { to };
  if (to === "smtp") {
    if (mailTo === undefined || mailFrom === undefined) adding.error("error: --to smtp requires --mail-to and --mail-from");
    const receiver = { to, url: placeOf(options.smtpUrlFile, VARIABLES.smtp), mail_to: mailTo ?? "", mail_from: mailFrom ?? "" };
    smtpServer(receiver, machine);
    return receiver;
  }
  if (to === "slack") {
    if (url !== undefined)
      adding.error(`error: the URL of --to slack is a secret; put it into a file (--url-file) or into ${VARIABLES.slack}`);
    const place = placeOf(urlFile, VARIABLES.slack);
    urlOf(place, machine);
    return { to, url: place, allow_private, allow_http };
  }
  if ((url === undefined) === (urlFile === undefined)) adding.error("error: --to webhook requires --url or --url-file");
  if (url?.protocol === "http:" && !allow_http) adding.error(`error: ${url.href} is not https; --allow-http allows that`);
  const place = urlFile === undefined ? { text: url?.href ?? "" } : { file: resolve(urlFile) };
  urlOf(place, machine);
  return { to, url: place, secret: secretPlace(cli, options.secretFile), allow_private, allow_http };
}

function placeOf(file: string | undefined, variable: string): SecretPlace {
  return file === undefined ? { variable } : { file: resolve(file) };
}

/** Creates a file with a new secret if there is none. Throws if the secrets there cannot be used. */
function secretPlace({ machine }: Cli, path: string | undefined): SecretPlace {
  const place = placeOf(path, VARIABLES.secret);
  if (path !== undefined && writeNew(path, `${newSigningSecret(machine)}\n`))
    machine.printError(`Wrote a new signing secret to ${path}; the receiver needs it to verify messages`);
  readSigningSecrets(place, machine);
  return place;
}

/** Returns false if there is a file already. */
function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw new Error(`Cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function watchName(text: string): string {
  if (!isName(text)) throw new InvalidArgumentError(NAME_RULE);
  return text;
}

function receiverUrl(text: string): URL {
  const url = plainHttpUrl(text);
  if (url === undefined)
    throw new InvalidArgumentError("It must be an https URL without query and password; put one that has them into a file: --url-file.");
  return url;
}

function mailAddress(text: string): string {
  if (!isMailAddress(text)) throw new InvalidArgumentError("It must be one mail address such as ann@example.org, without a name.");
  return text;
}

function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError("It must be a time zone such as America/New_York or UTC.");
  }
}
