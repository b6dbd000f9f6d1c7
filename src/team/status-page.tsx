/** @jsxImportSource hono/jsx */
/** The page of the jobs. */
import { Fact, Relative } from "../browse/marks.tsx";
import { pageResponse } from "../browse/response.tsx";
import { formatDuration } from "../text/in-words.ts";
import { type EpochMs, formatInstant, MINUTE_MS } from "../text/instant.ts";
import type { JobState } from "./job-file.ts";

/** How each job went last. With a sign-in, customers read the page, so it leaves out reasons, which have the operator's addresses and paths. */
export function statusPage(jobs: readonly JobState[], now: EpochMs, hasSignIn: boolean): Response {
  const body = (
    <>
      <h1>Jobs</h1>
      <p class="lead">What this server does by itself, how it went last, and when it runs next.</p>
      <ul class="sources">
        {jobs.map((job) => (
          <JobCard key={job.name} job={job} now={now} hasReasons={!hasSignIn} />
        ))}
      </ul>
    </>
  );
  return pageResponse({ title: "Jobs", body }, { hasSignIn });
}

function JobCard({ job, now, hasReasons }: { job: JobState; now: EpochMs; hasReasons: boolean }) {
  const { name, every_ms, state, started_at, took_ms, result, next_at, failed_at, error } = job;
  return (
    <li class="card">
      <h2>
        {name} <small>every {formatDuration(every_ms)}</small>
      </h2>
      {failed_at !== null && (
        <p class={result === "failed" ? "error" : "quiet"}>
          Failed <Relative at={formatInstant(failed_at)} now={now} />
          {hasReasons && result === "failed" ? `: ${error}` : ". The log says why."}
        </p>
      )}
      <dl class="figures">
        <Fact name="Last run">{started_at === null ? "never" : <Relative at={formatInstant(started_at)} now={now} />}</Fact>
        <Fact name="Result">{state === "running" ? "runs now" : (result ?? "none yet")}</Fact>
        <Fact name="Took">{took_ms === null ? "–" : formatDuration(took_ms)}</Fact>
        <Fact name="Next run">{next_at < now + MINUTE_MS ? "soon" : <Relative at={formatInstant(next_at)} now={now} />}</Fact>
      </dl>
    </li>
  );
}
