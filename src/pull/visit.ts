/** One visit to an upstream: saves its responses as files in a directory of its own. */
import { open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hideKey } from "../../clients/typescript/src/hide-key.ts";
import { parseBounded } from "../../clients/typescript/src/json-scan.ts";
import { Failure } from "../../db/reason.ts";
import { withCommas } from "../text/in-words.ts";
import { textOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { type DownloadRequest, type DownloadResult, download, type FileValidators, type Net } from "./download.ts";

export type Visit = {
  net: Net;
  directory: string;
  /** Base URL, ending in "/". */
  base: URL;
  fallback?: URL | undefined;
  key: string | undefined;
  known: Known | undefined;
  paceMs?: number | undefined;
  requests: number;
  jsonLength: number;
  planned?: number;
};

/** By which an unchanged file is recognized. `seen` is what else the next visit needs. */
export type Known = FileValidators & { url: string; seen?: Readonly<Record<string, string>> };

/**
 * Files to import as one unit. `known` is for the next visit. `insteadOf` says what they stand in for, and why. With `isPart`, a missing
 * record was not removed. `warning` is for the operator.
 */
export type Fetched = { files: string[]; known?: Known; insteadOf?: string; isPart?: true; warning?: string };

/** The pause between two requests, to put no load on the upstream. */
export const PACE_MS = 350;
const JSON_BYTES_MAX = 64 * 1024 ** 2;
/** For an upstream that always has another page. The longest real visit takes some thousand requests. */
const [REQUESTS_MAX, JSON_LENGTH_MAX] = [20_000, 1024 ** 3];
const QUOTED_MAX = 200;

/** Downloads a file under this name, if it differs from `known`. */
export async function fetchFile(
  visit: Visit,
  name: string,
  request: DownloadRequest,
  known?: FileValidators,
): Promise<DownloadResult & { path: string }> {
  const { net, directory } = visit;
  const response = ++visit.requests;
  if (response > 1) await net.wait(visit.paceMs ?? PACE_MS, net.stop);
  const path = join(directory, name);
  const counted = { ...net, progress: (bytes: number, total: number | undefined) => net.progress(bytes, total, response, visit.planned) };
  return { ...(await download(counted, request, path, known)), path };
}

/** The file with its validators for the next visit, `undefined` if it was imported last, or "missing". */
export async function fetchKnownFile(visit: Visit, name: string, request: DownloadRequest): Promise<Fetched | undefined | "missing"> {
  const { href } = request.url;
  const result = await fetchFile(visit, name, request, visit.known?.url === href ? visit.known : undefined);
  if (result.outcome === "missing") return "missing";
  return result.outcome === "saved" ? { files: [result.path], known: { url: href, ...result.validators } } : undefined;
}

/** As `fetchKnownFile`, but throws if the file is missing. `what` names it for the message. */
export async function fetchOnlyFile(visit: Visit, name: string, request: DownloadRequest, what: string): Promise<Fetched | undefined> {
  const fetched = await fetchKnownFile(visit, name, request);
  if (fetched === "missing") throw new Failure(`Cannot find ${what} at ${publicUrl(request.url)}`);
  return fetched;
}

/** A request for JSON at a path below the base URL: a POST with a body, else a GET. */
export function jsonAt(visit: Visit, path: string, body?: object): DownloadRequest {
  return { url: new URL(path, visit.base), types: ["application/json"], bytesMax: JSON_BYTES_MAX, key: visit.key, ...(body && { body }) };
}

type Json = { path: string; text: string; value: unknown };

/** As `findJson`, but throws if it is missing. */
export async function fetchJson(visit: Visit, name: string, request: DownloadRequest): Promise<Json> {
  const found = await findJson(visit, name, request);
  if (found === undefined) throw new Failure(`Cannot fetch ${publicUrl(request.url)}: it returned 404`);
  return found;
}

/**
 * Saves and parses a JSON response, without byte-order mark and key. Undefined if missing. Throws if it is not JSON, or there is no end of
 * responses.
 */
export async function findJson(visit: Visit, name: string, request: DownloadRequest): Promise<Json | undefined> {
  const { requests, jsonLength, base } = visit;
  if (requests >= REQUESTS_MAX || jsonLength > JSON_LENGTH_MAX)
    throw new Failure(
      `Cannot read all of ${base.host}: it has more than ${withCommas(REQUESTS_MAX)} responses, or more than 1 GiB of JSON`,
    );
  const { outcome, path } = await fetchFile(visit, name, request);
  if (outcome !== "saved") return undefined;
  const saved = await readFile(path, "utf8");
  visit.jsonLength = jsonLength + saved.length;
  const text = hideKey(saved, visit.key).replace(/^\ufeff/, "");
  if (text !== saved) await writeFile(path, text);
  return { path, text, value: parse(text, request.url) };
}

/** A list in a response. Throws if it is none. */
export function listIn({ base }: Visit, value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Failure(`Cannot use the response of ${base.host}: it is not a list of ${what}`);
}

/** A value for a message, cut if long. */
export function shortened(value: unknown): string {
  return textOf(value).slice(0, QUOTED_MAX);
}

/** A number of records as an upstream states it. */
export function countOf(value: unknown): number | null {
  const count = Number(textOf(value) || Number.NaN);
  return Number.isInteger(count) ? count : null;
}

/** Like `fetchJson`, but keeps no file. */
export async function readJson(visit: Visit, request: DownloadRequest): Promise<{ text: string; value: unknown }> {
  const { path, ...response } = await fetchJson(visit, "response.json", request);
  await rm(path);
  return response;
}

/** Saves details as one array in a file: an import opens all its files at once. */
export async function saveDetailsFile(visit: Visit, texts: AsyncIterable<string>): Promise<string> {
  const path = join(visit.directory, "details.json");
  await using file = await open(path, "wx", 0o600);
  let separator = "[\n";
  for await (const text of texts) {
    await file.appendFile(separator + text);
    separator = ",\n";
  }
  await file.appendFile(separator === "[\n" ? "[]\n" : "\n]\n");
  return path;
}

function parse(text: string, url: URL): unknown {
  try {
    return parseBounded(text);
  } catch {
    throw new Failure(`Cannot read the response of ${publicUrl(url)}: it is not JSON`);
  }
}
