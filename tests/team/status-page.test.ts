/** What the page of the jobs says, and to whom. */
import { expect, test } from "bun:test";
import type { JobState } from "../../src/team/job-file.ts";
import { statusPage } from "../../src/team/status-page.tsx";

const NOON = Date.UTC(2026, 6, 1, 12);
const SECRET = "Cannot read /srv/ann/fundfeed: ann@example.org";
const job = (result: JobState["result"]): JobState => ({
  ...{ name: "watch", every_ms: 900_000, state: "waiting", next_at: NOON, started_at: NOON - 1000, took_ms: 500, result },
  ...{ succeeded_at: null, failed_at: NOON - 60_000, error: SECRET, failures: 1 },
});

test("the reason of a failure stands there for the operator, and for customers only that it failed, and when", async () => {
  expect(await statusPage([job("failed")], NOON, false).text()).toContain(`: ${SECRET}`);
  const forCustomers = await statusPage([job("failed")], NOON, true).text();
  expect(forCustomers).toContain("Failed");
  expect(forCustomers).not.toContain(SECRET);
});

test("after a success the reason of an older failure is gone", async () => {
  const page = await statusPage([job("ok")], NOON, false).text();
  expect(page).toContain("Failed");
  expect(page).not.toContain(SECRET);
});
