/**
 * Files that are the same for everyone: `/openapi.json`, `/docs`, and what that page loads. RFC 9110 §8.8.3.3 forbids one strong tag for
 * two codings, so one weak tag covers both.
 */

/** `path` is below the base address; `headers` are added to the usual ones, or replace them. */
export type Asset = { path: `/${string}`; contentType: string; body: Uint8Array<ArrayBuffer>; headers?: Record<string, string> };

export type StaticFile = Asset & { etag: string };

/** The files by path, with their entity tags. The tags are weak, because a file is sent in several codings. */
export function staticFiles(assets: readonly Asset[]): ReadonlyMap<string, StaticFile> {
  const etagOf = ({ body }: Asset) => `W/"${Bun.CryptoHasher.hash("sha256", body, "hex").slice(0, 32)}"`;
  return new Map(assets.map((asset) => [asset.path, { ...asset, etag: etagOf(asset) }]));
}
