/** Which jobs run, and how often. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { upstreams } from "../pull/upstreams.ts";
import { type EpochMs, formatInstant, HOUR_MS, MINUTE_MS } from "../text/instant.ts";
import type { Job } from "./jobs.ts";

export type ScheduleOptions = {
  /** The names of upstreams, and how often each is pulled. */
  pulls: ReadonlyMap<string, number>;
  /** How often watches deliver; 0 is never. */
  watchEvery: number;
  /** Whether there are any. */
  hasWatches: () => boolean;
  /** The directory of backups; without it, none are made. */
  backups?: string | undefined;
  backupEvery: number;
};

/** Returns a number that changes with each commit to the catalog; NaN if nobody knows that. */
type Commits = () => number;

const BACKUPS_KEPT = 14;

/** How often the search index is brought up to date for what `import` and other programs store: if commits are noticed, they do it sooner. */
const [INDEX_EVERY_MS, INDEX_UNNOTICED_EVERY_MS] = [10 * MINUTE_MS, MINUTE_MS];

/** What is pulled unless the operator says otherwise: every source once, of those that need no key or have one. */
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
      indexedUntil = commits(); // Before it begins: what comes later is for the next run.
      return ["find", "--limit", "1"]; // Every search begins by bringing the index up to date.
    },
    ...(isNoticed && { isWanted: () => commits() !== indexedUntil }),
    everyMs: isNoticed ? INDEX_EVERY_MS : INDEX_UNNOTICED_EVERY_MS,
    limitMs: 2 * HOUR_MS,
    lane: "index",
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
      lane: "import",
      followedBy: index.name,
    }),
  );
  const watching: Job = {
    name: "watch",
    args: () => ["watch", "run"],
    everyMs: watchEvery,
    limitMs: HOUR_MS,
    lane: "watch",
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
    lane: "import",
    onSuccess: () => dropOldBackups(directory, backupName(now())),
  };
}

/** "2026-11-23T120000Z": names sort by time. */
function backupName(at: EpochMs): string {
  return formatInstant(at).replace(/:|\.\d+/g, "");
}

/**
 * Removes all backups but the newest until now, and what killed ones left. Those of a clock that was ahead stay, and replace none. Other
 * directories stay.
 */
function dropOldBackups(directory: string, now: string): void {
  const names = readdirSync(directory).filter((name) => /^\d{4}-\d\d-\d\dT\d{6}Z(\.partial)?$/.test(name));
  const whole = names.filter((name) => !name.endsWith(".partial") && name <= now).sort();
  const partial = names.filter((name) => name.endsWith(".partial"));
  for (const name of [...whole.slice(0, -BACKUPS_KEPT), ...partial]) rmSync(join(directory, name), { recursive: true, force: true });
}
