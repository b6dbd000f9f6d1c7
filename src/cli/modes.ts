/** What each command may do to the databases that it opens. */
import type { Mode } from "../../db/opening.ts";

/**
 * What each command may do to the databases that it opens: the one place that says so. `nothing` opens none of them. `copy` and `backup`
 * read what they copy; what they copy to is theirs to make, and so is what `restore` puts back.
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

  export: "read",
  explain: "read",
  copy: "read",
  "imports list": "read",
  "sources list": "read",
  "sources status": "read",
  "plans list": "read",
  "accounts list": "read",
  "keys list": "read",
  "keys usage": "read",

  backup: "inspect",
  check: "inspect",

  demo: "nothing",
  health: "nothing",
  openapi: "nothing",
  mirror: "nothing",
  completion: "nothing",
  version: "nothing",
};

/** By a command's words, such as "keys list". */
export function modeOf(words: string): Mode | undefined {
  const mode = modes[words];
  if (mode === undefined) throw new Error(`"${words}" is missing in the table of modes in src/cli/modes.ts`);
  return mode === "nothing" ? undefined : mode;
}
