/** `find --as-of` finds, in the real files, what `find` found at that instant. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { fundfeed } from "../support/command-line.ts";
import { onPostgres } from "../support/database-locations.ts";
import { datedFiles, datedGroups } from "../support/dated-files.ts";
import { aDirectory, DAY, dropScratch } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { EXCERPTS } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // A busy machine takes its time.

afterAll(dropScratch);

const searches = [
  ["--json"],
  ["--limit", "8"],
  ["research", "--json"],
  ["research for technology", "--limit", "9"],
  ["research technology", "--all-words", "--json"],
  ["--status", "open,closing_soon", "--sort", "closes", "--json"],
  ["--closes-after", "0d", "--sort", "amount", "--format", "csv"],
  ["--agency", "NSF,DOD,NASA", "--sort", "posted", "--format", "ndjson"],
  ["science", "--all-sources", "--sort", "updated", "--format", "md"],
  ["--source", "NSF", "--json"],
];

/** The catalog's place, as an option. */
type Place = [option: string, value: string];

/** What all searches print at an instant, or later as of it. */
async function foundAt(place: Place, now: number, asOf?: number): Promise<string[]> {
  const found: string[] = [];
  for (const search of searches) {
    const past = asOf === undefined ? [] : ["--as-of", new Date(asOf).toISOString()];
    const { code, out } = await fundfeed(["find", ...search, ...place, "--search-data", aDirectory(), ...past], {}, () => now);
    expect([code, search]).toEqual([0, search]);
    found.push(out.replace(/^ {2}"as_of": .*\n/m, ""));
  }
  return found;
}

/** Imports a group of files, and compares what was found after each of `looks` imports, evenly spread, with what is found as of then. */
async function compare(place: Place, group: string, looks: number): Promise<string[]> {
  const files = datedFiles(EXCERPTS, group);
  const made: { at: number; found: string[] }[] = [];
  const every = Math.ceil(files.length / looks);
  for (const [n, { name, path, at }] of files.entries()) {
    const { code, err } = await fundfeed(["import", name, path, ...place, "--rejects", "/dev/null"], {}, () => at);
    expect([0, 3].includes(code) ? "" : `${path}: ${err}`).toBe(""); // 3: some records were rejected.
    expect((await fundfeed(["refresh", ...place], {}, () => at + HOUR)).code).toBe(0); // As a running server does.
    if (n % every === every - 1 || n === 0) made.push({ at: at + HOUR, found: await foundAt(place, at + HOUR) });
  }
  const later = (files.at(-1)?.at ?? 0) + 400 * DAY;
  for (const { at, found } of made) expect([at, await foundAt(place, later, at)]).toEqual([at, found]);
  expect(new Set(made.map(({ found }) => found.join())).size).toBe(made.length);
  return made.flatMap(({ found }) => found);
}

describe.each(Object.keys(datedGroups))("excerpts of %s", (group) => {
  test.skipIf(onPostgres)("in files", async () => {
    const found = (await compare(["--data", aDirectory()], group, 2)).join("\n");
    if (group === "grants") for (const said of ["also at", '"also_at": [\n        {', "closing_soon"]) expect(found).toContain(said);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`fundfeed-past-${process.pid}-`))).toEqual([]);
  });
});

test.if(hasPostgres)("excerpts of grants in PostgreSQL", async () => {
  await compare(["--database", await (await postgresServer()).freshDatabase()], "grants", 2);
});
