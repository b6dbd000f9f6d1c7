/** The program: runs the command of argv and exits. */
import { runCommandLine } from "./cli/command-line.ts";
import { openMachine } from "./cli/real-machine.ts";
import { isClosedAtStart } from "./runtime/standard-streams.ts";
import { CHILD_VARIABLE } from "./runtime/supervise.ts";
import { restartWithoutFtl } from "./runtime/without-ftl.ts";

// An empty variable counts as unset: Docker Compose passes one for ${FUNDFEED_QUOTAS:-}.
for (const [name, value] of Object.entries(process.env)) if (name.startsWith("FUNDFEED_") && value === "") delete process.env[name];

process.umask(0o077); // Only the owner may read the files that this program creates: they hold key hashes and contacts.

const { env } = process;
const args = process.argv.slice(2);
const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
const hasOutput = !isClosedAtStart(1);
if (process.send === undefined && ["import", "pull"].includes(args[0] ?? "") && hasOutput) restartWithoutFtl(program, args, env);

const { machine, finishLog } = openMachine(program);
if (!hasOutput) {
  machine.printError("Cannot print anything: standard output is closed; > /dev/null discards what is printed");
  process.exit(1);
}

// A child of `up` stops when its parent is gone, however that ended.
if (process.send !== undefined && env[CHILD_VARIABLE] !== undefined) process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));

const exitCode = await runCommandLine(args, machine);
await finishLog();
process.exit(exitCode);
