import type { Mode } from "../../db/opening.ts";

/**
 * What each command may do to the databases of --data or --database; `nothing` opens none. `copy` and `backup` only read these: they create
 * their targets themselves.
 */
export const modes: Readonly<Record<string, Mode | "nothing">> = {
  serve: "create",
  import: "create",
  pull: "create",
  restore: "create",
  "sources add": "create",
  "plans set": "create",
  "accounts create": "create",
  "keys create": "create",

  refresh: "change",
  redact: "change",
  "sources remove": "change",
  "accounts set": "change",
  "keys rotate": "change",
  "keys revoke": "change",
  "watch add": "change",
  "watch remove": "change",
  "watch test": "change",
  "watch run": "change",
  "watch resume": "change",

  browse: "read",
  export: "read",
  explain: "read",
  find: "read",
  show: "read",
  mcp: "read",
  changes: "read",
  copy: "read",
  "imports list": "read",
  "sources list": "read",
  "sources status": "read",
  "plans list": "read",
  "accounts list": "read",
  "keys list": "read",
  "keys usage": "read",
  "watch list": "read",
  "watch show": "read",
  "watch deliveries": "read",

  backup: "inspect",
  check: "inspect",

  demo: "nothing",
  health: "nothing",
  openapi: "nothing",
  mirror: "nothing",
  "sources probe": "nothing",
  completion: "nothing",
  version: "nothing",
};

/** The mode of a command by its words, such as "keys list"; `undefined` if it opens no database. Throws if the table lacks the command. */
export function modeOf(words: string): Mode | undefined {
  const mode = modes[words];
  if (mode === undefined) throw new Error(`Cannot run "${words}": it is missing from the table of modes in src/cli/modes.ts`);
  return mode === "nothing" ? undefined : mode;
}
