/** `up`: a server with everything that a small team needs, on one address: the API, the pages, and the work that keeps the data fresh. (E-67) */
import { resolve } from "node:path";
import { failureOf } from "../../db/reason.ts";
import type { Access } from "../accounts/access.ts";
import { readPagesSecret } from "../accounts/sealed.ts";
import { ADDRESS_HEADER, FORM_HEADER, MEMBER_HEADER } from "../browse/page.ts";
import type { Log } from "../monitoring/log.ts";
import { upstreams } from "../pull/upstreams.ts";
import type { Machine } from "../runtime/machine.ts";
import type { ServeOptions } from "../server/options.ts";
import { type Addition, serve } from "../server/serve.ts";
import { formatDuration } from "../text/in-words.ts";
import { memberMailing } from "../watch/member-mail.ts";
import { createAdmission, type Forward } from "./admission.ts";
import { createFront } from "./front.ts";
import { readJobs, saveJobs } from "./job-file.ts";
import { createJobs } from "./jobs.ts";
import { createMcpGate } from "./mcp-gate.ts";
import { createPageGate } from "./page-gate.ts";
import { ALIVE_PATH, createReaderProcess, MCP_PATH, pickHeaders } from "./reader-process.ts";
import { jobsOf, type ScheduleOptions } from "./schedule.ts";

export type UpOptions = ServeOptions &
  ScheduleOptions & {
    publicOrigin?: string | undefined;
    pages: "open" | "key" | "off";
    members: "on" | "off";
    memberHosts?: string;
    searchData?: string;
    watchData?: string;
  };

const TICK_MS = 1000;

/** Serves until a signal stops it, and returns its exit code, as `serve` does. All programs that it started have ended then. */
export function up(machine: Machine, options: UpOptions): Promise<number> {
  return serve(machine, options, (server) => additionOf(machine, options, server));
}

type ServerParts = { api: Addition["fetch"]; access: Access; log: Log; commits: () => number };

function additionOf(machine: Machine, options: UpOptions, { api, access, log, commits }: ServerParts): Addition {
  const { now, program } = machine;
  const { data, host, publicOrigin } = options;
  const env = envOfChildren(machine, options);
  const onFailure = (error: unknown) => log.failure(now(), error, null);
  const onChildFailure = (message: string) => onFailure(Object.assign(new Error(message), { stack: message })); // The stack of this process would be misleading.
  const reader = createReaderProcess({ command: [...program, "up"], env, writeLog: machine.writeLog, onFailure: onChildFailure });
  const jobs = createJobs(jobsOf(options, now, commits), {
    command: program,
    env,
    now,
    onLine: (job, line) => log.notice(now(), `${job}: ${line}`),
    onFailure: onChildFailure,
    saved: readJobs(data),
    save: (states) => saveJobs(data, states),
  });
  let timer: ReturnType<typeof setInterval> | undefined;
  let stopped: Promise<void> | undefined;
  const startJobs = () => {
    if (stopped !== undefined) return;
    timer = setInterval(jobs.tick, TICK_MS);
    jobs.tick();
  };
  const stopJobs = (isForced: boolean) => {
    clearInterval(timer);
    if (stopped === undefined || isForced) stopped = jobs.stop(isForced);
    return stopped;
  };
  const isSecure = options.tlsCert !== undefined || publicOrigin?.startsWith("https:") === true;
  const admit = createAdmission({ access, now, settled: reader.settled });
  const forward: Forward = (path, { method, request, key }, address, signal, form) => {
    const headers = [...pickHeaders(request.headers, FORWARDED), [ADDRESS_HEADER, address] as [string, string]];
    if (key !== null && key.member !== null) headers.push([MEMBER_HEADER, key.id]);
    if (form !== undefined) headers.push([FORM_HEADER, form]);
    return reader.fetch(path, { method: form === undefined ? method : "GET", headers, signal });
  };
  const originOf = ({ headers }: Request) => publicOrigin ?? `${isSecure ? "https" : "http"}://${headers.get("host")}`;
  const gate = createPageGate({
    needsKey: options.pages === "key",
    access,
    secret: () => readPagesSecret(access.db, machine.randomBytes),
    now,
    isSecure,
    originOf,
    admit,
    forward,
    onFailure,
    members: membersOf(machine, options, env, log, onFailure),
  });
  const hosts = [host, ...(publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname])];
  const front = createFront({
    api,
    mcp: createMcpGate({ hosts, access, now, admit, forward: (request) => reader.fetch(MCP_PATH, request), onFailure }),
    status: (arrival) =>
      gate(arrival, async () => (await import("./status-page.tsx")).statusPage(jobs.states(), now(), options.pages === "key")),
    pages: options.pages === "off" ? undefined : gate,
    hosts,
    now,
    randomBytes: machine.randomBytes,
    log,
  });
  // Started now, so that the first page need not wait. The jobs begin once it listens, because they would slow its start.
  const readerStarted = options.pages === "off" ? Promise.resolve() : reader.fetch(ALIVE_PATH, {});
  return {
    fetch: front,
    hasPages: options.pages !== "off",
    start: (origin) => {
      for (const line of introduction(options, publicOrigin ?? origin, access, machine)) log.notice(now(), line);
      void readerStarted.then(startJobs);
    },
    families: () => [...jobs.families(), ...reader.families()],
    onStop: (isForced) => void stopJobs(isForced),
    end: async () => {
      await Promise.all([stopJobs(false), reader.stop()]);
    },
  };
}

/** The environment of the child processes. They get no options, so it has this program's options as variables, with absolute paths. */
function envOfChildren({ env }: Pick<Machine, "env">, options: UpOptions) {
  const { data, database, searchData, watchData, pages, members, memberHosts = "", publicOrigin, logFormat, logLevel } = options;
  return {
    ...env,
    FUNDFEED_DATA: resolve(data),
    FUNDFEED_DATABASE: database ?? "", // Empty is unset.
    FUNDFEED_SEARCH_DATA: resolve(searchData ?? data),
    FUNDFEED_WATCH_DATA: resolve(watchData ?? data),
    FUNDFEED_PAGES: pages,
    FUNDFEED_MEMBERS: members,
    FUNDFEED_MEMBER_HOSTS: memberHosts,
    // Mails link to it. Never use the Host header of a request instead: an attacker could send another host, and the mails would link there.
    ...(publicOrigin !== undefined && { FUNDFEED_PAGES_URL: publicOrigin }),
    FUNDFEED_LOG_FORMAT: logFormat,
    FUNDFEED_LOG_LEVEL: logLevel ?? "",
  };
}

/** What members need; undefined if they are off, if the pages ask for no key, or if there is no mail server. */
function membersOf(machine: Machine, options: UpOptions, env: Machine["env"], log: Log, onFailure: (error: unknown) => void) {
  if (options.members === "off" || options.pages !== "key" || failureOf(() => memberMailing({ env })) !== null) return undefined;
  return {
    watchDirectory: resolve(options.watchData ?? options.data),
    machine: { env, now: machine.now, randomBytes: machine.randomBytes },
    onTooMany: () => log.notice(machine.now(), "Members asked for more links than are mailed in 15 minutes"),
    onFailure,
  };
}

const FORWARDED = ["accept-encoding", "if-none-match", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "sec-purpose"];

const READERS = { open: "open to all who reach this address", key: "for those who sign in" };

function membersInWords(members: UpOptions["members"], env: Machine["env"]): string {
  if (members === "off") return "Nobody signs in with a mail address (--members off)";
  const fault = failureOf(() => memberMailing({ env }));
  return fault === null ? "Members sign in with a mail address: fundfeed members add" : `Nobody signs in with a mail address. ${fault}`;
}

function introduction(options: UpOptions, origin: string, { keys }: Access, { env }: Machine): string[] {
  const { pages, pulls, watchEvery, backups, backupEvery, data, database } = options;
  const every = (ms: number) => `every ${formatDuration(ms).replace(/^1 /, "")}`;
  const pulled = Array.from(pulls, ([name, ms]) => `${name} ${every(ms)}`).join(", ");
  const place = database === undefined ? ` --data ${data}` : "";
  const withoutKey = upstreams.flatMap(({ name, everyMs, keyFrom = "" }) =>
    everyMs !== undefined && keyFrom !== "" && (env[keyFrom] ?? "") === "" && !pulls.has(name)
      ? [`${name} is not pulled: it needs a key, in ${keyFrom}`]
      : [],
  );
  return [
    pages === "off"
      ? "No pages are served (--pages off)"
      : `The pages are at ${origin}/, the jobs at ${origin}/status and the manual at ${origin}/help, ${READERS[pages]}`,
    ...(pages === "key" ? [membersInWords(options.members, envOfChildren({ env }, options))] : []),
    `Agents connect to ${origin}${MCP_PATH}, with an API key`,
    ...(pulled === "" ? ["Nothing is pulled (--pull none)"] : [`Pulls ${pulled}`, ...withoutKey]),
    ...(pulled !== "" && (env.FUNDFEED_CONTACT ?? "") === "" ? ["The sources do not know how to reach you: set FUNDFEED_CONTACT"] : []),
    watchEvery === 0 ? "Watches do not deliver (--watch-every none)" : `Watches deliver ${every(watchEvery)}`,
    ...(watchEvery > 0 && (env.FUNDFEED_SMTP_URL ?? "") === "" ? ["There is no mail server for watches: set FUNDFEED_SMTP_URL"] : []),
    backups === undefined ? "No backups are made: --backups DIR makes them" : `Backs up to ${backups} ${every(backupEvery)}`,
    ...(keys.size > 0 ? [] : [`There is no API key yet. To make one: fundfeed keys create${place} --account NAME --plan starter`]),
  ];
}
