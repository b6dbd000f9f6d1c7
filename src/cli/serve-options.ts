/** The options of a server, which `serve` and `up` share. */
import { type LogFormat, logFormats, logLevels } from "../monitoring/log.ts";
import { isRedisAddress } from "../quota/redis.ts";
import type { Machine } from "../runtime/machine.ts";
import { QUOTA_SHARE_PERCENT, type ServeOptions } from "../server/options.ts";
import { type CliCommand, publicBaseUrl, requirePostgresAddress, wholeNumber } from "./command.ts";

/** As commander reads them. */
export type GivenServeOptions = Omit<ServeOptions, "logFormat"> & { logFormat?: LogFormat };

export function addServeOptions(command: CliCommand): CliCommand {
  return command
    .setting("--host <address>", "address to listen on; 0.0.0.0 means all addresses of the machine", undefined, "127.0.0.1")
    .setting("--port <n>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), 8080)
    .setting(
      "--base-url <url>",
      "public base URL, ending in /v1 (default: http://<host>:<port>/v1, https with a certificate, 127.0.0.1 for 0.0.0.0)",
      publicBaseUrl,
    )
    .setting("--tls-cert <file>", "serve over TLS with this PEM file of certificate and intermediates; SIGHUP reloads it")
    .setting("--tls-key <file>", "PEM file of the certificate's private key")
    .setting("--metrics-port <n>", "serve Prometheus metrics at /metrics on this port; 0 takes a free one", wholeNumber(0, 65_535))
    .setting("--metrics-host <address>", "address to serve metrics on; they require no key", undefined, "127.0.0.1")
    .setting("--log-format <format>", "format of the log on standard error (default: text on a terminal, else json)", logFormats)
    .setting("--log-level <level>", "request: everything; failure: all but requests; none: nothing", logLevels, "request")
    .setting(
      "--quotas <url>",
      "Redis in which several servers count quotas: redis://host:6379/0, rediss:// for TLS; put a URL with a password into the variable",
    )
    .setting(
      "--quota-share <percent>",
      "share of a key's requests per minute that this server grants while Redis is unavailable",
      wholeNumber(1, 100),
      QUOTA_SHARE_PERCENT,
    )
    .setting("--read-database <url>", "replica of --database from which opportunities and their history are read");
}

/** The options of a server. Ends the command with a usage error if they contradict each other. */
export function readServeOptions<Given extends GivenServeOptions>(
  command: CliCommand,
  machine: Machine,
  given: Given,
): Given & { logFormat: LogFormat } {
  const options = { ...given, logFormat: given.logFormat ?? (machine.isLogOnTerminal() ? "text" : "json") };
  if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
    command.error("error: --tls-cert and --tls-key must be given together");
  // Checked here because an argParser would repeat the URL, which may hold a password.
  if (options.quotas !== undefined && !isRedisAddress(options.quotas))
    command.error("error: --quotas must be a percent-encoded URL such as redis://127.0.0.1:6379/0");
  const isFromEnvironment = command.getOptionValueSource("readDatabase") === "env";
  if (isFromEnvironment && command.getOptionValueSource("data") === "cli") delete options.readDatabase; // Like FUNDFEED_DATABASE, it yields to --data.
  requirePostgresAddress(command, "--read-database", options.readDatabase);
  if (options.readDatabase !== undefined && options.database === undefined)
    command.error("error: --read-database is a replica of --database, and requires it");
  return options;
}
