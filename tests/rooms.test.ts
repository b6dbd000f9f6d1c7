/**
 * The rules that keep the code in order. The map in CONTRIBUTING.md is the list of rooms, from the top floor to the ground: a file imports only
 * from its own room and from rooms below it. Every failure names the place.
 */
import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import ts from "typescript-5";
import { projectFiles, readText, root } from "./support/project-files.ts";
import { isThorough, testFiles } from "./support/test-files.ts";

/** The rooms of that map, the top floor first. A room inside another one has a line of its own. */
const rooms = [
  ...(/^This is the map:\n\n```\n([\s\S]*?)^```/m.exec(readText("CONTRIBUTING.md"))?.[1] ?? "").matchAll(/^((?:src|db|clients)\/\S*) /gm),
].map(([, room = ""]) => room);

/** Packages that more than one room may import. Any other package belongs to one room. */
const SHARED_PACKAGES = ["@sinclair/typebox", "drizzle-orm", "elysia"];

/** What some files may not import although it lies below them. */
const barred: readonly { files: RegExp; imports: RegExp; because: string }[] = [
  { files: /^src\/(?!cli|monitoring)/, imports: /^db\/(sqlite|postgres)\//, because: "db/open.ts chooses the engine" },
  { files: /^db\/sqlite\//, imports: /^db\/postgres\//, because: "each engine stands alone" },
  { files: /^db\/postgres\//, imports: /^db\/sqlite\/(engine|open|backup)/, because: "each engine stands alone" },
  {
    files: /^src\/http\//,
    imports: /^(bun:sqlite|drizzle-orm|db\/(query|schema))/,
    because: "HTTP ends where a domain function is called",
  },
  { files: /^src\/import\/formats\//, imports: /^(bun:sqlite|drizzle-orm|db\/(?!reason))/, because: "a format never reads a database" },
];

/** The types of the API in the client are made from its description, so they have the names of the resources. */
const isCode = /^(src|db|clients)\/(?!typescript\/src\/schemas\.ts).*(?<!\.d)\.tsx?$/;
const isUser = /^(src|db|clients|tests|bench|examples|release)\/.*(?<!\.d)\.tsx?$/;
const files = projectFiles(isUser).filter((path) => !path.startsWith("db/migrations/"));
const code = files.filter((path) => isCode.test(path));
const sources = new Map(files.map((path) => [path, sourceOf(path, readText(path))]));

/** Of files that only use the code, their imports are enough. */
function sourceOf(path: string, text: string): ts.SourceFile {
  const last = [...text.matchAll(/^(?:(?:import|export|\}).* from|import) ".*$/gm)].at(-1);
  const isWhole = isCode.test(path) || hasInnerImports(text);
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  return ts.createSourceFile(path, isWhole ? text : text.slice(0, last === undefined ? 0 : last.index + last[0].length), options);
}

/** Whether there may be imports elsewhere than in statements of their own. */
function hasInnerImports(text: string): boolean {
  return text.includes("import(");
}

/** The room of a file: the longest path of the map that it begins with. */
function roomOf(path: string): string | undefined {
  return rooms.filter((room) => path.startsWith(room)).sort((a, b) => b.length - a.length)[0];
}

type Import = { from: string; to: string; line: number; names: readonly string[] };

/** Each import and re-export of the files, types included. `names` is `["*"]` if the whole module is imported. */
const imports: readonly Import[] = files.flatMap((from) => importsOf(from));

function importsOf(from: string): Import[] {
  const source = sources.get(from) as ts.SourceFile;
  const isDeep = hasInnerImports(source.text);
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: string, names: readonly string[]) => {
    const to = specifier.startsWith(".") ? relative(root, join(root, dirname(from), specifier)) : specifier;
    found.push({ from, to, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const bindings = node.importClause?.namedBindings;
      const named =
        bindings && ts.isNamedImports(bindings) ? bindings.elements.map((each) => (each.propertyName ?? each.name).text) : ["*"];
      add(node, node.moduleSpecifier.text, node.importClause?.name ? [...named, "default"] : named);
    }
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      const { exportClause } = node;
      const named =
        exportClause && ts.isNamedExports(exportClause)
          ? exportClause.elements.map((each) => (each.propertyName ?? each.name).text)
          : ["*"];
      add(node, node.moduleSpecifier.text, named);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier && ts.isStringLiteral(specifier)) add(node, specifier.text, ["*"]);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      add(node, node.argument.literal.text, ["*"]);
    }
    if (isDeep || node === source) ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

type Declared = { path: string; name: string; line: number };

/** Each name that a file of the code exports. */
const exported: readonly Declared[] = code.flatMap((path) => {
  const source = sources.get(path) as ts.SourceFile;
  return source.statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    const line = source.getLineAndCharacterOfPosition(statement.getStart(source)).line + 1;
    return namesOf(statement).map((name) => ({ path, name, line }));
  });
});

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  const { name } = statement as ts.Statement & { name?: ts.Identifier };
  return name === undefined ? [] : [name.text];
}

function boundNames(name: ts.BindingName): string[] {
  return ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((each) => (ts.isBindingElement(each) ? boundNames(each.name) : []));
}

const place = ({ path, line, name }: Declared) => `${path}:${line} ${name}`;

/** The program starts with one file. drizzle-kit reads the schema of each engine, but the program builds its statements from that of SQLite. */
const isRead = (path: string) => path === "src/main.ts" || path.startsWith("db/schema/postgres/");

describe("rooms", () => {
  test("every file is in a room of the map, and every room exists", () => {
    expect(code.filter((path) => roomOf(path) === undefined)).toEqual([]);
    expect(rooms.filter((room) => !files.some((path) => path.startsWith(room)))).toEqual([]);
  });

  test("a file imports from its own room and from those below it", () => {
    const upward = imports.filter(({ from, to }) => {
      const [upper, lower] = [roomOf(from), roomOf(to)];
      return isCode.test(from) && upper !== undefined && lower !== undefined && rooms.indexOf(upper) > rooms.indexOf(lower);
    });
    expect(upward.map(({ from, line, to }) => `${from}:${line} → ${to}`)).toEqual([]);
  });

  test("no file imports what it may not", () => {
    const broken = barred.flatMap((rule) =>
      imports
        .filter(({ from, to }) => rule.files.test(from) && rule.imports.test(to))
        .map(({ from, line, to }) => `${from}:${line} → ${to}: ${rule.because}`),
    );
    expect(broken).toEqual([]);
  });

  test("no file imports itself through others, by types neither", () => {
    expect(circles()).toEqual([]);
  });

  test("a package belongs to one room", () => {
    const packages = Object.keys((JSON.parse(readText("package.json")) as { dependencies: Record<string, string> }).dependencies);
    const spread = packages
      .filter((name) => !SHARED_PACKAGES.includes(name))
      .map((name) => {
        const users = imports.filter(({ from, to }) => isCode.test(from) && (to === name || to.startsWith(`${name}/`)));
        return { name, rooms: [...new Set(users.map(({ from }) => roomOf(from)))] };
      });
    expect(spread.filter((each) => each.rooms.length > 1)).toEqual([]);
  });

  test("every file is used", () => {
    const used = new Set(imports.filter(({ from, to }) => isCode.test(from) && from !== to).map(({ to }) => to));
    expect(code.filter((path) => !isRead(path) && !used.has(path))).toEqual([]);
  });
});

describe("files", () => {
  test("throw a sentence for the operator as a Failure, and tell errors apart by their class", () => {
    const broken = code.filter((path) => /new Error\(\s*[`"']Cannot |startsWith\(["'`]Cannot/.test(readText(path)));
    expect(broken).toEqual([]);
  });

  test("leave moments that a person writes to text/moment.ts, and those of the API to its parameters", () => {
    const doors = code.filter((path) => /^src\/(cli|browse|mcp|feed|watch|filter|team)\//.test(path));
    const own = doors.filter((path) => /\[hdw\]|\[\+-\]\?|\beasternInstant\b|\bparseInstant\b/i.test(readText(path)));
    expect(own).toEqual([]);
  });

  test("of a door translate: what a due date, an amount and a date are in words lies below", () => {
    const doors = code.filter((path) => /^src\/(browse|mcp|cli|watch|feed)\//.test(path));
    const formatting =
      /\bamountInWords\b|\btoLocale|\bIntl\.\w*Format|\btoISOString\b|(_at|formatInstant\([^()]*\)|toString\(\))\??\.slice|\$\$\{|["'`]\$["'`]/;
    expect(doors.filter((path) => formatting.test(readText(path)))).toEqual([]);
  });

  test("begin with a line that says what they are", () => {
    expect(code.filter((path) => !readText(path).startsWith("/**"))).toEqual([]);
  });

  test("have each doc comment in front of what it describes", () => {
    const behind = code.flatMap((path) => {
      const text = readText(path);
      return [...text.matchAll(/^.*[^\s({[,;|&=<][ \t]*(\/\*\* [^\n]*\*\/ ?[;,]?)/gm)]
        .filter(({ index, 0: match, 1: comment = "" }) => isComment(path, index + match.length - comment.length))
        .map(({ index }) => `${path}:${text.slice(0, index).split("\n").length}`);
    });
    expect(behind).toEqual([]);
  });
});

/** What no file of `check` may use: tests/README.md says why. Anything else that a test waits for has five minutes. */
const ONLY_THOROUGH =
  /support\/(postgres|redis|haproxy|resolver|clocked-program|cpu-time|linear|load)\.ts"|"playwright-core"|performance\.now|cpuUsage|resourceUsage|AbortSignal\.timeout|Date\.now\(\) *[<>]|\bseconds: \d+ \}/;

test("the lines of a document have at most 160 characters, without addresses, tables and examples", () => {
  const isLong = (line: string) => line.replace(/https?:\S+/g, "").length > 160 && !line.startsWith("|");
  const longLinesOf = (path: string) =>
    readText(path)
      .replace(/^( *)```[\s\S]*?^\1```$/gm, "")
      .split("\n")
      .filter(isLong);
  const documents = projectFiles(/\.md$/).filter((path) => !path.startsWith("tests/data/"));
  expect(documents.flatMap((path) => longLinesOf(path).map((line) => `${path}: ${line}`))).toEqual([]);
});

describe("the tests", () => {
  const quick = testFiles.filter((path) => !isThorough(path));

  test("of check neither start servers or a browser nor measure time: x.thorough.test.ts may (tests/README.md)", () => {
    expect(quick.filter((path) => path !== "tests/rooms.test.ts" && ONLY_THOROUGH.test(readText(path)))).toEqual([]);
  });

  test("of thorough are in the table of tests/README.md, which names no others", () => {
    const [, table = ""] = readText("tests/README.md").split("## What only `thorough` proves");
    const named = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = ""]) => cell.replaceAll("`", "").split(", "));
    const globs = named.map((name) => new Bun.Glob(`tests/${name}.thorough.test.ts`));
    const thorough = testFiles.filter(isThorough);
    expect(thorough.filter((path) => !globs.some((glob) => glob.match(path)))).toEqual([]);
    expect(named.filter((_, index) => !thorough.some((path) => globs[index]?.match(path)))).toEqual([]);
  });
});

describe("exported names", () => {
  test("are used by another file", () => {
    const used = new Set(imports.flatMap(({ from, to, names }) => (from === to ? [] : names.map((name) => `${to} ${name}`))));
    const needless = exported.filter(({ path, name }) => !used.has(`${path} ${name}`) && !used.has(`${path} *`));
    expect(needless.map(place)).toEqual([]);
  });

  test("have one meaning: no two rooms define the same one", () => {
    const homes = new Map<string, Declared[]>();
    for (const each of exported) homes.set(each.name, [...(homes.get(each.name) ?? []), each]);
    const twice = [...homes.values()].filter((each) => new Set(each.map(({ path }) => roomOf(path))).size > 1);
    expect(twice.map((each) => each.map(place).join(", "))).toEqual([]);
  });
});

/** Whether the position in a file is in a comment, not in a text. */
function isComment(path: string, position: number): boolean {
  const source = sources.get(path) as ts.SourceFile;
  let node: ts.Node = source;
  for (;;) {
    const inner: ts.Node | undefined = node
      .getChildren(source)
      .find((each) => each.getStart(source) <= position && position < each.getEnd());
    if (inner === undefined) return true;
    if (ts.isStringLiteralLike(inner) || ts.isTemplateLiteral(inner) || ts.isJsxText(inner)) return false;
    node = inner;
  }
}

/** The groups of files that import each other, directly or through others. */
function circles(): string[][] {
  const next = new Map(code.map((path) => [path, imports.filter(({ from, to }) => from === path && to !== path).map(({ to }) => to)]));
  const reachable = (start: string): Set<string> => {
    const seen = new Set<string>();
    const open = [...(next.get(start) ?? [])];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      open.push(...(next.get(path) ?? []));
    }
    return seen;
  };
  const reached = new Map(code.map((path) => [path, reachable(path)]));
  const groups = code
    .filter((path) => reached.get(path)?.has(path))
    .map((path) => code.filter((other) => other === path || (reached.get(path)?.has(other) && reached.get(other)?.has(path))));
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}
