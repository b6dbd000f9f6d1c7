/** The documents, and whether the commands and options that they name exist. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { guideText } from "../../src/http/docs/guide.ts";
import { wholeProgram } from "../support/commands.ts";

const root = join(import.meta.dir, "../..");
/** The base URL in the documents. The tests replace it by that of a demo on a free port. */
export const BASE = "http://127.0.0.1:8080/v1";
export const GUIDE = "src/http/docs/guide.md";

export type Document = { path: string; text: string };

/** Every document, the guide of the API included. */
export const documents: readonly Document[] = ["*.md", "{clients,docs,src,tests,examples}/**/*.md", "bench/*.md"]
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)])
  .sort()
  .map((path) => ({ path, text: path === GUIDE ? guideText(BASE) : readFileSync(join(root, path), "utf8") }));

/** The program, with all its commands. */
export const program = await wholeProgram();

/** Returns the arguments of each call of the program in a text: `fundfeed keys create --account "Acme"` gives ["keys", "create", "--account", …]. */
function callsIn(text: string): string[][] {
  return [...text.matchAll(/(?:^|[\s/])fundfeed (?!fundfeed )([a-z]+(?=\s|$)[^|;&#\n]*)/g)].map(([, words = ""]) => words.split(/\s+/));
}

/** Throws if a line has a command or option that the program does not have. */
export function checkNames(line: string): void {
  for (const call of callsIn(line)) {
    const { command, rest } = commandOf(call);
    const options = rest.flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? []);
    const known = [...optionsOf(command), "--help"];
    for (const option of options) if (!known.includes(option)) throw new Error(`fundfeed ${command.name()} has no option ${option}`);
  }
}

/** The command that words name, and the words behind it. */
export function commandOf(words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command = program;
  let rest = words;
  while (command.commands.length > 0 && rest.length > 0 && !rest[0]?.startsWith("-")) {
    const next = command.commands.find((each) => each.name() === rest[0]);
    if (next === undefined) throw new Error(`fundfeed has no command "${rest[0]}", in "fundfeed ${words.join(" ")}"`);
    [command, rest] = [next, rest.slice(1)];
  }
  return { command, rest };
}

/** The long options of a command. */
export function optionsOf(command: Command): string[] {
  return command.options.map(({ long }) => long ?? "");
}

/** The environment variable that moves an upstream to another address. */
export function urlVariable(upstream: string): string {
  return `FUNDFEED_${upstream.replaceAll("-", "_").toUpperCase()}_URL`;
}
