/** Other processes, as Linux lists them. */
import { readFileSync } from "node:fs";

/** The child processes of a process, as Linux lists them. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

/** The settings of a process as `NAME=value`, none if it has ended. */
export function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Whether a process runs: one that has ended stays as a zombie (Z) until its parent, or the system, asks how. */
export function runs(pid: number): boolean {
  try {
    return !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
