import { type Command, Option } from "commander";
import { logFormats, logLevels } from "../monitoring/log.ts";
import { isRedisAddress } from "../quota/redis.ts";
import { QUOTA_SHARE_PERCENT, type ServeOptions } from "../server/options.ts";
import { serve } from "../server/serve.ts";
import { serveWithWorkers } from "../server/workers.ts";
import { baseAddress, type Cli, command, examples, nonBlank, requirePostgresAddress, wholeNumber } from "./command.ts";

export function serveCommand(cli: Cli): Command {
  const serving = command("serve", "Serve the API; SIGTERM or SIGINT ends it after the requests under way")
    .addOption(
      new Option("--host <address>", "address to listen on; 0.0.0.0 is every one of the machine's")
        .env("FUNDFEED_HOST")
        .default("127.0.0.1")
        .argParser(nonBlank),
    )
    .addOption(
      new Option("--port <n>", "port to listen on; 0 takes a free one")
        .env("FUNDFEED_PORT")
        .default(8080)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--workers <n>", "processes that share the port; more than one need --quotas, so that limits stay exact")
        .env("FUNDFEED_WORKERS")
        .default(1)
        .argParser(wholeNumber(1, 64)),
    )
    .addOption(
      new Option(
        "--base-url <url>",
        "public base address, ending in /v1 (default: http://<host>:<port>/v1, https with a certificate; 127.0.0.1 for 0.0.0.0)",
      )
        .env("FUNDFEED_BASE_URL")
        .argParser(baseAddress),
    )
    .addOption(
      new Option("--tls-cert <file>", "serve over TLS with this certificate and those that lead to its root, in PEM; SIGHUP reads it again")
        .env("FUNDFEED_TLS_CERT")
        .argParser(nonBlank),
    )
    .addOption(new Option("--tls-key <file>", "its private key, in PEM").env("FUNDFEED_TLS_KEY").argParser(nonBlank))
    .addOption(
      new Option("--metrics-port <n>", "serve metrics for a Prometheus at /metrics of this port; 0 takes a free one")
        .env("FUNDFEED_METRICS_PORT")
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--metrics-host <address>", "address for the metrics: they need no key")
        .env("FUNDFEED_METRICS_HOST")
        .default("127.0.0.1")
        .argParser(nonBlank),
    )
    .addOption(
      new Option("--log-format <format>", "format of the log on standard error")
        .env("FUNDFEED_LOG_FORMAT")
        .choices(logFormats)
        .default("json"),
    )
    .addOption(
      new Option("--log-level <level>", "request: all; failure: all but requests; none: nothing")
        .env("FUNDFEED_LOG_LEVEL")
        .choices(logLevels)
        .default("request"),
    )
    .addOption(
      new Option(
        "--quotas <url>",
        "count in a Redis that several servers share: redis://host:6379/0, rediss:// over TLS; with a password, rather by the environment",
      ).env("FUNDFEED_QUOTAS"),
    )
    .addOption(
      new Option("--quota-share <percent>", "while that Redis is away, how much of a key's minute this server grants by itself")
        .env("FUNDFEED_QUOTA_SHARE")
        .default(QUOTA_SHARE_PERCENT)
        .argParser(wholeNumber(1, 100)),
    )
    .addOption(
      new Option("--read-database <url>", "a replica of --database, from which opportunities and their history are read").env(
        "FUNDFEED_READ_DATABASE",
      ),
    );
  serving.addHelpText(
    "after",
    examples(
      "fundfeed serve",
      "fundfeed serve --base-url https://api.example.org/v1                     behind a proxy that ends TLS",
      "fundfeed serve --host 0.0.0.0 --port 443 --tls-cert chain.pem --tls-key key.pem",
    ),
  );
  return serving.action(async (options: ServeOptions) => {
    if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
      serving.error("error: --tls-cert and --tls-key need each other");
    // Not by an argParser, whose refusal repeats what was given: that may hold a password.
    if (options.quotas !== undefined && !isRedisAddress(options.quotas))
      serving.error("error: --quotas must be an address such as redis://127.0.0.1:6379/0, percent-encoded");
    const isFromEnvironment = serving.getOptionValueSource("readDatabase") === "env";
    if (isFromEnvironment && serving.getOptionValueSource("data") === "cli") delete options.readDatabase; // As FUNDFEED_DATABASE gives way.
    requirePostgresAddress(serving, "--read-database", options.readDatabase);
    if (options.readDatabase !== undefined && options.database === undefined)
      serving.error("error: --read-database is a replica of --database, and needs it");
    const { workers = 1 } = options;
    if (workers > 1 && options.quotas === undefined)
      serving.error("error: --workers needs --quotas redis://…: without a Redis, each worker would grant a key its whole quota");
    cli.exitCode = await (workers > 1 ? serveWithWorkers(cli.machine, options) : serve(cli.machine, options));
  });
}
