/** One request as the log and the metrics see it. */
import type { RequestEntry } from "../../src/monitoring/log.ts";

export const requestEntry: RequestEntry = {
  time: Date.UTC(2026, 2, 1),
  request_id: "abc",
  method: "GET",
  route: "/opportunities",
  status: 200,
  duration_ms: 3,
  account: "Acme",
  key_id: "key_1",
};
