/**
 * Breaks important lines one by one, in a copy of the working tree, and runs the tests of each: `bun bench/mutate.ts [WORD…]`. With words, only the
 * mutations whose file contains one of them. A mutation that no test notices has survived: its line needs a test. Ends with 1 if one has.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { projectFiles } from "../tests/support/project-files.ts";
import { mutations } from "./mutations.ts";

/** After this time, the tests of a broken line are taken for endless. */
const ENDLESS_MS = 120_000;

const root = resolve(import.meta.dir, "..");
const words = process.argv.slice(2);
const chosen = mutations.filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)));
const copy = mkdtempSync(join(tmpdir(), "fundfeed-mutate-"));

try {
  for (const path of projectFiles(/./)) cpSync(join(root, path), join(copy, path));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const survivors = chosen.filter((mutation) => !isNoticed(mutation));
  process.stdout.write(`${chosen.length} mutations, ${survivors.length} survived\n`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** Whether a test fails while the line is broken. */
function isNoticed({ file, from, to, promise, tests }: (typeof mutations)[number]): boolean {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${file} must have this text once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  const { exitCode, signalCode, stderr } = Bun.spawnSync(
    [process.execPath, "test", "--timeout", "300000", "--bail", ...tests.map((test) => `./tests/${test}`)],
    {
      cwd: copy,
      env: { ...process.env, TMPDIR: tmpdir() },
      stdout: "ignore",
      stderr: "pipe",
      timeout: ENDLESS_MS,
    },
  );
  writeFileSync(path, text);
  const output = stderr.toString();
  const failed = /^\(fail\) (.*?)(?: \[[\d.]+\w+\])?$/m.exec(output)?.[1];
  const isEndless = signalCode !== undefined;
  if (exitCode !== 0 && failed === undefined && !isEndless)
    throw new Error(`${file}: no test failed, but the run did: ${output.slice(-500)}`);
  const outcome = exitCode === 0 ? "SURVIVED" : isEndless ? "noticed: the tests do not end" : `noticed by "${failed}"`;
  process.stdout.write(`${file}: ${promise}\n  ${outcome}\n`);
  return exitCode !== 0;
}
