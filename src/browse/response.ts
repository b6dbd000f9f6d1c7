/** Responses with pages, and the files that they load. A class of the style sheet is a part of a page or the state of one. */
import baseStyle from "../http/base.css" with { type: "text" };
import copyFile from "./copy.client.js" with { type: "text" };
import { WITH_OWN_SCRIPT } from "./headers.ts";
import iconFile from "./icon.svg" with { type: "text" };
import { htmlOf } from "./layout.tsx";
import type { BrowsePage } from "./page.ts";
import styleFile from "./style.css" with { type: "text" };

const style = hashedFile("style", "css", "text/css; charset=utf-8", baseStyle + styleFile);
const icon = hashedFile("icon", "svg", "image/svg+xml", iconFile);

const copy = hashedFile("copy", "js", "text/javascript; charset=utf-8", copyFile);

export const pageFiles = [style, icon, copy];

function hashedFile(name: string, extension: string, contentType: string, text: string) {
  const hash = Bun.CryptoHasher.hash("sha256", text, "hex").slice(0, 12);
  return { path: `/${name}-${hash}.${extension}`, contentType, text };
}

/** The page as HTML, or a redirect to its tidier address. `up` and `notice` are those of `Frame`. */
export function pageResponse(page: BrowsePage, up?: { hasSignIn: boolean; isMember?: boolean }, notice?: string): Response {
  if ("location" in page) return new Response(null, { status: 303, headers: { Location: page.location, "Cache-Control": "no-store" } });
  const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "private, no-cache" };
  const script = page.hasCopyButtons === true ? copy.path : undefined;
  if (script !== undefined) Object.assign(headers, { "Content-Security-Policy": WITH_OWN_SCRIPT });
  return new Response(htmlOf(page, { style: style.path, icon: icon.path, script, up, notice }), { status: page.status ?? 200, headers });
}
