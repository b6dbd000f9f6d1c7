/**
 * Keeps what this version writes and answers, for the tests of later versions: `bun run keep-data` builds the program, lets it make a small
 * data directory, and writes that to tests/data/fundfeed/<version>. tests/versions.thorough.test.ts says when to run it. docs/explanation/stability.md has the
 * promise behind it.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../package.json" with { type: "json" };
import { runProgram } from "./run-program.ts";

const root = join(import.meta.dir, "..");
const target = join(root, "tests/data/fundfeed", version);
const program = join(root, "dist/fundfeed");

/** Real files of the past with their days: what they say does not change any more when time passes. */
const CHALLENGES = ["20210106T154854Z", "20210316T063521Z", "20210629T063810Z"];
const OWN = [
  {
    source: { code: "OWN", opportunity_id: "1" },
    title: "Quantum sensors",
    status: "open",
    organization: { agency: "NASA" },
    contacts: [{ name: "A. Person", email: "a@example.org" }],
  },
  {
    source: { code: "OWN", opportunity_id: "2" },
    title: "Photonics for agriculture",
    status: "closed",
    award: { amount: "1000000000000000000.50" },
  },
];

await runProgram([process.execPath, "run", "build:portable", "--outfile", program], root);
await runProgram([process.execPath, "install", "--frozen-lockfile", "--no-summary"], root); // A build leaves the packages of the program only.
const directory = mkdtempSync(join(tmpdir(), "fundfeed-keep-"));
try {
  const run = (...args: string[]) => runProgram([program, ...args], directory);
  for (const time of CHALLENGES) {
    const name = `challenges-${time}.json`;
    copyFileSync(join(root, "tests/data/challenge-gov", name), join(directory, name));
    await run("import", "challenge-gov", name, "--as-of", time.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5"));
  }
  for (const [title, day] of [
    ["Quantum clocks", 1],
    ["Quantum sensors", 2],
  ] as const) {
    const lines = OWN.map((record, index) => `${JSON.stringify(index === 0 ? { ...record, title } : record)}\n`);
    writeFileSync(join(directory, "own.ndjson"), lines.join(""));
    await run("import", "records", "own.ndjson", "--as-of", `2021-08-0${day}T00:00:00Z`);
  }
  const key = (await run("keys", "create", "--account", "Acme", "--plan", "starter", "--label", "first")).trim();
  await run("watch", "add", "quantum", "quantum", "--to", "stdout");
  const answers = await answersOf(key, directory);
  const commands = [["find", "quantum"], ["changes"], ["imports", "list"], ["keys", "list"], ["watch", "list"], ["sources", "list"]];
  const printed = await Promise.all(commands.map(async (args) => ({ args, json: JSON.parse(await run(...args, "--json")) as unknown })));
  const records = await run("export");
  await run("backup", "backup");

  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const keep = (name: string, content: string | Uint8Array) => writeFileSync(join(target, `${name}.gz`), gzipSync(content, { level: 9 }));
  for (const name of readdirSync(join(directory, "backup"))) keep(name, readFileSync(join(directory, "backup", name)));
  keep("records.ndjson", records);
  keep("answers.json", JSON.stringify({ key, answers, printed }));
  process.stdout.write(`${readdirSync(target).length} files are in ${target}; run bun test tests/versions.thorough.test.ts\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** What the API answers to requests of a client, by path. */
async function answersOf(key: string, directory: string): Promise<Record<string, unknown>> {
  const server = Bun.spawn([program, "serve", "--port", "0", "--json"], { cwd: directory, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const { value } = await server.stdout.getReader().read();
    const { base_url } = JSON.parse(new TextDecoder().decode(value).split("\n")[0] ?? "") as { base_url: string };
    const get = async (path: string) =>
      (await (await fetch(base_url + path, { headers: { Authorization: `Bearer ${key}` } })).json()) as unknown;
    const list = (await get("/opportunities?limit=100")) as { data: { id: string; source: { code: string } }[] };
    const { id } = list.data.find(({ source }) => source.code === "OWN") ?? {};
    const paths = ["/sources", `/opportunities/${id}`, `/opportunities/${id}/events`, "/opportunities?source=OWN&status=open"];
    return Object.fromEntries([
      ["/opportunities?limit=100", list],
      ...(await Promise.all(paths.map(async (path) => [path, await get(path)]))),
    ]);
  } finally {
    server.kill("SIGTERM");
    await server.exited;
  }
}
