import { type Command, Option } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { codeOf } from "../../db/reason.ts";
import { type Access, saveUse } from "../accounts/access.ts";
import { turnStatuses } from "../changes/status-turns.ts";
import { createApp } from "../http/app.ts";
import { type Certificate, readCertificate } from "../http/certificate.ts";
import { descriptionFiles } from "../http/docs.ts";
import { type Listener, listen } from "../http/listen.ts";
import { createMetricsApp } from "../http/metrics.ts";
import { createLog, type Log, type LogFormat, type LogLevel, logFormats, logLevels } from "../monitoring/log.ts";
import { countingLog, countStatusTurns, createMetrics, type Metrics, metricsText } from "../monitoring/metrics.ts";
import { keepSnapshot } from "../opportunities/index-snapshot.ts";
import { refresh } from "../opportunities/read-model.ts";
import { ownQuotas } from "../quota/allowance.ts";
import { isRedisAddress, type SharedQuotas, shareQuotas } from "../quota/redis.ts";
import type { Machine } from "../runtime/machine.ts";
import { openStores, type Stores } from "../server/stores.ts";
import { STOPPED_BY_SIGHUP, serveByWorkers } from "../server/workers.ts";
import { baseAddress, type Cli, type CommonOptions, command, examples, nonBlank, requirePostgresAddress, wholeNumber } from "./command.ts";

/** How often use is written to state.db (D-25). */
const SAVE_MS = 500;
/** How often the server turns statuses whose date has passed (D-37: a minute late at most). */
const STATUS_TURNS_MS = 15_000;
/** How often one run tries to write between an import's transactions before it leaves the rest to the next run. */
const STATUS_TURNS_ATTEMPTS = 400;
const STATUS_TURNS_RETRY_MS = 5;
/** How often the files are looked at: somebody may have put others in their place. */
const LOOK_MS = 1000;
/** How often the server looks whether the index snapshot is too old. */
const SNAPSHOT_MS = 60_000;
/** How long after its start the server builds `/docs` and `/openapi.json`, if no request has asked for them yet. */
const DESCRIBE_AFTER_MS = 1000;
/** In percent: right for two servers. */
const QUOTA_SHARE = 50;
/** How long files that were replaced stay open: requests that began with them may be waiting for their quota. */
const LINGER_MS = 500;
/** How long a stop waits for the requests under way. */
const DRAIN_MS = 10_000;

export type ServeOptions = CommonOptions & {
  host: string;
  port: number;
  workers?: number;
  baseUrl?: string;
  tlsCert?: string;
  tlsKey?: string;
  metricsHost?: string;
  metricsPort?: number;
  logFormat: LogFormat;
  logLevel?: LogLevel;
  quotas?: string;
  quotaShare?: number;
  readDatabase?: string;
};

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
        .default(QUOTA_SHARE)
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
    cli.exitCode = await (workers > 1 ? serveByWorkers(cli.machine, options, serve) : serve(cli.machine, options));
  });
}

/** Serves until a signal ends it. The exit code: 0 when every request under way was answered, 1 when some were cut. */
export async function serve(machine: Machine, options: ServeOptions): Promise<number> {
  const { now } = machine;
  const metrics = createMetrics(now());
  const log = countingLog(metrics, createLog(options.logFormat, machine.writeLog, options.logLevel));
  const stopSignals = watchStopSignals(machine, options, log); // First: whoever reads "listening on …" may stop it at once.
  const certificate = readCertificateOf(options);
  using shared = await shareQuotasOf(options, log, now);
  const open = async (mode = options.mode) => {
    const stores = await openStores({ ...options, mode }, now(), (text) => log.notice(now(), text));
    stores.access.quotas = shared ?? ownQuotas;
    return stores;
  };
  let stores = await open();
  try {
    // The public address is known only once the port is.
    const server = await listen(
      { fetch: (request) => app.fetch(request) },
      { hostname: options.host, port: options.port, reusePort: (options.workers ?? 1) > 1 },
      certificate,
    );
    const { baseUrl = `${originOf(certificate === undefined ? "http" : "https", options.host, server)}/v1` } = options;
    const files = descriptionFiles(baseUrl);
    const appOver = ({ model, access }: Stores) => createApp({ model, access, baseUrl, files, now, randomBytes: machine.randomBytes, log });
    let app = appOver(stores);

    const reopenReplaced = async () => {
      const state = stores.checkFiles();
      if (state === "intact") return;
      if (state === "missing")
        throw new Error(`The files in ${options.data} are missing: the open ones are served until files are there again`);
      const replaced = stores;
      stores = await open("change"); // An empty file must not become a new catalogue: somebody may be copying into it.
      app = appOver(stores);
      await Bun.sleep(LINGER_MS);
      await saveLastUse(replaced.access, now(), log); // The state may be the same file still, and is where its requests belong.
      await replaced.close();
      log.notice(now(), `The files in ${options.data} were replaced; the server now serves the new ones`);
    };
    const directory = options.database === undefined ? options.data : undefined;
    const scrapes = await listenForScrapes(options, log, now, () =>
      metricsText(metrics, { catalog: stores.model.db, directory, machine, quotas: shared }),
    );
    const turns = [
      repeat(SAVE_MS, now, log, () => saveUse(stores.access)),
      repeat(STATUS_TURNS_MS, now, log, () => turnDueStatuses(stores.statusDb, now(), metrics)),
      repeat(LOOK_MS, now, log, reopenReplaced),
      repeat(LOOK_MS, now, log, async () => refresh(stores.model)), // So that no request waits for a whole import.
      repeat(SNAPSHOT_MS, now, log, async () => {
        const { model, snapshotPath } = stores;
        if (snapshotPath !== undefined && (machine.worker?.number ?? 1) === 1) await keepSnapshot(model, snapshotPath);
      }),
    ];
    if (certificate === undefined) warnOfPlainHttp(options.host, log, now());
    else renewCertificate(machine, server, log, () => readCertificateOf(options) ?? certificate);
    machine.printLine(options.json ? JSON.stringify({ base_url: baseUrl }) : `listening on ${baseUrl}`);
    using _describing = later(DESCRIBE_AFTER_MS, files);
    if ((machine.worker?.number ?? 1) === 1) {
      log.notice(now(), `The API reference is at ${baseUrl}/docs`);
      if (options.baseUrl === undefined && loopbackFor(server.address) !== undefined) log.notice(now(), onlyHere(baseUrl));
    }

    const drained = await stopped(stopSignals, server);
    await scrapes?.stop(true);
    await Promise.all(turns.map((end) => end()));
    await saveLastUse(stores.access, now(), log);
    return drained ? 0 : 1;
  } finally {
    log.flush();
    await stores.close();
  }
}

function readCertificateOf({ tlsCert, tlsKey }: ServeOptions): Certificate | undefined {
  return tlsCert === undefined || tlsKey === undefined ? undefined : readCertificate(tlsCert, tlsKey);
}

async function shareQuotasOf(
  { quotas, quotaShare = QUOTA_SHARE }: ServeOptions,
  log: Log,
  now: () => number,
): Promise<SharedQuotas | undefined> {
  if (quotas === undefined) return undefined;
  const { host } = new URL(quotas); // Without user and password.
  const alone = `this server counts by itself, and grants ${quotaShare} % of each key's minute`;
  return shareQuotas({
    address: quotas,
    sharePercent: quotaShare,
    onAway: (reason) => log.failure(now(), new Error(`Redis at ${host} is away (${reason}): ${alone}`), null),
    onBack: () => log.notice(now(), `Redis at ${host} is back: quotas are shared again`),
  });
}

/** Where a server that listens on a host is reached. On every address of the machine, that is its loopback address. */
function originOf(scheme: "http" | "https", host: string, { address, port }: Listener): string {
  const name = loopbackFor(address) ?? host.replace(/^\[(.*)\]$/, "$1");
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** The loopback address beside an address that stands for all of the machine's. */
function loopbackFor(address: string): string | undefined {
  const { hostname } = new URL(`http://${address.includes(":") ? `[${address}]` : address}`);
  return { "0.0.0.0": "127.0.0.1", "[::]": "::1" }[hostname];
}

function onlyHere(baseUrl: string): string {
  return `The description and the types of problems name ${baseUrl}, which is right on this machine alone: give --base-url for clients elsewhere`;
}

function warnOfPlainHttp(host: string, log: Log, now: number): void {
  if (/^(127\.|localhost$|::1$)/.test(host)) return;
  log.notice(
    now,
    `Keys travel in the clear: this is plain HTTP on ${host}. Give --tls-cert and --tls-key, or let only a proxy that ends TLS reach it.`,
  );
}

/** At SIGHUP. What cannot be used is logged, and the certificate in use stays. */
function renewCertificate({ onReloadSignal, now }: Machine, server: Listener, log: Log, read: () => Certificate): void {
  const readOrLog = () => {
    try {
      return read();
    } catch (error) {
      log.failure(now(), error, null);
      return undefined;
    }
  };
  onReloadSignal(() => {
    const certificate = readOrLog();
    if (certificate === undefined) return;
    server.renew(certificate);
    log.notice(now(), "The certificate was read again; new connections get it");
  });
}

async function listenForScrapes(
  { metricsHost = "127.0.0.1", metricsPort }: ServeOptions,
  log: Log,
  now: () => number,
  text: () => Promise<string>,
): Promise<Listener | undefined> {
  if (metricsPort === undefined) return undefined;
  const listener = await listen(createMetricsApp(text), { hostname: metricsHost, port: metricsPort });
  log.notice(now(), `The metrics are at ${originOf("http", metricsHost, listener)}/metrics`);
  return listener;
}

/** An import may lock the file for half a second. Short attempts, not one long wait, because requests would wait as well. */
async function turnDueStatuses(db: CatalogDb, now: number, metrics: Metrics): Promise<void> {
  for (let attempt = 1; attempt <= STATUS_TURNS_ATTEMPTS; attempt++) {
    try {
      return countStatusTurns(metrics, await turnStatuses(db, now));
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error;
      await Bun.sleep(STATUS_TURNS_RETRY_MS);
    }
  }
}

/** What fails is logged, and tried again at the next turn; turns never overlap. Answers with what ends it, after the turn under way. */
function repeat(everyMs: number, now: () => number, log: Log, work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const begin = () => {
    underWay ??= work()
      .catch((error: unknown) => log.recurring(now(), error, null))
      .finally(() => {
        underWay = undefined;
      });
  };
  begin();
  const timer = setInterval(begin, everyMs);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

/** Calls `work` after a while, unless it is disposed of first. */
function later(ms: number, work: () => unknown): Disposable {
  const timer = setTimeout(work, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

type StopSignals = { first: Promise<void>; second: Promise<void> };

/** SIGHUP stops a server that has no certificate to read again: most often its terminal was closed. */
function watchStopSignals(machine: Machine, { tlsCert }: ServeOptions, log: Log): StopSignals {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let signals = 0;
  const stop = () => (++signals === 1 ? first : second).resolve();
  machine.onStopSignal(stop);
  if (tlsCert === undefined) {
    machine.onReloadSignal(() => {
      log.notice(machine.now(), STOPPED_BY_SIGHUP);
      stop();
    });
  }
  return { first: first.promise, second: second.promise };
}

/** Resolves once the server has stopped: true when it drained, false when a second signal or the time limit cut it. */
async function stopped({ first, second }: StopSignals, server: Listener): Promise<boolean> {
  await first;
  const drained = await Promise.race([server.stop().then(() => true), second.then(() => false), Bun.sleep(DRAIN_MS).then(() => false)]);
  if (!drained) await server.stop(true);
  return drained;
}

async function saveLastUse(access: Access, now: number, log: Log): Promise<void> {
  try {
    await saveUse(access);
  } catch (error) {
    log.failure(now, error, null);
  }
}
