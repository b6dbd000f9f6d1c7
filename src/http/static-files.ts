/** Files that are the same for everyone: `/openapi.json`, `/docs`, and what that page loads. */
import type { Call } from "./call.ts";
import { isNotModified } from "./etag.ts";
import { noSuchPath } from "./problem.ts";
import { respond } from "./respond.ts";

/** `path` is below the base address; `headers` are added to the usual ones, or replace them. */
export type Asset = { path: `/${string}`; contentType: string; body: Uint8Array<ArrayBuffer>; headers?: Record<string, string> };

export type StaticFile = Asset & { etag: string };

/** The files by path, with their entity tags. The tags are weak, because a file is sent in several codings. */
export function staticFiles(assets: readonly Asset[]): ReadonlyMap<string, StaticFile> {
  const etagOf = ({ body }: Asset) => `W/"${Bun.CryptoHasher.hash("sha256", body, "hex").slice(0, 32)}"`;
  return new Map(assets.map((asset) => [asset.path, { ...asset, etag: etagOf(asset) }]));
}

/** Throws `not_found` if there is no such file. */
export function findFile({ service: { files, baseUrl } }: Call, path: string): StaticFile {
  const file = files().get(path);
  if (file === undefined) throw noSuchPath(baseUrl);
  return file;
}

/** How long a file may be cached, unless its own headers say otherwise (D-20: at most a day). */
const MAX_AGE_SECONDS = 3600;

/** The file, or 304 if the client has it. */
export function respondFile(call: Call, { etag, contentType, body, headers }: StaticFile) {
  const shared = { ETag: etag, "Cache-Control": `public, max-age=${MAX_AGE_SECONDS}`, ...headers };
  if (isNotModified(call.headers, { etag })) return respond(call, 304, shared, null);
  return respond(call, 200, { ...shared, "Content-Type": contentType }, body);
}
