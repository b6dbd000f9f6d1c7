/** The compiled program as a process: built once a test file, started in an empty directory whose settings files are hostile. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const place = join(tmpdir(), `fundfeed-program-${process.pid}`);
const root = join(import.meta.dir, "../..");

/** The path of the compiled program, which is built where it is missing. */
function program(): string {
  const path = join(place, "fundfeed");
  if (existsSync(path)) return path;
  const built = Bun.spawnSync([process.execPath, "run", "build", "--outfile", path], { cwd: root });
  if (built.exitCode !== 0) throw new Error(`Cannot build the program: ${built.stderr}`);
  return path;
}

/** Files that a program which trusts its working directory would read, and fail. */
const hostile = {
  ".env": "FUNDFEED_DATA=/nonexistent\nFUNDFEED_PORT=1\nFUNDFEED_HOST=203.0.113.1\nFUNDFEED_BASE_URL=nonsense\nNODE_ENV=development\n",
  "bunfig.toml": 'preload = ["./hostile.ts"]\n',
  "hostile.ts": 'throw new Error("hostile.ts ran");\n',
  "package.json": "{",
  "tsconfig.json": "{",
};

export type Ran = { code: number; out: string; err: string };

type Start = {
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** A command line that runs the one appended to it. */
  through?: readonly string[];
};

export type Server = {
  /** As it prints it, ending in /v1. */
  base: string;
  port: number;
  pid: number;
  /** All that it wrote on standard output up to the line "listening on …". */
  printed: () => string;
  /** All that it wrote on standard error so far. */
  log: () => string;
  /** GET of a path below /v1. */
  get: (path: string, key?: string) => Promise<Response>;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<number>;
  /** SIGTERM; answers with the exit code. */
  stop: () => Promise<number>;
};

export type Home = {
  directory: string;
  /** A path in it. */
  at: (name: string) => string;
  /** A file in it; answers with its path. */
  file: (name: string, content: string | Uint8Array) => string;
  run: (args: readonly string[], start?: Start) => Promise<Ran>;
  /** What a command that succeeds prints with --json. */
  json: <T = Record<string, unknown>>(args: readonly string[], start?: Start) => Promise<T>;
  /** A new key for requests without end. */
  key: () => Promise<string>;
  /** `serve` on a free port, or another command that prints "listening on …". */
  serve: (args?: readonly string[], start?: Start) => Promise<Server>;
  /** The process id of the command that was started last. */
  newest: () => number;
  /** Starts a command and lets it run. */
  start: (args: readonly string[], start?: Start) => Bun.Subprocess<"pipe", "pipe", "pipe">;
};

const homes: string[] = [];
const started = new Set<Bun.Subprocess>();

/** Ends what still runs and removes the program and every home: for `afterAll`. */
export async function dropHomes(): Promise<void> {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(Array.from(started, ({ exited }) => exited));
  for (const directory of [place, ...homes.splice(0)]) rmSync(directory, { recursive: true, force: true });
}

/** A new directory for processes to run in; `fundfeed-data` comes to lie in it. */
export function aHome(): Home {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-home-"));
  homes.push(directory);
  const at = (name: string) => join(directory, name);
  const file: Home["file"] = (name, content) => {
    writeFileSync(at(name), content);
    return at(name);
  };
  for (const [name, content] of Object.entries(hostile)) file(name, content);

  let newest = 0;
  const start: Home["start"] = (args, { env = {}, stdin = "", through = [] } = {}) => {
    const child = Bun.spawn([...through, program(), ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? "", TMPDIR: tmpdir(), ...env },
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
    json: async <T>(args: readonly string[], given?: Start) => {
      const { code, out, err } = await run([...args, "--json"], given);
      if (code !== 0) throw new Error(`fundfeed ${args.join(" ")} exits ${code}: ${err}`);
      return JSON.parse(out) as T;
    },
    key: async () => {
      const quotas = await run(["plans", "set", "endless", "--daily", "1000000000", "--per-minute", "1000000000"]);
      const { code, out, err } = await run(["keys", "create", "--account", "Endless", "--plan", "endless"]);
      if (code !== 0) throw new Error(`No key: ${quotas.err}${err}`);
      return out.trim();
    },
    serve: (args = ["serve", "--port", "0"], given) => serving(start(args, given)),
  };
}

async function serving(child: Bun.Subprocess<"pipe", "pipe", "pipe">): Promise<Server> {
  let log = "";
  const logged = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of child.stderr) log += decoder.decode(piece, { stream: true });
  })();
  const printed = await untilListening(child.stdout);
  const [, base] = LISTENING.exec(printed) ?? [];
  if (base === undefined) {
    await logged;
    throw new Error(`It does not listen: ${log}`);
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

async function untilListening(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of stdout) {
    text += decoder.decode(piece, { stream: true });
    if (LISTENING.test(text)) break;
  }
  return text;
}

/** A file of the demo's sample: real publications, cut to a few hundred records. */
export function sampleFile(name: string): Buffer {
  return readFileSync(join(root, "src/cli/demo-sample", name));
}

export function unpackedSample(name: string): Buffer {
  return gunzipSync(sampleFile(name));
}
