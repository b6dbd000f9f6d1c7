/** All that a command may reach outside itself. `main.ts` makes the real one; a test makes one whose clock stands. */
export type Machine = {
  env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970 UTC. */
  now: () => number;
  randomBytes: (count: number) => Uint8Array;
  /** Results, on standard output. */
  print: (text: string) => void;
  /** Everything else, on standard error. */
  tell: (text: string) => void;
  stdin: () => ReadableStream<Uint8Array>;
  /** Whether a person watches standard error. */
  terminal: boolean;
};
