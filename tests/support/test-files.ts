/** The test files, by what they use. */
import { dirname, join, relative } from "node:path";
import { projectFiles, readText, root } from "./project-files.ts";

/** Opens databases on the engine of the run (`database-locations.ts`), unless they are opened already. */
const OPENS_DATABASES = /\b(aCatalog\((?!db\)|openCatalog)|testApi\(|defaultLocation\(|(\(|of )(engines|locations)\))/;
/** So does a thorough test that names the engine, or imports on it and measures nothing. Its clients see no engine. */
const NAMES_ENGINE = /\b((\(|of )(engines|locations)\)|onPostgres (\?|\|\|))/;
const [IMPORTS, MEASURES] = [/\baCatalog\(\)/, /performance\.now|support\/(linear|cpu-time)\.ts"/];
/** These offer it, and open nothing of their own. */
const OPENERS = ["api", "database-locations", "engines", "imports"].map((name) => `tests/support/${name}.ts`);
/** What starts a process: the program, PostgreSQL, Redis, a browser. */
const STARTS_PROCESSES = /\bBun\.spawn|\bnode:child_process\b|\bchromium\.launch\b|\bpostgres(Server|Location)\(/;
/** These start something only for who asks: PostgreSQL in a run on it. */
const ON_REQUEST = ["tests/support/database-locations.ts"];
const IMPORT = /\bfrom "(\.[^"]+\.ts)"/g;

export const testFiles = projectFiles(/^tests\/.*\.test\.ts$/);

/** Whether a file belongs to `bun run thorough`, not to `bun run check`. */
export function isThorough(path: string): boolean {
  return path.endsWith(".thorough.test.ts");
}

/** The test files that open their databases on the engine of the run: `thorough` runs them on PostgreSQL, too. */
export function postgresTests(): string[] {
  return testFiles.filter((path) => (isThorough(path) ? seesEngine(readText(path)) : uses(path, OPENS_DATABASES, OPENERS)));
}

function seesEngine(text: string): boolean {
  return NAMES_ENGINE.test(text) || (IMPORTS.test(text) && !MEASURES.test(text));
}

/** Whether a test file, or a file of the tests that it imports, starts a process. */
export function startsProcesses(path: string): boolean {
  return uses(path, STARTS_PROCESSES, ON_REQUEST);
}

/** Whether the text of a file, or of a file of the tests that it imports, matches. Files below `except` are not read. */
function uses(path: string, pattern: RegExp, except: readonly string[], seen = new Set<string>()): boolean {
  if (seen.has(path) || !path.startsWith("tests/") || except.some((each) => path.startsWith(each))) return false;
  seen.add(path);
  const text = readText(path);
  const imported = [...text.matchAll(IMPORT)].map(([, name = ""]) => relative(root, join(root, dirname(path), name)));
  return pattern.test(text) || imported.some((each) => uses(each, pattern, except, seen));
}
