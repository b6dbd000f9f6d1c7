/** `fundfeed serve`: serve the API. */
import { type LogFormat, logFormats, logLevels } from "../../monitoring/log.ts";
import { isRedisAddress } from "../../quota/redis.ts";
import type { Machine } from "../../runtime/machine.ts";
import { QUOTA_SHARE_PERCENT, type ServeOptions } from "../../server/options.ts";
import { serve } from "../../server/serve.ts";
import { serveWithWorkers } from "../../server/workers.ts";
import { nonBlank, publicBaseUrl, wholeNumber } from "../arguments.ts";
import { type Cli, type CliCommand, requirePostgresAddress } from "../command.ts";

type GivenOptions = Omit<ServeOptions, "logFormat"> & { logFormat?: LogFormat };

export function serveCommand(serving: CliCommand, cli: Cli): CliCommand {
  serving
    .setting("--host <address>", "address to listen on; 0.0.0.0 means all addresses of the machine", nonBlank, "127.0.0.1")
    .setting("--port <n>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), 8080)
    .setting(
      "--workers <n>",
      "processes that share the port; more than one needs --quotas, so that limits stay exact",
      wholeNumber(1, 64),
      1,
    )
    .setting(
      "--base-url <url>",
      "public base URL, ending in /v1 (default: http://<host>:<port>/v1, https with a certificate, 127.0.0.1 for 0.0.0.0)",
      publicBaseUrl,
    )
    .setting("--tls-cert <file>", "serve over TLS with this PEM file of certificate and intermediates; SIGHUP reloads it", nonBlank)
    .setting("--tls-key <file>", "PEM file of the certificate's private key", nonBlank)
    .setting("--metrics-port <n>", "serve Prometheus metrics at /metrics on this port; 0 takes a free one", wholeNumber(0, 65_535))
    .setting("--metrics-host <address>", "address to serve metrics on; they require no key", nonBlank, "127.0.0.1")
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
  serving.examples(
    "fundfeed serve",
    "# behind a proxy that ends TLS",
    "fundfeed serve --base-url https://api.example.org/v1",
    "fundfeed serve --host 0.0.0.0 --port 443 --tls-cert c.pem --tls-key k.pem",
  );
  return serving.action(async ({ logFormat = formatFor(cli.machine), ...others }: GivenOptions) => {
    const options: ServeOptions = { ...others, logFormat };
    if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
      serving.error("error: --tls-cert and --tls-key must be given together");
    // Checked here because an argParser would repeat the URL, which may hold a password.
    if (options.quotas !== undefined && !isRedisAddress(options.quotas))
      serving.error("error: --quotas must be a percent-encoded URL such as redis://127.0.0.1:6379/0");
    const isFromEnvironment = serving.getOptionValueSource("readDatabase") === "env";
    if (isFromEnvironment && serving.getOptionValueSource("data") === "cli") delete options.readDatabase; // Like FUNDFEED_DATABASE, it yields to --data.
    requirePostgresAddress(serving, "--read-database", options.readDatabase);
    if (options.readDatabase !== undefined && options.database === undefined)
      serving.error("error: --read-database is a replica of --database, and requires it");
    cli.isLasting = true;
    const { workers = 1 } = options;
    if (workers > 1 && options.quotas === undefined)
      serving.error("error: --workers requires --quotas redis://…: without Redis, each worker would grant a key its whole quota");
    cli.exitCode = await (workers > 1 ? serveWithWorkers(cli.machine, options) : serve(cli.machine, options));
  });
}

function formatFor(machine: Machine): LogFormat {
  return machine.isLogOnTerminal() ? "text" : "json";
}
