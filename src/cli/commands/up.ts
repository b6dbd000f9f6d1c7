/** `fundfeed up`: everything that a small team needs, on one address. (E-67) */
import { accessSync, constants, mkdirSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { Failure, reasonOf } from "../../../db/reason.ts";
import { tryLockIn } from "../../../db/sqlite/lock.ts";
import { hasWatches } from "../../../db/sqlite/open.ts";
import { createLog } from "../../monitoring/log.ts";
import { upstreams } from "../../pull/upstreams.ts";
import { UP_LOCK } from "../../team/job-file.ts";
import { READER_VARIABLE } from "../../team/reader-process.ts";
import { defaultPulls } from "../../team/schedule.ts";
import { type UpOptions, up } from "../../team/up.ts";
import { closest } from "../../text/closest.ts";
import { DAY_MS, MINUTE_MS } from "../../text/instant.ts";
import { readChannelHosts } from "../../watch/member-channel.ts";
import { linkBase } from "../../watch/smtp.ts";
import { type CliCommand, durationAtLeast, parserOf } from "../command.ts";
import { addSearchOptions } from "../search-options.ts";
import { addServeOptions, type GivenServeOptions, readServeOptions } from "../serve-options.ts";
import { addWatchOptions } from "../watch-options.ts";

type GivenUpOptions = GivenServeOptions &
  Pick<UpOptions, "members" | "memberHosts" | "watchEvery" | "backups" | "backupEvery" | "searchData" | "watchData"> & {
    pull?: ReadonlyMap<string, number>;
    pages?: UpOptions["pages"];
  };

export function upCommand(command: CliCommand): CliCommand {
  addServeOptions(command)
    .setting(
      "--pages <readers>",
      "who may read the pages: open, all who reach the address; key, who signs in with an API key; off serves none (default: open on an address of this machine, else key)",
      ["open", "key", "off"],
    )
    .setting(
      "--members <who>",
      "on: people that `members add` allows sign in with a mail address, and have watches of their own; off",
      ["on", "off"],
      "on",
      "on",
    )
    .setting(
      "--member-hosts <hosts>",
      "hosts of Teams workflows to which members may send instead: logic.azure.com,api.powerplatform.com (default: none)",
      parserOf((text) => readChannelHosts(text).join(",")),
    )
    .setting(
      "--pull <sources>",
      "what to pull and how often: grants-gov=6h,dsip=1d; none for nothing (default: every source once or twice a day, Grants.gov every 6h)",
      schedule,
    )
    .setting(
      "--watch-every <duration>",
      "how often watches deliver; none for never",
      (text) => (text === "none" ? 0 : durationAtLeast("10s")(text)),
      15 * MINUTE_MS,
      "15m",
    )
    .setting("--backups <dir>", "directory of backups, of which the newest 14 are kept (default: no backups)")
    .setting("--backup-every <duration>", "how often to back up", durationAtLeast("1m"), DAY_MS, "1d");
  addWatchOptions(addSearchOptions(command)).examples(
    "fundfeed up",
    "fundfeed up --pull grants-gov=6h,dsip=1d --backups /var/backups/fundfeed",
  );
  return command.action(async (given: GivenUpOptions) => {
    const { machine } = command;
    const { pull, ...read } = readServeOptions(command, machine, given);
    const publicOrigin = read.baseUrl === undefined ? linkBase(machine) : new URL(read.baseUrl).origin;
    const pages = given.pages ?? (isForThisMachine(read.host, publicOrigin) ? "open" : "key");
    const options = { ...read, pages, publicOrigin } as const;
    command.cli.isLasting = true;
    const socket = machine.env[READER_VARIABLE];
    if (socket !== undefined) return serveAsReader(command, options, socket);
    if (options.backups !== undefined && options.database !== undefined)
      command.error("error: --backups copies files; back up --database with pg_dump (fundfeed help postgres)");
    using _ = await holdAlone(options.data);
    if (options.backups !== undefined) requireWritable(options.backups);
    const watches = { hasWatches: () => hasWatches(options.watchData ?? options.data) };
    command.cli.exitCode = await up(machine, { ...options, ...watches, pulls: pull ?? defaultPulls(machine.env) });
  });
}

/** Whether only programs of this machine reach the server. If others do so through a proxy, its public address says it. */
function isForThisMachine(host: string, publicOrigin: string | undefined): boolean {
  const names = [host, ...(publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname])];
  return names.every((name) => /^(127\.[\d.]+|localhost|\[?::1\]?)$/.test(name));
}

async function serveAsReader({ machine }: CliCommand, options: Omit<UpOptions, "pulls" | "hasWatches">, socket: string): Promise<void> {
  const { serveReader } = await import("../../team/reader.ts");
  const log = createLog(options.logFormat, machine.writeLog, options.logLevel);
  const searchData = options.searchData ?? options.data;
  const watchDirectory = options.pages === "key" && options.members === "on" ? (options.watchData ?? options.data) : undefined;
  try {
    const location = { ...options, mode: "read" } as const;
    await serveReader(machine, { socket, location, searchData, log, hasSignIn: options.pages === "key", watchDirectory });
  } finally {
    log.flush();
  }
}

function requireWritable(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new Failure(`Cannot back up into ${directory}: ${reasonOf(error)}`, { cause: error });
  }
}

/** `status` holds the lock for a moment when it looks for it. */
const [LOCK_ATTEMPTS, LOCK_RETRY_MS] = [5, 50];

async function holdAlone(data: string): Promise<Disposable> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS; attempt++) {
    const lock = tryLockIn(data, UP_LOCK);
    if (lock !== undefined) return lock;
    await Bun.sleep(LOCK_RETRY_MS);
  }
  throw new Failure(`Cannot start: another fundfeed up runs on ${data}`);
}

/** "grants-gov=6h,dsip=1d", or "none" */
function schedule(text: string): ReadonlyMap<string, number> {
  const parts = text.trim() === "none" ? [] : text.split(",").map((part) => part.trim());
  const schedules = new Map(
    parts.map((part) => {
      const [, name = "", every] = /^([^=]*)(?:=(.*))?$/.exec(part) ?? [];
      const upstream = upstreams.find((each) => each.name === name);
      if (upstream === undefined) {
        const names = upstreams.map((each) => each.name);
        const meant = closest(name, names);
        const advice = meant === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${meant}?`;
        throw new InvalidArgumentError(`There is no source "${name}". ${advice}`);
      }
      return [name, every === undefined ? (upstream.everyMs ?? DAY_MS) : durationAtLeast("1m")(every)];
    }),
  );
  if (schedules.size < parts.length) throw new InvalidArgumentError("It must name each source once.");
  return schedules;
}
