import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { formats } from "../../src/import/formats/all.ts";
import { openInput } from "../../src/import/readers/input.ts";
import { recognize } from "../../src/import/recognize.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const DATA = join(import.meta.dir, "../data");
const formatOf: Record<string, string> = { "dod-dsip": "dsip", "sam-gov-page": "sam-gov" };

/** One real file of each directory and kind: their names differ by a date or a number. */
function realFiles(): [path: string, format: string][] {
  const paths = [
    ...new Bun.Glob("{{sam,grants,simpler-grants,sbir,challenge}-gov,sam-gov-page,nsf,darpa,nasa-*}/**/*.{json,csv,html,gz}").scanSync(
      DATA,
    ),
  ];
  paths.push(...new Bun.Glob("dod-dsip/{raw,topics}*.{json,gz}").scanSync(DATA));
  // Hits and errors in one file, which its collector made.
  const files = paths.filter((path) => !path.includes("number-collision-and-errors"));
  const kinds = Map.groupBy(files, (path) => path.replaceAll(/\d+/g, ""));
  return [...kinds.values()].flatMap(([path]) => {
    const [directory = ""] = path?.split("/") ?? [];
    return path === undefined ? [] : [[path, formatOf[directory] ?? directory] as [string, string]];
  });
}

async function recognized(path: string) {
  const input = await openInput(path, {}, aDirectory());
  try {
    return await recognize(input);
  } finally {
    input.close();
  }
}

describe("a file is recognized from its beginning", () => {
  test("there are real files of every format", () => {
    const known = new Set(realFiles().map(([, format]) => format));
    expect([...known, "records"].sort()).toEqual(formats.map(({ name }) => name).sort());
  });

  test.each(realFiles())("%s as %s", async (path, format) => {
    expect((await recognized(join(DATA, path)))?.format).toBe(format);
  });

  test.each([
    ['{"source":{"code":"A","opportunity_id":"1"},"title":"T"}\n', "records"],
    ['{"type":"x","severity":"minor","detected_at":"2026-01-01T00:00:00Z","source":{"code":"A","opportunity_id":"1"}}', "events"],
    ['{"type":"without severity","detected_at":"2026-01-01T00:00:00Z","source":{"code":"A","opportunity_id":"1"}}', "events"],
    ["\ufeff\n<html><body>Down for maintenance", undefined],
    ["a,b\n1,2\n", undefined],
    ['{"solicitation_number":"of somebody else"}', undefined],
    ["", undefined],
  ])("%j as %p", async (text, format) => {
    expect((await recognized(aFile(text)))?.format).toBe(format as string);
  });
});

/** A copy outside the clone, because a file of rejected records is written beside what is imported. */
function copied(name: string): string {
  const path = join(aDirectory(), basename(name));
  copyFileSync(join(DATA, name), path);
  return path;
}

describe("fundfeed import", () => {
  const EXTRACT = copied("grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz");
  const CSV = copied("sam-gov/derived/ContractOpportunitiesFullCSV-20260425.reconstructed.csv.gz");
  const run = (...args: string[]) => fundfeed(["import", ...args, "--data", join(aDirectory(), "data")]);

  test.each([
    ["sam-gov", EXTRACT, `it looks like an XML extract of Grants.gov: fundfeed import grants-gov ${EXTRACT}`],
    ["grants-gov", CSV, `it looks like a CSV of SAM.gov: fundfeed import sam-gov ${CSV}`],
    ["records", EXTRACT, `it looks like an XML extract of Grants.gov: fundfeed import grants-gov ${EXTRACT}`],
  ])("%s of another format's file says which one reads it", async (format, file, hint) => {
    const { code, err } = await run(format, file);
    expect([code, err]).toEqual([1, expect.stringMatching(/^Cannot import .*: .*\n$/)]);
    expect(err.trimEnd()).toEndWith(`; ${hint}`);
  });

  test("is also mentioned if every record of a file is rejected", async () => {
    const file = aFile('[{"NoticeId":"1"}]');
    const { code, err } = await run("challenge-gov", file);
    expect([code, err.split("\n")[0]]).toEqual([
      3,
      `No record of ${file} could be imported; it looks like JSON of SAM.gov: fundfeed import sam-gov ${file}`,
    ]);
  });

  test("gives no hint about a file of its own format, or of none", async () => {
    for (const file of [aFile('NoticeId,Title\n"x'), aFile("a,b\n1,2\n")])
      expect((await run("sam-gov", file)).err).not.toContain("looks like");
  });

  test("asks for the format if a file was given instead, and suggests it", async () => {
    const directory = join(aDirectory(), "it's here");
    mkdirSync(directory);
    const spaced = join(directory, "a.json");
    writeFileSync(spaced, '[{"NoticeId":"1"}]');
    const plain = aFile("nothing known");
    for (const [args, sentence] of [
      [[EXTRACT], `fundfeed import grants-gov ${EXTRACT}; the file looks like an XML extract of Grants.gov`],
      [[CSV, EXTRACT], `fundfeed import sam-gov ${CSV}; the file looks like a CSV of SAM.gov`],
      [[spaced], `fundfeed import sam-gov '${spaced.replace("'", "'\\''")}'; the file looks like JSON of SAM.gov`],
      [[plain], `fundfeed import FORMAT ${plain}`],
    ] as const) {
      const { code, out, err } = await run(...args);
      expect({ code, out, err }).toEqual({
        code: 2,
        out: "",
        err: `error: the format is missing: ${sentence}\n(see --help)\n`,
      });
    }
  });

  test.each([
    ["sbir", "sbir-gov"],
    ["SAM_GOV", "sam-gov"],
    ["grants", "grants-gov"],
    ["simpler", "simpler-grants-gov"],
    ["grant-gov", "grants-gov"],
    ["disp", "dsip"],
  ])("of %s suggests %s", async (given, meant) => {
    expect((await run(given, basename(EXTRACT))).err).toContain(`(Did you mean ${meant}?)`);
  });

  test("shows names of formats beside the codes of sources", async () => {
    expect((await run("--help")).out).toMatch(/^ {2}dsip {2,}DSIP {2,}DoD/m);
    expect((await fundfeed(["pull", "--help"])).out).toMatch(/^ {2}sam-gov-api {2,}SAM_GOV {2,}notices/m);
    const data = join(aDirectory(), "data");
    await fundfeed(["import", "records", aFile('{"source":{"code":"A","opportunity_id":"1"},"title":"T"}\n'), "--data", data]);
    expect((await fundfeed(["sources", "list", "--data", data])).out).toMatch(/^DSIP {2,}dsip {2,}/m);
  });
});
