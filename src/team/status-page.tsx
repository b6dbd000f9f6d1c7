/** @jsxImportSource hono/jsx */
/** The page of the jobs. */
import { pageResponse } from "../browse/response.ts";
import { Relative } from "../browse/times.tsx";
import { formatDuration } from "../text/duration.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import type { JobState } from "./job-file.ts";

/** How each job went last, and when it runs next. */
export function statusPage(jobs: readonly JobState[], now: EpochMs): Response {
  const body = (
    <>
      <h1>Jobs</h1>
      <p class="lead">What this server does by itself, how it went last, and when it happens next.</p>
      <table class="jobs">
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Last run</th>
            <th scope="col">Result</th>
            <th scope="col">Next run</th>
            <th scope="col">Last error</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <Row key={job.name} job={job} now={now} />
          ))}
        </tbody>
      </table>
    </>
  );
  return pageResponse({ title: "Jobs", body });
}

function Row({ job, now }: { job: JobState; now: EpochMs }) {
  const { name, state, started_at, took_ms, result, next_at, error, failed_at } = job;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{started_at === null ? "never" : <Relative at={formatInstant(started_at)} now={now} />}</td>
      <td>{state === "running" ? "runs now" : result === null ? "–" : `${result}, after ${formatDuration(took_ms ?? 0)}`}</td>
      <td>
        {state === "waiting" && next_at > now ? <Relative at={formatInstant(next_at)} now={now} /> : state === "running" ? "" : "soon"}
      </td>
      <td>
        {failed_at === null ? (
          "none"
        ) : (
          <>
            {error} (<Relative at={formatInstant(failed_at)} now={now} />)
          </>
        )}
      </td>
    </tr>
  );
}
