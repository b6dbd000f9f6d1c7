import { type Command, Option } from "commander";
import { type CatalogDb, close, openCatalog, openState, type StateDb } from "../../db/open.ts";
import { type Access, createAccess, saveUse } from "../accounts/access.ts";
import { createCatalog } from "../catalog.ts";
import { refresh } from "../changes/refresh.ts";
import { createApp } from "../http/app.ts";
import { descriptionAssets } from "../http/docs.ts";
import { listen } from "../http/listen.ts";
import { createLog, type Log, type LogFormat, logFormats } from "../log.ts";
import type { Machine } from "../machine.ts";
import { baseAddress, type Cli, type CommonOptions, command, nonBlank, wholeNumber } from "./command.ts";

/** How often use is written to state.db (D-25), and how often the clock looks for statuses whose date has passed (D-37: a minute late at most). */
const SAVE_MS = 500;
const CLOCK_MS = 15_000;
/** How long a stop waits for the requests under way. */
const DRAIN_MS = 10_000;
/** How long the server's own small writes wait for another writer: for that long it answers nobody. */
const OWN_WRITES_WAIT_MS = 100;

export type ServeOptions = CommonOptions & { host: string; port: number; baseUrl?: string; logFormat: LogFormat };

export function serveCommand(cli: Cli): Command {
  return command("serve", "Serve the API; SIGTERM or SIGINT ends it after the requests under way")
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
      new Option("--base-url <url>", "public base address, ending in /v1 (default: http://<host>:<port>/v1)")
        .env("FUNDFEED_BASE_URL")
        .argParser(baseAddress),
    )
    .addOption(
      new Option("--log-format <format>", "of the lines on standard error").env("FUNDFEED_LOG_FORMAT").choices(logFormats).default("json"),
    )
    .action(async (options: ServeOptions) => {
      cli.exitCode = await serve(cli.machine, options);
    });
}

/** Serves until a signal ends it. The exit code: 0 when every request under way was answered, 1 when some were cut. */
export async function serve(machine: Machine, options: ServeOptions): Promise<number> {
  const { now } = machine;
  const log = createLog(options.logFormat, machine.writeLog);
  const stopSignals = watchStopSignals(machine); // First: whoever reads "listening on …" may stop it at once.
  const databases = openDatabases(options.data, now());
  try {
    const access = await createAccess(databases.state, now());
    const catalog = createCatalog(databases.catalog);
    // The public address is known only once the port is.
    const server = listen({ fetch: (request) => app.fetch(request) }, { hostname: options.host, port: options.port });
    const baseUrl = options.baseUrl ?? `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${server.port}/v1`;
    const app = createApp({ catalog, access, baseUrl, assets: descriptionAssets(baseUrl), now, randomBytes: machine.randomBytes, log });

    const saving = repeat(SAVE_MS, now, log, () => saveUse(access, now()));
    const clock = repeat(CLOCK_MS, now, log, () => moveClock(databases.clock, now()));
    machine.print(`listening on ${baseUrl}`);

    const drained = await stopped(stopSignals, server);
    clearInterval(saving);
    clearInterval(clock);
    await saveLastUse(access, now(), log);
    return drained ? 0 : 1;
  } finally {
    log.flush();
    for (const db of Object.values(databases)) close(db);
  }
}

/** The clock writes through a connection of its own: what it commits is then seen like any other process's commit. */
function openDatabases(directory: string, now: number): { catalog: CatalogDb; clock: CatalogDb; state: StateDb } {
  return {
    catalog: openCatalog(directory, now),
    clock: openCatalog(directory, now, OWN_WRITES_WAIT_MS),
    state: openState(directory, now, OWN_WRITES_WAIT_MS),
  };
}

/** An import that is writing at this moment goes first; the next look is soon. */
async function moveClock(clock: CatalogDb, now: number): Promise<void> {
  try {
    await refresh(clock, now);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY"))) throw error;
  }
}

/** What fails is logged and tried again at the next turn; turns never overlap. */
function repeat(everyMs: number, now: () => number, log: Log, work: () => Promise<void>): ReturnType<typeof setInterval> {
  let busy = false;
  const turn = async () => {
    if (busy) return;
    busy = true;
    try {
      await work();
    } catch (error) {
      log.failure(now(), error, null);
    } finally {
      busy = false;
    }
  };
  void turn();
  return setInterval(turn, everyMs);
}

type StopSignals = { first: Promise<void>; second: Promise<void> };

function watchStopSignals(machine: Machine): StopSignals {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let signals = 0;
  machine.onStopSignal(() => (++signals === 1 ? first : second).resolve());
  return { first: first.promise, second: second.promise };
}

/** Resolves once the server has stopped: true when it drained, false when a second signal or the time limit cut it. */
async function stopped({ first, second }: StopSignals, server: ReturnType<typeof listen>): Promise<boolean> {
  await first;
  const drained = await Promise.race([server.stop().then(() => true), second.then(() => false), Bun.sleep(DRAIN_MS).then(() => false)]);
  if (!drained) await server.stop(true);
  return drained;
}

async function saveLastUse(access: Access, now: number, log: Log): Promise<void> {
  try {
    await saveUse(access, now);
  } catch (error) {
    log.failure(now, error, null);
  }
}
