/** `/openapi.json`, `/docs` and its files. They load nothing from other hosts and send no requests: a console would use keys in a browser (D-4). */

import baseStyle from "./base.css" with { type: "text" };
import type { StaticFile } from "./call.ts";
import pageScript from "./docs/page.client.js" with { type: "text" };
import pageStyle from "./docs/page.css" with { type: "text" };
import { docsPage } from "./docs/page.ts";
import { openapiDocument } from "./openapi.ts";

/** The page loads only its own files and connects to nothing, so no key can leave it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns a function that returns all files by path. Its first call builds them, in 20 ms. With `hasPages` the page leads to those of the server. */
export function descriptionFiles(baseUrl: string, hasPages = false): () => ReadonlyMap<string, StaticFile> {
  let files: ReadonlyMap<string, StaticFile> | undefined;
  return () => {
    files ??= staticFiles(descriptionAssets(baseUrl, hasPages));
    return files;
  };
}

type Asset = Omit<StaticFile, "etag">;

/** The files by path, with their entity tags. One weak tag covers both codings of a file: RFC 9110 §8.8.3.3 forbids a strong one. */
export function staticFiles(assets: readonly Asset[]): ReadonlyMap<string, StaticFile> {
  const etagOf = ({ body }: Asset) => `W/"${Bun.CryptoHasher.hash("sha256", body, "hex").slice(0, 32)}"`;
  return new Map(assets.map((asset) => [asset.path, { ...asset, etag: etagOf(asset) }]));
}

function descriptionAssets(baseUrl: string, hasPages: boolean): Asset[] {
  const document = openapiDocument(baseUrl);
  const style = hashedFile("css", "text/css; charset=utf-8", Bun.gzipSync(baseStyle + pageStyle));
  const script = hashedFile("js", "text/javascript; charset=utf-8", Bun.gzipSync(pageScript));
  const page = docsPage(document, { style: style.path, script: script.path, hasPages });
  return [
    { path: "/openapi.json", contentType: "application/json", body: Buffer.from(JSON.stringify(document)) },
    {
      path: "/docs",
      contentType: "text/html; charset=utf-8",
      body: Buffer.from(page),
      headers: { "Content-Security-Policy": CONTENT_SECURITY_POLICY, "Referrer-Policy": "no-referrer" },
    },
    style,
    script,
  ];
}

function hashedFile(extension: string, contentType: string, body: Uint8Array<ArrayBuffer>): Asset {
  const hash = Bun.CryptoHasher.hash("sha256", body, "hex").slice(0, 12);
  const headers = { "Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable" };
  return { path: `/docs/page-${hash}.${extension}`, contentType, body, headers };
}
