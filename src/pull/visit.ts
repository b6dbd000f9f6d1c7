/** One visit to an upstream: its answers become files in a directory of the visit's own. */
import { open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { publicUrl, withoutKey } from "../text/request-failure.ts";
import { type Answer, download, type Net, type Validators, type Wanted } from "./download.ts";

export type Visit = {
  net: Net;
  directory: string;
  /** Base address, ending in "/". */
  base: URL;
  /** What the upstream asks of its callers, where it does. */
  key: string | undefined;
  /** The file that was imported last, where it is worth asking whether it has changed. */
  known: Known | undefined;
  requests: number;
  /** How many requests it takes in all, once that is known. */
  planned?: number;
};

/** Where a file came from, and what tells it from a newer one. */
export type Known = Validators & { url: string };

/** Files to import as one. */
export type Fetched = { files: string[]; known?: Known };

/** Between two requests: nobody's server is to notice us. */
const PACE_MS = 350;
const JSON_BYTES_MAX = 64 * 1024 ** 2;

/** Saves an answer under a name; what it is conditional on is up to the caller. */
export async function fetchFile(visit: Visit, name: string, wanted: Wanted, known?: Validators): Promise<Answer & { path: string }> {
  const { net, directory } = visit;
  const place = ++visit.requests;
  if (place > 1) await net.wait(PACE_MS, net.stop);
  const path = join(directory, name);
  const counted = { ...net, progress: (bytes: number, total: number | undefined) => net.progress(bytes, total, place, visit.planned) };
  return { ...(await download(counted, wanted, path, known)), path };
}

/** A request for JSON below the base address. */
export function jsonAt(visit: Visit, path: string, body?: object): Wanted {
  return { url: new URL(path, visit.base), types: ["application/json"], bytesMax: JSON_BYTES_MAX, key: visit.key, ...(body && { body }) };
}

/** Saves a JSON response and reads it, without the key if the upstream repeats it: files are kept, and records are imported from them. */
export async function fetchJson(visit: Visit, name: string, wanted: Wanted): Promise<{ path: string; text: string; value: unknown }> {
  const { outcome, path } = await fetchFile(visit, name, wanted);
  if (outcome !== "saved") throw new Error(`Cannot fetch ${publicUrl(wanted.url)}: it answered 404`);
  const saved = await readFile(path, "utf8");
  const text = withoutKey(saved, visit.key);
  if (text !== saved) await writeFile(path, text);
  return { path, text, value: parse(text, wanted.url) };
}

/** Reads a JSON answer that is not kept by itself. */
export async function readJson(visit: Visit, wanted: Wanted): Promise<{ text: string; value: unknown }> {
  const { path, ...answer } = await fetchJson(visit, "answer.json", wanted);
  await rm(path);
  return answer;
}

/** Saves many JSON texts as one array: hundreds of files could not all be open at once. */
export async function saveArray(visit: Visit, name: string, texts: AsyncIterable<string>): Promise<string> {
  const path = join(visit.directory, name);
  const file = await open(path, "wx", 0o600);
  try {
    let separator = "[\n";
    for await (const text of texts) {
      await file.appendFile(separator + text);
      separator = ",\n";
    }
    await file.appendFile(separator === "[\n" ? "[]\n" : "\n]\n");
  } finally {
    await file.close();
  }
  return path;
}

function parse(text: string, url: URL): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`Cannot read the answer of ${publicUrl(url)}: it is not JSON`);
  }
}
