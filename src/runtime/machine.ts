/** Everything outside the program that a command uses. */
import { Failure } from "../../db/reason.ts";
import type { EpochMs } from "../text/instant.ts";

/** `cli/real-machine.ts` builds the real one; tests build one with a fixed clock. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>;
  now: () => EpochMs;
  randomBytes: (count: number) => Uint8Array;
  /** Prints a line of results. Control characters but line feeds are escaped. Throws an `OutputClosed` if the reader has gone. */
  printLine: (text: string) => void;
  /** Prints results on standard output as they are. The caller escapes control characters. Throws an `OutputClosed` if the reader has gone. */
  printText: (text: string) => void;
  readInput: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output without making the program wait. Resolves when it is written; rejects if the reader has gone. */
  writeOutput: (text: string) => Promise<void>;
  /** Returns once everything printed on standard output is on disk, if it goes into a file. Throws if the disk fails. */
  syncOutput: () => void;
  /** The terminal that standard output is; `undefined` if it is none. */
  terminal: () => { columns: number; hasColors: boolean } | undefined;
  printError: (text: string) => void;
  /** Overwrites the progress line on standard error; "" clears it. Does nothing unless standard error is a terminal. */
  showProgress: (line: string) => void;
  writeLog: (text: string) => void;
  isLogOnTerminal: () => boolean;
  onStopSignal: (stop: () => void) => void;
  /** Calls `reload` at each SIGHUP. Without a handler, SIGHUP ends the program. */
  onReloadSignal: (reload: () => void) => void;
  usage: () => { residentBytes: number; cpuSeconds: number };
  program: readonly string[];
};

export const OUTPUT_CLOSED = "Cannot write standard output: its reader has gone";

/** The reader of standard output has gone, as `head` does when it has enough. */
export class OutputClosed extends Failure {
  constructor() {
    super(OUTPUT_CLOSED);
  }
}

/** Whether the reader of standard output has gone: that is the error, or its cause. */
export function isOutputClosed(error: unknown): boolean {
  return error instanceof OutputClosed || (error instanceof Error && error.cause !== undefined && isOutputClosed(error.cause));
}

export function randomFraction({ randomBytes }: Pick<Machine, "randomBytes">): number {
  return Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32;
}
