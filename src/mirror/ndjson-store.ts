/**
 * A copy in an NDJSON file, in the order of the list. A walk is written beside it, followed by what it leaves of the copy, and then takes its
 * place: the file is always that of a complete walk, and its first line tells the mark.
 */
import { createReadStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { reasonOf } from "../../db/reason.ts";
import { lines } from "../import/input.ts";
import { isObject, type JsonObject, parseJson } from "../text/json-value.ts";
import { linesOf, requireScope, type Scope, type Store, scopeText } from "./store.ts";

const LINES_AT_ONCE = 1000;

export function openNdjsonStore(path: string, scope: Scope): Store {
  rememberScope(path, scope);
  const partialPath = `${path}.partial`;
  let partial: { file: FileHandle; ids: Set<string> } | undefined;

  const start = async () => {
    await rm(partialPath, { force: true }); // Of a walk that was killed.
    return { file: await open(partialPath, "wx", 0o600), ids: new Set<string>() };
  };
  const abandon = async () => {
    await partial?.file.close();
    if (partial !== undefined) await rm(partialPath, { force: true });
    partial = undefined;
  };
  const finish = async ({ file, ids }: NonNullable<typeof partial>) => {
    for await (const kept of inBatches(unchanged(path, ids))) await file.writeFile(kept);
    await file.sync();
    if ((await stat(partialPath)).ino !== (await file.stat()).ino) throw new Error(`another program keeps a copy in ${path}, too`);
    await rename(partialPath, path);
    await file.close();
    partial = undefined;
  };
  return {
    begin: async () => {
      await abandon();
      return { since: await markOf(path), newest: null, cursor: null };
    },
    keep: async (entries, walk) => {
      if (entries.length > 0 || !existsSync(path)) partial ??= await start();
      if (partial === undefined) return;
      await partial.file.writeFile([...linesOf(entries)].map((line) => `${line}\n`).join(""));
      for (const { id } of entries) partial.ids.add(id);
      if (walk.cursor === null) await finish(partial);
    },
    close: abandon,
  };
}

/** Beside the copy, and before it: a file without it is not ours to overwrite. */
function rememberScope(path: string, scope: Scope): void {
  const scopePath = `${path}.scope`;
  try {
    if (!existsSync(path)) writeFileSync(scopePath, scopeText(scope), { flush: true });
    else if (existsSync(scopePath)) requireScope(readFileSync(scopePath, "utf8"), scope);
    else throw new Error(`it is there already, and no ${scopePath} says what it is a copy of`);
  } catch (error) {
    throw new Error(`Cannot keep a copy in ${path}: ${reasonOf(error)}`);
  }
}

/** The newest `updated_at` is that of the first line. */
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

async function* inBatches(texts: AsyncIterable<string>): AsyncIterable<string> {
  let batch: string[] = [];
  for await (const text of texts) {
    if (batch.push(`${text}\n`) < LINES_AT_ONCE) continue;
    yield batch.join("");
    batch = [];
  }
  yield batch.join("");
}

async function* documents(path: string): AsyncIterable<JsonObject & { text: string }> {
  if (!existsSync(path)) return;
  for await (const { line, text, fault } of lines(createReadStream(path))) {
    const document = parseJson(text);
    if (fault !== undefined || !isObject(document)) throw new Error(`${path} is damaged in line ${line}; begin a new copy`);
    yield { ...document, text };
  }
}
