/** What the shells complete, by the shells themselves. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const directory = aDirectory();
const scriptOf = (shell: string) => join(directory, shell);

beforeAll(async () => {
  mkdirSync(join(directory, "bin"));
  writeFileSync(
    join(directory, "bin/fundfeed"),
    `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dir, "../../src/main.ts")}" "$@"\n`,
  );
  chmodSync(join(directory, "bin/fundfeed"), 0o755);
  for (const shell of ["bash", "zsh", "fish"]) writeFileSync(scriptOf(shell), (await fundfeed(["completion", shell])).out);
});

const lines: readonly (readonly [line: string, completed: readonly string[]])[] = [
  ["fundfeed impo", ["import", "imports"]],
  ["fundfeed keys cr", ["create"]],
  ["fundfeed keys create --ac", ["--account"]],
  ["fundfeed import grants-", ["grants-gov"]],
  ["fundfeed import --snapshot s", ["sam-gov", "sbir-gov", "simpler-grants-gov"]],
  ["fundfeed find quantum --status clos", ["closed", "closing_soon"]],
  ["fundfeed find --status = clos", ["closed", "closing_soon"]], // As bash splits it.
  ["fundfeed find --status=open,clos", ["--status=open,closed", "--status=open,closing_soon"]],
  ["fundfeed find --status open,clos", ["open,closed", "open,closing_soon"]],
  ["fundfeed changes --at-least m", ["material"]],
  ["fundfeed export --source NASA", ["NASA_NSPIRES", "NASA_ROSES"]],
  ["fundfeed watch set x --clear status,no", ["status,note"]],
  ["fundfeed quality --fail-on fall,rej", ["fall,rejected"]],
  ["fundfeed changes --type opp", ["opportunity_added", "opportunity_removed"]],
  ["fundfeed watch add x --type opp", ["opportunity_removed"]],
  ["fundfeed plans s", ["set"]],
  ["fundfeed completion z", ["zsh"]],
  ["fundfeed changes --output ", []],
  ["fundfeed changes -o ", []],
  ["fundfeed nonsense --d", []],
];

test.each(lines)("%s becomes %j", async (line, completed) => {
  const { out } = await fundfeed(["completion", "bash", "--", ...line.split(" ").slice(1)]);
  expect(
    out
      .split("\n")
      .filter((word) => word !== "")
      .sort(),
  ).toEqual([...completed]);
});

/** What each shell is asked. */
const asked = lines.filter(([line]) => /impo|--ac|open,clos|nonsense/.test(line) && !line.includes("="));

function outputOf(command: readonly string[]): string {
  const { stdout, stderr } = Bun.spawnSync([...command], {
    cwd: directory,
    env: { PATH: `${join(directory, "bin")}:${process.env.PATH ?? ""}`, HOME: directory, TERM: "dumb" },
  });
  expect(stderr.toString()).toBe("");
  return stdout.toString();
}

/** For each line, what the shell completes. */
const completers: Readonly<Record<string, (lines: readonly string[]) => string[][]>> = {
  bash: (lines) => {
    const asked = lines.map((line) => {
      const words = `COMP_WORDS=(${line}${line.endsWith(" ") ? ' ""' : ""}); COMP_CWORD=${line.split(" ").length - 1}`;
      return `${words}; _fundfeed; echo "\${COMPREPLY[@]}"`;
    });
    return outputOf(["bash", "-c", [`source ${scriptOf("bash")}`, ...asked].join("\n")])
      .trimEnd()
      .split("\n")
      .map((words) => words.split(" "));
  },
  fish: (lines) => {
    const asked = lines.map((line) => `complete -C '${line}'; echo end`);
    return outputOf(["fish", "-N", "-c", [`source ${scriptOf("fish")}`, ...asked].join("\n")])
      .split(/^end\n/m)
      .map((found) => found.split("\n").map((each) => each.split("\t")[0] ?? ""));
  },
  // In a terminal of its own, because zsh completes only what is typed. Each match is printed when it is added.
  zsh: (lines) => {
    const inner = `
PROMPT=
autoload -Uz compinit && compinit -D -u
source ${scriptOf("zsh")}
compadd() {
  if [[ $* == *' -'[OAD]' '* || $1 == -[OAD] ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -A hits "$@"
  for hit in $hits; do print -r -- "hit:$IPREFIX$hit"; done
}
end-line() { print end-of-line; BUFFER= }
zle -N end-line
bindkey '^M' end-line
print ready`;
    writeFileSync(scriptOf("zsh-inner"), inner);
    const asked = lines.map((line) => `zpty -n -w shell '${line}'$'\\t\\r'; zpty -r -m shell out '*end-of-line*'; print -r -- "$out"`);
    const outer = [
      "zmodload zsh/zpty",
      "zpty shell zsh -f -i",
      `zpty -w shell "stty -echo; source ${scriptOf("zsh-inner")}"`,
      "zpty -r -m shell out '*ready*'",
      ...asked,
    ];
    return outputOf(["zsh", "-f", "-c", outer.join("\n")])
      .split("end-of-line")
      .map((out) => [...out.matchAll(/hit:(\S+)/g)].map(([, hit = ""]) => hit));
  },
};

for (const [shell, complete] of Object.entries(completers)) {
  const isThere = Bun.which(shell) !== null;

  test.if(isThere)(`fundfeed completion makes ${shell} complete${isThere ? "" : ` (skipped: there is no ${shell})`}`, () => {
    const found = complete(asked.map(([line]) => line));
    const sorted = (words: readonly string[]) => [...new Set(words.filter((word) => word !== ""))].sort();
    expect(asked.map(([line], n) => [line, sorted(found[n] ?? [])])).toEqual(asked.map(([line, completed]) => [line, [...completed]]));
  });
}

test("fundfeed completion prints a script for bash, unless told otherwise, and refuses other shells", async () => {
  const { out } = await fundfeed(["completion"]);
  expect(out).toBe((await fundfeed(["completion", "bash"])).out);
  expect(JSON.parse((await fundfeed(["completion", "--json"])).out)).toEqual({ bash: out.trimEnd() });
  expect((await fundfeed(["completion", "csh"])).err).toContain("Allowed choices are bash, zsh, fish.");
});
