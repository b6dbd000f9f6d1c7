/** A running server: opens the databases, listens, does its periodic work, and stops when a signal asks for it. */
import type { Access } from "../accounts/access.ts";
import { warningOfChangesAhead } from "../changes/judging.ts";
import { type App, createApp } from "../http/app.ts";
import { descriptionFiles } from "../http/docs.ts";
import { type Listener, listen } from "../http/listen.ts";
import { createMetricsApp } from "../http/metrics.ts";
import type { Family } from "../monitoring/families.ts";
import { createLog, type Log } from "../monitoring/log.ts";
import { countingLog, createMetrics, metricsText } from "../monitoring/metrics.ts";
import { ownQuotas } from "../quota/allowance.ts";
import { type SharedQuotas, shareQuotas } from "../quota/redis.ts";
import type { Machine } from "../runtime/machine.ts";
import type { EpochMs } from "../text/instant.ts";
import { loopbackFor, originOf } from "./addresses.ts";
import { QUOTA_SHARE_PERCENT, type ServeOptions } from "./options.ts";
import { startPeriodicWork } from "./periodic-work.ts";
import { drain, watchStopSignals } from "./signals.ts";
import { FilesReplaced, openStores } from "./stores.ts";
import { readCertificate, reloadCertificate, warnOfPlainHttp } from "./tls.ts";
import { unknownVariables } from "./variables.ts";

/** What `up` adds to a server: more on the same port, and work beside it. */
export type Addition = {
  fetch: App["fetch"];
  hasPages: boolean;
  start: (origin: string) => void;
  families: () => readonly Family[];
  /** Called at the first signal, while the requests under way get their responses, and at the second, which forces a quick stop. */
  onStop: (isForced: boolean) => void;
  /** Called when these requests have ended, and after any failure. Returns when all of the addition has stopped. */
  end: () => Promise<void>;
};

/** Makes the addition to a server whose databases are open. `commits` changes with each commit to the catalog, if that is known. */
type Add = (server: { api: App["fetch"]; access: Access; log: Log; commits: () => number }) => Addition;

/** Serves until a signal stops it, and returns the exit code: 1 if requests were cut off. Throws `FilesReplaced` as soon as its files are. */
export async function serve(machine: Machine, options: ServeOptions, add?: Add): Promise<number> {
  const { now } = machine;
  const metrics = createMetrics(now());
  const log = countingLog(metrics, createLog(options.logFormat, machine.writeLog, options.logLevel));
  const stopSignals = watchStopSignals(machine, options, log); // First: once the address is printed, a signal may come at any time.
  const certificate = readCertificate(options);
  using sharedQuotas = await connectQuotas(options, log, now);
  const stores = await openStores(options, now(), (message) => log.notice(now(), message));
  const { model, access } = stores;
  access.quotas = sharedQuotas ?? ownQuotas;
  const addition = add?.({ api: (request) => app.fetch(request), access, log, commits: model.db.commits });
  let app: App;
  try {
    const listener = await listen(
      { fetch: addition?.fetch ?? ((request) => app.fetch(request)) },
      { hostname: options.host, port: options.port },
      certificate,
    );
    const origin = originOf(certificate === undefined ? "http" : "https", options.host, listener);
    const { baseUrl = `${origin}/v1` } = options;
    app = createApp({
      ...{ model, access, baseUrl, files: descriptionFiles(baseUrl, addition?.hasPages) },
      ...{ now, randomBytes: machine.randomBytes, log },
    });
    const directory = options.database === undefined ? options.data : undefined;
    const metricsListener = await listenForMetrics(options, log, now, () =>
      metricsText(metrics, { catalog: model.db, directory, machine, quotas: sharedQuotas, more: addition?.families() }),
    );
    if (certificate === undefined) warnOfPlainHttp(options.host, log, now());
    else reloadCertificate(machine, listener, log, () => readCertificate(options) ?? certificate);
    announce(machine, options, listener, baseUrl, log); // Before the jobs: it fails if nobody reads the address.
    const replaced = Promise.withResolvers<"replaced">();
    const stopPeriodicWork = startPeriodicWork(stores, { machine, log, metrics, onReplaced: () => replaced.resolve("replaced") });
    const warning = await warningOfChangesAhead(model.db, now()).catch((error: unknown) => log.recurring(now(), error, null)); // The server goes on.
    if (warning) log.notice(now(), warning);
    addition?.start(origin);
    void stopSignals.first.then(() => addition?.onStop(false));
    void stopSignals.second.then(() => addition?.onStop(true));

    const end = await Promise.race([drain(stopSignals, listener), replaced.promise]);
    if (end === "replaced") await listener.stop(true); // At once: each further response would be of the old files.
    await metricsListener?.stop(true);
    await stopPeriodicWork();
    if (end === "replaced") throw new FilesReplaced(options.data);
    return end ? 0 : 1;
  } finally {
    await addition?.end();
    log.flush();
    await stores.close();
  }
}

async function connectQuotas(
  { quotas, quotaShare = QUOTA_SHARE_PERCENT }: ServeOptions,
  log: Log,
  now: () => EpochMs,
): Promise<SharedQuotas | undefined> {
  if (quotas === undefined) return undefined;
  const { host } = new URL(quotas); // Without user and password.
  const consequence = `this server counts alone, and grants ${quotaShare} % of each key's minute`;
  return shareQuotas({
    address: quotas,
    sharePercent: quotaShare,
    onUnavailable: (reason) => log.failure(now(), new Error(`Redis at ${host} is unavailable (${reason}): ${consequence}`), null),
    onBack: () => log.notice(now(), `Redis at ${host} is back: quotas are shared again`),
  });
}

async function listenForMetrics(
  { metricsHost = "127.0.0.1", metricsPort }: ServeOptions,
  log: Log,
  now: () => EpochMs,
  text: () => Promise<string>,
): Promise<Listener | undefined> {
  if (metricsPort === undefined) return undefined;
  const listener = await listen(createMetricsApp(text), { hostname: metricsHost, port: metricsPort });
  log.notice(now(), `The metrics are at ${originOf("http", metricsHost, listener)}/metrics`);
  return listener;
}

function announce({ printLine, now, env }: Machine, options: ServeOptions, listener: Listener, baseUrl: string, log: Log): void {
  printLine(options.json ? JSON.stringify({ base_url: baseUrl }) : `listening on ${baseUrl}`);
  log.notice(now(), `The API reference is at ${baseUrl}/docs`);
  for (const sentence of unknownVariables(env)) log.notice(now(), sentence);
  if (options.baseUrl === undefined && loopbackFor(listener.address) !== undefined)
    log.notice(
      now(),
      `The API description and problem types name ${baseUrl}, which works on this machine only; set --base-url for clients elsewhere`,
    );
}
