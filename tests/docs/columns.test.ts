/**
 * Each column of a real file is read by its format, or stands in columns.tsv with the reason why it is not: "computed" is what a third party
 * derived from other columns, "of the request" what a response repeats or says about its own pages. `*` stands for any characters.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readText, root } from "../support/project-files.ts";
import { EXCERPTS } from "../support/real-data.ts";

/** The files of the program that read each directory of real files. */
const readers: Record<string, readonly string[]> = {
  "challenge-gov": ["challenge-gov.ts"],
  darpa: ["darpa.ts"],
  "dod-dsip": ["dsip.ts"],
  "nasa-nspires": ["nasa-nspires.ts"],
  nsf: ["nsf.ts", "../../opportunities/opportunity.ts"],
  "sam-gov": ["sam-gov.ts", "sam-gov-notice.ts"],
  "sam-gov-page": ["sam-gov-page.ts", "sam-gov-notice.ts"],
  "sbir-gov": ["sbir-gov.ts"],
  "simpler-api": ["grants-gov/simpler.ts"],
  "simpler-grants-gov": ["simpler-grants-gov.ts", "grants-gov/simpler.ts"],
};

/** Files that are no files of an upstream as the program reads them. */
const NOT_READ = ["dod-sbir-2015.1-topics-20150910.json.gz", "codes.json", "comparison.json.gz"];

const rows = readText("tests/docs/columns.tsv")
  .split("\n")
  .flatMap((line) => {
    const [directories = [], columns = []] = line.split("\t").map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
    return directories.flatMap((directory) => columns.map((column) => ({ directory, column })));
  });

function columnsIn(directory: string): Set<string> {
  const found = new Set<string>();
  const paths = readdirSync(join(EXCERPTS, directory), { recursive: true, encoding: "utf8" });
  for (const path of paths.filter((each) => /\.(csv|json)(\.gz)?$/.test(each) && !NOT_READ.some((name) => each.endsWith(name)))) {
    const bytes = readFileSync(join(EXCERPTS, directory, path));
    const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("latin1");
    if (!path.includes(".csv")) addFields(JSON.parse(text), found);
    else
      for (const name of /^[^\n]*/
        .exec(text.replace(/^\u00ef\u00bb\u00bf/, ""))?.[0]
        .trim()
        .split(",") ?? [])
        found.add(name.replaceAll('"', ""));
  }
  return found;
}

function addFields(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) for (const name of Object.keys(value)) found.add(name);
  for (const each of Object.values(value)) addFields(each, found);
}

/** Whether the text of a program names a column; `${which}ContactFax` names two. */
function isNamed(column: string, program: string): boolean {
  const names = [column, column.replace(/^(Primary|Secondary)Contact(Title|Fullname|Email|Phone)$/, "Contact$2")];
  return names.some((name) => new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(program));
}

function withoutComments(program: string): string {
  return program.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(?<=^|\s)\/\/.*$/gm, "");
}

function matches(pattern: string, column: string): boolean {
  return new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`).test(column);
}

describe.each(Object.entries(readers))("the columns of %s", (directory, names) => {
  const program = names.map((name) => withoutComments(readFileSync(join(root, "src/import/formats", name), "utf8"))).join("\n");
  const columns = [...columnsIn(directory)];
  const listed = rows.filter((row) => row.directory === directory).map(({ column }) => column);

  test("are read, or listed as not read", () => {
    const unread = columns.filter((column) => !isNamed(column, program));
    expect(unread.filter((column) => !listed.some((pattern) => matches(pattern, column)))).toEqual([]);
  });

  test("are all there that the page lists", () => {
    expect(listed.filter((pattern) => !columns.some((column) => matches(pattern, column)))).toEqual([]);
  });
});
