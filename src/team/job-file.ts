/** `jobs.json` in the data directory: how each job went last, and when it runs next. Read without the program that writes it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceText } from "../runtime/replace-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { arrayOf, isObject, objectOf, parseJson } from "../text/json-value.ts";

/** How a run ended. `stopped`: the whole program ended while the job ran. */
export type RunResult = "ok" | "failed" | "stopped";

export type JobState = {
  name: string;
  every_ms: number;
  state: "waiting" | "due" | "running";
  next_at: EpochMs;
  started_at: EpochMs | null;
  took_ms: number | null;
  result: RunResult | null;
  succeeded_at: EpochMs | null;
  /** The newest failure, also after later successes. */
  failed_at: EpochMs | null;
  error: string | null;
  failures: number;
};

export const UP_LOCK = "up";

const fileOf = (directory: string) => join(directory, "jobs.json");

/** The states that were saved last. None if the file is missing or cannot be read: every job is then new. */
export function readJobs(directory: string): JobState[] {
  try {
    return arrayOf(objectOf(parseJson(readFileSync(fileOf(directory), "utf8"))).jobs).filter(isJobState);
  } catch {
    return [];
  }
}

export function saveJobs(directory: string, jobs: readonly JobState[]): void {
  replaceText(fileOf(directory), `${JSON.stringify({ jobs }, null, 1)}\n`);
}

function isJobState(value: unknown): value is JobState {
  return isObject(value) && typeof value.name === "string" && typeof value.next_at === "number" && typeof value.failures === "number";
}
