/**
 * What this version does with what others made: the data of each version since 1.0.0 come up to date and stay as they were, and the program
 * before an upgrade refuses what the one after it has migrated. docs/explanation/stability.md promises both.
 */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { DatabaseName } from "../db/engine.ts";
import { missingOf } from "../db/migration.ts";
import { appliedTo, migrations } from "../db/sqlite/migrate.ts";
import manifest from "../package.json";
import { aHome, dropHomes, type Home, type Server } from "./support/binary.ts";
import { aDirectory, dropScratch } from "./support/imports.ts";
import { readText, root } from "./support/project-files.ts";
import { waitFor } from "./support/wait-for.ts";

setDefaultTimeout(300_000);
afterAll(dropHomes);
afterAll(dropScratch);

const kept = join(import.meta.dir, "data/fundfeed");
const isReleased = (version: string) => !readText("CHANGELOG.md").includes(`\n## ${version} — unreleased\n`);

/** A file that a version kept. */
const keptFile = (version: string, name: string): Buffer => gunzipSync(readFileSync(join(kept, version, `${name}.gz`)));
const databasesOf = (version: string) =>
  readdirSync(join(kept, version)).flatMap((name) => (name.endsWith(".db.gz") ? name.slice(0, -".gz".length) : []));

/** A home with the data directory that a version kept. */
function homeOf(version: string): Home {
  const home = aHome();
  mkdirSync(home.at("fundfeed-data"), { mode: 0o700 });
  for (const name of databasesOf(version)) writeFileSync(home.at(`fundfeed-data/${name}`), keptFile(version, name), { mode: 0o600 });
  return home;
}

/** The places where `now` lacks what `old` has, or has another type. A value that may be null is either. Of a list, the first items count. */
function lost(old: unknown, now: unknown, place = ""): string[] {
  if (old === null || now === null) return [];
  if (Array.isArray(old)) return Array.isArray(now) ? (old.length * now.length === 0 ? [] : lost(old[0], now[0], `${place}[0]`)) : [place];
  if (typeof old !== "object") return typeof old === typeof now ? [] : [place];
  if (typeof now !== "object" || Array.isArray(now)) return [place];
  const fields = now as Record<string, unknown>;
  return Object.entries(old).flatMap(([name, value]) =>
    name in fields ? lost(value, fields[name], `${place}.${name}`) : [`${place}.${name}`],
  );
}

test("the data that this version writes are kept for later ones", () => {
  const versions = readdirSync(kept);
  if (!versions.includes(manifest.version))
    throw new Error(`tests/data/fundfeed/${manifest.version} is missing: run bun run keep-data, and commit what it writes`);
});

describe.each(readdirSync(kept))("the data of %s", (version) => {
  test("have had the migrations of this program, as they are", () => {
    for (const file of databasesOf(version)) {
      const sqlite = Database.deserialize(keptFile(version, file));
      const name = file.replace(".db", "") as DatabaseName;
      try {
        missingOf(migrations[name], appliedTo(sqlite));
      } catch (error) {
        const help = isReleased(version)
          ? `${version} is released, and there are data like these. Leave its migrations as they are, and add one (CONTRIBUTING.md)`
          : `The schema has changed, and ${version} is not released yet: run bun run keep-data, and commit what it writes`;
        throw new Error(`tests/data/fundfeed/${version}/${file}.gz cannot be opened: ${(error as Error).message}. ${help}`);
      } finally {
        sqlite.close();
      }
    }
  });

  test("come up to date, are answered as they were, take imports and deliver watches", async () => {
    const home = homeOf(version);
    const { key, answers, printed } = JSON.parse(keptFile(version, "answers.json").toString());
    const server = await home.serve();
    for (const [path, old] of Object.entries(answers as Record<string, { data: unknown }>)) {
      const { data } = (await (await server.get(path, key)).json()) as { data: unknown };
      expect({ path, data }).toMatchObject({ path, data: old.data });
    }
    expect(await server.stop()).toBe(0);
    for (const { args, json } of printed as { args: string[]; json: unknown }[])
      expect({ args, lost: lost(json, await home.json(args)) }).toEqual({ args, lost: [] });
    expect(await home.run(["check"])).toEqual({ code: 0, out: "No problems found\n", err: "" });

    home.file("records.ndjson", keptFile(version, "records.ndjson"));
    const nothing = { added: 0, changed: 0, rejected: 0, events: 0 };
    expect(await home.json(["import", "records", "records.ndjson"])).toMatchObject(nothing);
    const lines = [
      { source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensors", status: "closed" },
      { source: { code: "OWN", opportunity_id: "3" }, title: "Quantum networks", status: "open" },
    ];
    home.file("own.ndjson", lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect(await home.json(["import", "records", "own.ndjson"])).toMatchObject({
      ...nothing,
      added: 1,
      changed: 1,
      events: expect.any(Number),
    });
    const delivered = await home.run(["watch", "run"]);
    expect([delivered.code, delivered.out]).toEqual([0, expect.stringContaining("Quantum networks")]);
    expect(await home.run(["check"])).toEqual({ code: 0, out: "No problems found\n", err: "" });
  });

  test("are restored from its export", async () => {
    const home = aHome();
    home.file("records.ndjson", keptFile(version, "records.ndjson"));
    const count = keptFile(version, "records.ndjson").toString().split("\n").length - 1;
    expect(await home.json(["import", "records", "records.ndjson"])).toMatchObject({ added: count, rejected: 0 });
    const ids = (text: string) => text.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { id: string }).id]));
    expect(ids((await home.run(["export"])).out).sort()).toEqual(ids(keptFile(version, "records.ndjson").toString()).sort());
  });
});

test("an upgrade migrates everything, a downgrade is refused in a sentence, and the backup leads back", async () => {
  const through = ["sh", "-c", 'shift; exec "$0" "$@"', await nextProgram()]; // Instead of this program.
  const home = homeOf(manifest.version);
  const { key, answers } = JSON.parse(keptFile(manifest.version, "answers.json").toString());
  const path = "/opportunities?limit=100";
  const listsAsBefore = async (server: Server) => {
    expect(await (await server.get(path, key)).json()).toMatchObject({ data: answers[path].data });
    expect(await server.stop()).toBe(0);
  };
  const made = appliedTo(Database.deserialize(keptFile(manifest.version, "catalog.db"))).length;
  const next = migrations.catalog.length + 1;
  const older = `an older version of fundfeed made it (schema ${made} of ${next}), and a command that only reads does not migrate it; make a backup`;
  const refused = await home.run(["find", "quantum"], { through });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(older)]);
  expect((await home.run(["check"], { through })).out).toContain("it was not migrated, and only its storage was checked");
  expect(await home.run(["backup", "before-upgrade"], { through })).toMatchObject({ code: 0 });
  const server = await home.serve(["serve", "--port", "0"], { through });
  const migrated = `from schema ${made} to ${next}; older versions of fundfeed refuse it from now on`;
  await waitFor("it is logged", () => server.log().includes(migrated));
  await listsAsBefore(server);
  expect(await home.run(["check"], { through })).toMatchObject({ code: 0, out: "No problems found\n" });

  const before = contents(home);
  for (const args of [["find", "quantum"], ["serve", "--port", "0"], ["export"], ["check"], ["import", "records", "-"]]) {
    const { code, out, err } = await home.run(args);
    expect([args, code, out + err]).toEqual([args, 1, expect.stringContaining("a newer version of fundfeed made it")]);
  }
  expect(contents(home)).toEqual(before);
  expect(await home.run(["restore", "before-upgrade"])).toMatchObject({ code: 0 });
  await listsAsBefore(await home.serve());
});

/** The program after the next change of its schema, compiled as a release is. */
async function nextProgram(): Promise<string> {
  const directory = aDirectory();
  const entry = join(directory, "next.ts");
  const support = join(import.meta.dir, "support/next-version.ts");
  writeFileSync(entry, `import { nextVersion } from "${support}";\nnextVersion();\nawait import("${join(root, "src/main.ts")}");\n`);
  const outfile = join(directory, "fundfeed-next");
  const built = await Bun.build({
    entrypoints: [entry],
    compile: { outfile, autoloadBunfig: false, autoloadDotenv: false },
    define: { "process.env.NODE_ENV": '"production"' },
    minify: true,
  });
  expect(built.logs).toEqual([]);
  return outfile;
}

/** The sums of the databases in the data directory. */
function contents(home: Home): Record<string, string> {
  const names = readdirSync(home.at("fundfeed-data")).filter((name) => name.endsWith(".db"));
  return Object.fromEntries(
    names.map((name) => [name, Bun.CryptoHasher.hash("sha256", readFileSync(home.at(`fundfeed-data/${name}`)), "hex")]),
  );
}
