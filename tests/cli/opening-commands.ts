/** Every command that opens data, what it is given, and the data that it opens. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../db/sqlite/migrate.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { fundfeed } from "../support/command-line.ts";
import { entries } from "../support/commands.ts";
import { aCatalog, aDirectory, aFile, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

export const modeOf = (words: string) => entries[words]?.mode ?? "";
export const ofMode = (...wanted: string[]) => Object.keys(entries).filter((words) => wanted.includes(modeOf(words)));

/** What each command that reads is given, beyond the place. */
let eventId = "";
const arguments_: Record<string, () => string[]> = {
  browse: () => ["--port", "0"],
  export: () => [],
  quality: () => [],
  explain: () => [eventId],
  find: () => ["one"],
  show: () => ["1"],
  similar: () => ["1"],
  diff: () => ["30d"],
  report: () => [],
  status: () => [],
  mcp: () => [], // Its input ends at once. What it does with requests: tests/mcp.
  changes: () => ["--since", "all"],
  copy: () => ["postgres://127.0.0.1:1/nowhere"],
  "imports list": () => [],
  "sources list": () => [],
  "sources status": () => [],
  "plans list": () => [],
  "accounts list": () => [],
  "keys list": () => [],
  "keys usage": () => [],
  "members list": () => [],
  "watch list": () => [],
  "watch show": () => ["kept"],
  "watch check": () => [],
  "watch deliveries": () => [],
  backup: () => [join(aDirectory(), "backup")],
  check: () => [],
};
/** What the commands are given that need something to be there, and change it. */
export const changing: Record<string, string[]> = {
  refresh: [],
  redact: [],
  "sources remove": ["GRANTS_GOV"],
  "accounts set": ["Acme", "--plan", "paid"],
  "keys rotate": ["key_x"],
  "keys revoke": ["key_x"],
  "members remove": ["ann@uni.example"],
  "watch add": ["other", "--to", "stdout"],
  "watch set": ["kept", "--at-least", "critical"],
  "watch remove": ["kept"],
  "watch test": ["kept"],
  "watch run": [],
  "watch resume": ["kept"],
  "watch mute": ["1"],
  "watch unmute": ["1"],
};

/** The commands that read. */
export const readers = Object.keys(arguments_);
/** They tell of any directory and database, also of one that is empty or of an older version. */
const TELLING = ["report", "status"];
/** Those of them that need data. */
export const opening = readers.filter((words) => !TELLING.includes(words));
/** The arguments of a command, with what it is given. */
export const lineOf = (words: string, place: readonly string[]) => [
  ...words.split(" "),
  ...(arguments_[words]?.() ?? changing[words] ?? []),
  ...place,
];

/** The copy's target answers nobody; until it is asked, all is read. No `up` runs, which `status` tells. */
export const isWell = (words: string, code: number) => code === (words === "copy" || words === "status" ? 1 : 0);

/** All that can be told of a directory and its files. An index, `-shm`, is memory that SQLite's connections share, and no data: only its name counts. */
export function stateOf(directory: string): unknown {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return names.sort().map((name) => {
    const path = join(directory, name);
    const { mode, ino, uid, size, mtimeNs } = statSync(path, { bigint: true });
    return name.endsWith("-shm")
      ? [name]
      : [name, mode, ino, uid, size, mtimeNs, new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")];
  });
}

/** A data directory with a record, its history, an import, an account and a key; closed. Made by `makeSound()`. */
export let sound = "";

/** For `beforeAll`. */
export async function makeSound(): Promise<void> {
  sound = aDirectory();
  await fundfeed(["import", "records", aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]), "--data", sound]);
  await fundfeed(["keys", "create", "--account", "Acme", "--data", sound]);
  await fundfeed(["watch", "add", "kept", "--to", "stdout", "--data", sound]);
  for (const name of ["import.lock", "search.db"]) rmSync(join(sound, name));
  const db = openCatalog(sound, NOON);
  eventId = (await db.get(rawSql<{ id: string }>("select id from events")))?.id ?? "";
  await db.close();
}

/** A copy of it. */
export function copied(): string {
  const directory = aDirectory();
  cpSync(sound, directory, { recursive: true });
  return directory;
}

/** Both files as a killed server leaves them: with logs that hold a record and an account. */
export async function leftBehind(): Promise<string> {
  const [directory, left] = [copied(), aDirectory()];
  const [catalog, state] = [openCatalog(directory, NOON), openState(directory, NOON)];
  await (await aCatalog(catalog)).take([{ source: { code: "OWN", opportunity_id: "late" }, title: "In the log" }]);
  await state.run(rawSql("insert into accounts (name, plan, subscription, created_at) values ('Late', 'trial', 'active', 0)"));
  for (const name of readdirSync(directory)) cpSync(join(directory, name), join(left, name));
  await Promise.all([catalog.close(), state.close()]);
  return left;
}

type Kind = "catalog" | "state";
const schemasOf = (kind: Kind, word: string) => `${migrations[kind].length - 1} ${word} ${migrations[kind].length}`; // Alike on both engines.
export const isOlder = (kind: Kind) =>
  `an older version of fundfeed made it (schema ${schemasOf(kind, "of")}), and a command that only reads does not migrate it; make a backup, `;
export const checked = (kind: Kind) =>
  `created by an older version of fundfeed (schema ${schemasOf(kind, "of")}); it was not migrated, and only its storage was checked`;
export const migratedLine = (kind: Kind, name: string) =>
  `Migrated ${name} from schema ${schemasOf(kind, "to")}; older versions of fundfeed refuse it from now on\n`;
