/** `fundfeed status`: how the jobs of `up` went. */
import { isLockedIn } from "../../../db/sqlite/lock.ts";
import { type JobState, readJobs, UP_LOCK } from "../../team/job-file.ts";
import { formatDuration } from "../../text/in-words.ts";
import { type EpochMs, MINUTE_MS } from "../../text/instant.ts";
import { relativeTime } from "../../text/relative-time.ts";
import type { CliCommand, CommonOptions } from "../command.ts";
import { TERMINAL_WIDTH, table, withInstants, wrapped } from "../output.ts";

export function statusCommand(command: CliCommand): CliCommand {
  return command
    .addHelpText("after", "\nThe data directory has it, also with PostgreSQL: set FUNDFEED_DATA there.")
    .examples("fundfeed status", "fundfeed status --data /var/lib/fundfeed --json")
    .action(async (options: CommonOptions) => {
      const { data } = options;
      const now = command.machine.now();
      const jobs = readJobs(data);
      const running = isLockedIn(data, UP_LOCK);
      const lines = jobs.map((job) => lineOf(job, running, now));
      const rows = table(lines, "No job has run yet");
      const shown = jobs.map(({ every_ms, took_ms, ...job }) =>
        withInstants({ ...job, every_seconds: every_ms / 1000, took_seconds: took_ms === null ? null : took_ms / 1000 }),
      );
      const failures = jobs.filter(({ result }) => result === "failed");
      const reasons = failures.flatMap(({ name, failed_at, error }) => [
        "",
        ...wrapped(`${name} failed ${relativeTime(failed_at ?? now, now)}: ${error}`, TERMINAL_WIDTH),
      ]);
      command.print({ running, jobs: shown }, [rows, ...reasons].join("\n"));
      if (!running) command.machine.printError(`fundfeed up does not run on ${data}`);
      if (!running || failures.length > 0) command.cli.exitCode = 1;
    });
}

function lineOf({ name, state, started_at, took_ms, result, next_at }: JobState, isUp: boolean, now: EpochMs) {
  const isNow = isUp && state === "running";
  return {
    job: name,
    last_run: started_at === null ? null : relativeTime(started_at, now),
    result: isNow ? "runs now" : state === "running" ? "stopped" : result,
    took: took_ms === null || isNow ? null : formatDuration(took_ms),
    next_run: !isUp || isNow ? null : next_at < now + MINUTE_MS ? "soon" : relativeTime(next_at, now),
  };
}
