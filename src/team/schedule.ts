/** Which jobs run, and how often. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { upstreams } from "../pull/upstreams.ts";
import { type EpochMs, formatInstant, HOUR_MS, MINUTE_MS } from "../text/instant.ts";
import type { Job } from "./jobs.ts";

export type ScheduleOptions = {
  pulls: ReadonlyMap<string, number>;
  watchEvery: number;
  hasWatches: () => boolean;
  backups?: string | undefined;
  backupEvery: number;
};

/** Returns a number that changes with each commit to the catalog; NaN if commits cannot be noticed. */
type Commits = () => number;

const BACKUPS_KEPT = 14;

/** How often the search index is brought up to date after `import` and other programs. If commits are noticed, this happens sooner. */
const [INDEX_EVERY_MS, INDEX_UNNOTICED_EVERY_MS] = [10 * MINUTE_MS, MINUTE_MS];

/** The default pulls: each source once, if it needs no key or its key is set. */
export function defaultPulls(env: Readonly<Record<string, string | undefined>>): Map<string, number> {
  const hasKey = (keyFrom: string | undefined) => keyFrom === undefined || (env[keyFrom] ?? "").trim() !== "";
  return new Map(
    upstreams.flatMap(({ name, everyMs, keyFrom }) => (everyMs !== undefined && hasKey(keyFrom) ? [[name, everyMs] as const] : [])),
  );
}

/** The jobs, in the order in which they first run. */
export function jobsOf(
  { pulls, watchEvery, hasWatches, backups, backupEvery }: ScheduleOptions,
  now: () => EpochMs,
  commits: Commits = () => Number.NaN,
): Job[] {
  const isNoticed = !Number.isNaN(commits());
  let indexedUntil = Number.NaN;
  const index: Job = {
    name: "index",
    args: () => {
      indexedUntil = commits(); // Read before the run begins: later commits are for the next run.
      return ["find", "--limit", "1"]; // Every search begins by bringing the index up to date.
    },
    ...(isNoticed && { isWanted: () => commits() !== indexedUntil }),
    everyMs: isNoticed ? INDEX_EVERY_MS : INDEX_UNNOTICED_EVERY_MS,
    limitMs: 2 * HOUR_MS,
    queue: "index",
    isQuiet: true,
    runsAtStart: true, // A new version may build it anew, and other programs may have imported.
  };
  const pulling = Array.from(
    pulls,
    ([name, everyMs]): Job => ({
      name: `pull ${name}`,
      args: () => ["pull", name],
      everyMs,
      limitMs: 4 * HOUR_MS,
      queue: "import",
    }),
  );
  const watching: Job = {
    name: "watch",
    args: () => ["watch", "run"],
    everyMs: watchEvery,
    limitMs: HOUR_MS,
    queue: "watch",
    isNeeded: hasWatches,
  };
  return [
    index,
    ...pulling,
    ...(watchEvery === 0 ? [] : [watching]),
    ...(backups === undefined ? [] : [backupInto(backups, backupEvery, now)]),
  ];
}

function backupInto(directory: string, everyMs: number, now: () => EpochMs): Job {
  return {
    name: "backup",
    args: () => {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return ["backup", join(directory, backupName(now()))];
    },
    everyMs,
    limitMs: 4 * HOUR_MS,
    queue: "import",
    onSuccess: () => dropOldBackups(directory, backupName(now())),
  };
}

function backupName(at: EpochMs): string {
  return formatInstant(at).replace(/:|\.\d+/g, "");
}

/** Removes all but the newest backups up to now, and the remains of killed ones. Those of a clock that was ahead do not count. */
function dropOldBackups(directory: string, now: string): void {
  const names = readdirSync(directory).filter((name) => /^\d{4}-\d\d-\d\dT\d{6}Z(\.partial)?$/.test(name));
  const whole = names.filter((name) => !name.endsWith(".partial") && name <= now).sort();
  const partial = names.filter((name) => name.endsWith(".partial"));
  for (const name of [...whole.slice(0, -BACKUPS_KEPT), ...partial]) rmSync(join(directory, name), { recursive: true, force: true });
}
