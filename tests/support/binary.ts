/**
 * The compiled program in processes of its own. It is built once per run, and runs in directories whose `.env`, `bunfig.toml` and the like
 * would break a program that reads settings from its working directory.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type CommandResult, fundfeed } from "./command-line.ts";
import { oncePerRun } from "./once-per-run.ts";

const root = join(import.meta.dir, "../..");

export const program = await oncePerRun("fundfeed", (path) => {
  const built = Bun.spawnSync([process.execPath, "run", "build", "--outfile", path], { cwd: root });
  if (built.exitCode !== 0) throw new Error(`Cannot build the program: ${built.stderr}`);
});

/** Most programs end before what JavaScriptCore compiles pays for itself: without its later stages, and with the first one only for long loops. */
export const QUICK = { BUN_JSC_useDFGJIT: "0", BUN_JSC_useFTLJIT: "0", BUN_JSC_thresholdForJITAfterWarmUp: "5000" } as const;

/** A program that reads settings from its working directory would read these files and fail. */
const hostileFiles = {
  ".env": "FUNDFEED_DATA=/nonexistent\nFUNDFEED_PORT=1\nFUNDFEED_HOST=203.0.113.1\nFUNDFEED_BASE_URL=nonsense\nNODE_ENV=development\n",
  "bunfig.toml": 'preload = ["./hostile.ts"]\n',
  "hostile.ts": 'throw new Error("hostile.ts ran");\n',
  "package.json": "{",
  "tsconfig.json": "{",
};

type StartOptions = {
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** A command line to which the program and its arguments are appended, such as `sh -c …`. */
  through?: readonly string[];
};

export type Server = {
  /** The base URL that the server printed; it ends in /v1. */
  base: string;
  port: number;
  pid: number;
  /** Standard output up to the line "listening on …". */
  printed: () => string;
  /** Standard error so far. */
  log: () => string;
  /** Sends a GET for a path below /v1. */
  get: (path: string, key?: string) => Promise<Response>;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<number>;
  /** Sends SIGTERM, and returns the exit code. */
  stop: () => Promise<number>;
};

/** A directory in which the program runs. Its data directory is `fundfeed-data`, the default. */
export type Home = {
  directory: string;
  at: (name: string) => string;
  /** Writes a file in the directory, and returns its path. */
  file: (name: string, content: string | Uint8Array) => string;
  run: (args: readonly string[], start?: StartOptions) => Promise<CommandResult>;
  /** Runs a command with --json, and returns what it printed. Throws if the command fails. */
  json: <T = Record<string, unknown>>(args: readonly string[], start?: StartOptions) => Promise<T>;
  /** Creates a key whose quotas no test exhausts, within this process. */
  key: () => Promise<string>;
  /** Starts `serve` on a free port, or another command, and waits until it prints "listening on …". Throws if it ends before. */
  serve: (args?: readonly string[], start?: StartOptions) => Promise<Server>;
  newest: () => number;
  /** Starts a command and returns its process. */
  start: (args: readonly string[], start?: StartOptions) => Bun.Subprocess<"pipe", "pipe", "pipe">;
};

const homes: string[] = [];
const started = new Set<Bun.Subprocess>();

/** Kills the processes that still run, and removes every home. For `afterAll`. */
export async function dropHomes(): Promise<void> {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(Array.from(started, ({ exited }) => exited));
  for (const directory of homes.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** Creates a new home; `afterAll(dropHomes)` removes it. */
export function aHome(): Home {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-home-"));
  homes.push(directory);
  const at = (name: string) => join(directory, name);
  const file: Home["file"] = (name, content) => {
    writeFileSync(at(name), content);
    return at(name);
  };
  for (const [name, content] of Object.entries(hostileFiles)) file(name, content);

  let newest = 0;
  const start: Home["start"] = (args, { env = {}, stdin = "", through = [] } = {}) => {
    const child = Bun.spawn([...through, program, ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? "", TMPDIR: tmpdir(), ...QUICK, ...env },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    started.add(child);
    newest = child.pid;
    void child.exited.then(() => started.delete(child));
    child.stdin.write(stdin);
    child.stdin.end();
    return child;
  };
  const run: Home["run"] = async (args, given) => {
    const child = start(args, given);
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  };
  return {
    directory,
    at,
    file,
    newest: () => newest,
    start,
    run,
    json: async <T>(args: readonly string[], given?: StartOptions) => {
      const { code, out, err } = await run([...args, "--json"], given);
      if (code !== 0) throw new Error(`fundfeed ${args.join(" ")} exited with ${code}: ${err}`);
      return JSON.parse(out) as T;
    },
    key: async () => {
      const data = ["--data", at("fundfeed-data")];
      const plan = await fundfeed(["plans", "set", "endless", "--daily", "1000000000", "--per-minute", "1000000000", ...data]);
      const { code, out, err } = await fundfeed(["keys", "create", "--account", "Endless", "--plan", "endless", ...data]);
      if (code !== 0) throw new Error(`Cannot create a key: ${plan.err}${err}`);
      return out.trim();
    },
    serve: (args = ["serve", "--port", "0"], given) => listeningServer(start(args, given)),
  };
}

async function listeningServer(child: Bun.Subprocess<"pipe", "pipe", "pipe">): Promise<Server> {
  let log = "";
  const logged = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of child.stderr) log += decoder.decode(piece, { stream: true });
  })();
  const printed = await outputUntilListening(child.stdout);
  const [, base] = LISTENING.exec(printed) ?? [];
  if (base === undefined) {
    await logged;
    throw new Error(`The server ended before it listened: ${log}`);
  }
  const ended = child.exited.then(async (code) => {
    await logged;
    return code;
  });
  return {
    base,
    port: Number(new URL(base).port),
    pid: child.pid,
    printed: () => printed,
    log: () => log,
    get: (path, key) => fetch(base + path, { headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } }),
    kill: (signal) => child.kill(signal),
    ended,
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

const LISTENING = /^listening on (\S+)$/m;

async function outputUntilListening(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of stdout) {
    text += decoder.decode(piece, { stream: true });
    if (LISTENING.test(text)) break;
  }
  return text;
}

/** Reads a file of the demo's sample: real publications, cut to a few hundred records. */
export function sampleFile(name: string): Buffer {
  return readFileSync(join(root, "src/cli/demo-sample", name));
}

export function unpackedSample(name: string): Buffer {
  return gunzipSync(sampleFile(name));
}
