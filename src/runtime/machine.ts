import type { WorkerPlace, WorkerProcess } from "./worker-process.ts";

/** All that a command may reach outside itself. `main.ts` makes the real one; a test makes one whose clock stands. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970 UTC. */
  now: () => number;
  randomBytes: (count: number) => Uint8Array;
  /** Results, on standard output, without control characters. Ends the line. */
  printLine: (text: string) => void;
  /** A message of one line on standard error, without control characters. */
  printError: (text: string) => void;
  /** Overwrites one line on standard error that a person watches; "" clears it. Does nothing where nobody watches. */
  showProgress: (line: string) => void;
  /** Lines of the log on standard error, without control characters. */
  writeLog: (text: string) => void;
  /** Called at SIGTERM and SIGINT, each time. */
  onStopSignal: (stop: () => void) => void;
  /** Called at SIGHUP, each time; while nobody listens, it ends the program. */
  onReloadSignal: (reload: () => void) => void;
  /** What the program holds of the machine, and has used. */
  usage: () => { residentBytes: number; cpuSeconds: number };
  /** Starts this program once more, with the same arguments and environment, as one of several that share a port. */
  startWorker: (place: WorkerPlace) => WorkerProcess;
  /** Where this process was started so. Then the one that started it prints and gets signals in its place. */
  worker?: WorkerPlace | undefined;
};
