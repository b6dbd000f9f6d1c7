/**
 * A copy in an NDJSON file, in the order of the list. A walk is written to a partial file, followed by the unchanged documents of the copy, and
 * then renamed. So the file always comes from a complete walk, and its first line gives the mark.
 */
import { createReadStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { fingerprintOf } from "../../db/file-identity.ts";
import { attempt } from "../../db/reason.ts";
import { inBatches } from "../runtime/batches.ts";
import { putInPlace, targetOf } from "../runtime/replace-file.ts";
import { isObject, type JsonObject, parseJson } from "../text/json-value.ts";
import { lines } from "../text/lines.ts";
import { goneMessage, linesOf, requireScope, type Scope, type Store, scopeText } from "./store.ts";

const LINES_AT_ONCE = 1000;
/** Longer lines are damage: an event holds a field of an imported record twice, and JSON may escape each of its characters. */
const LINE_BYTES_MAX = 2 ** 29;

/** Opens a copy in an NDJSON file. Throws if the file is not a copy of this scope. `tell` gets messages for the user. */
export function openNdjsonStore(path: string, scope: Scope, tell: (message: string) => void = () => undefined): Store {
  storeScope(path, scope);
  /** The fingerprint of the file from which the walk began. */
  let fingerprint = fingerprintOf(path);
  let partial: PartialCopy | undefined;

  const abandon = async () => {
    if (partial === undefined) return;
    if (await isOurs(partial)) await rm(partial.path);
    await partial.file.close();
    partial = undefined;
  };
  const finish = async (finished: PartialCopy) => {
    const { file, ids } = finished;
    for await (const lines of inBatches(unchanged(path, ids), LINES_AT_ONCE)) await file.writeFile(textOf(lines));
    await file.sync();
    if (!(await isOurs(finished))) throw new Error(`another program also writes to ${path}`);
    if (fingerprintOf(path) !== fingerprint) throw new Error(`${path} was removed or replaced`);
    storeScope(path, scope); // Another program may have removed it, when it ended without a copy.
    putInPlace(finished.path, finished.target);
    fingerprint = fingerprintOf(path);
    await file.close();
    partial = undefined;
  };
  return {
    begin: async () => {
      await abandon();
      if (fingerprintOf(path) !== fingerprint) {
        storeScope(path, scope);
        tell(goneMessage(path));
        fingerprint = fingerprintOf(path);
      }
      return { since: await markOf(path), newest: null, cursor: null };
    },
    save: async (entries, walk) => {
      if (entries.length > 0 || !existsSync(path)) partial ??= await startPartial(path);
      if (partial === undefined) return;
      await partial.file.writeFile(textOf([...linesOf(entries)]));
      for (const { id } of entries) partial.ids.add(id);
      if (walk.cursor === null) await finish(partial);
    },
    close: async () => {
      await abandon();
      if (!existsSync(path)) await rm(scopePathOf(path), { force: true });
    },
  };
}

/** The file to which a walk is written, and the one that it will replace. */
type PartialCopy = { path: string; target: string; file: FileHandle; ids: Set<string> };

async function startPartial(copy: string): Promise<PartialCopy> {
  const target = targetOf(copy);
  const path = `${target}.partial`;
  await rm(path, { force: true }); // Left by a killed walk.
  return { path, target, file: await open(path, "wx", 0o600), ids: new Set() };
}

/** Another program that writes to the same copy replaces the partial file by its own. */
async function isOurs({ path, file }: PartialCopy): Promise<boolean> {
  return existsSync(path) && (await stat(path)).ino === (await file.stat()).ino;
}

function scopePathOf(path: string): string {
  return `${path}.scope`;
}

/** Writes the scope to a file next to the copy before the copy exists. Throws if the copy exists without it: another program made it then. */
function storeScope(path: string, scope: Scope): void {
  const scopePath = scopePathOf(path);
  attempt(`Cannot keep a copy in ${path}`, () => {
    if (!existsSync(path)) writeFileSync(scopePath, scopeText(scope), { flush: true });
    else if (existsSync(scopePath)) requireScope(readFileSync(scopePath, "utf8"), scope);
    else throw new Error(`it exists, but ${scopePath}, which names the server of a copy, does not; use another file`);
  });
}

/** The mark of the copy: the `updated_at` of the first line. */
async function markOf(path: string): Promise<string | null> {
  for await (const { updated_at } of documents(path)) {
    if (typeof updated_at !== "string") throw new Error(`${path} does not begin with an opportunity`);
    return updated_at;
  }
  return null;
}

async function* unchanged(path: string, ids: ReadonlySet<string>): AsyncIterable<string> {
  for await (const { opportunity_id, id, text } of documents(path)) if (!ids.has(String(opportunity_id ?? id))) yield text;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

async function* documents(path: string): AsyncIterable<JsonObject & { text: string }> {
  if (!existsSync(path)) return;
  for await (const { line, text, fault } of lines(createReadStream(path), LINE_BYTES_MAX)) {
    const document = parseJson(text);
    if (fault !== undefined || !isObject(document)) throw new Error(`${path} is damaged in line ${line}; start a new copy`);
    yield { ...document, text };
  }
}
