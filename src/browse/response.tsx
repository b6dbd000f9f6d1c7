/** @jsxImportSource hono/jsx */
/** The frame of every page, the responses with pages, and the files that they load. A class of the style sheet is a part or a state. (E-54) */
import baseStyle from "../http/base.css" with { type: "text" };
import { safeLines } from "../text/terminal-text.ts";
import copyFile from "./copy.client.js" with { type: "text" };
import { WITH_OWN_SCRIPT } from "./headers.ts";
import iconFile from "./icon.svg" with { type: "text" };
import { withBetween } from "./marks.tsx";
import type { BrowsePage, BrowseSection } from "./page.ts";
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
  // Control characters and bidirectional overrides become visible escapes: upstream text must not reorder what is around it.
  const document = safeLines(String(<Document page={page} frame={{ script, up, notice }} />).replace(/\r\n?/g, "\n"));
  return new Response(`<!doctype html>\n${document}\n`, { status: page.status ?? 200, headers });
}

const sections: readonly { section: BrowseSection; name: string; address: string }[] = [
  { section: "find", name: "Find", address: "/" },
  { section: "changes", name: "What changed", address: "/changes" },
  { section: "deadlines", name: "Deadlines", address: "/deadlines" },
  { section: "sources", name: "Sources", address: "/sources" },
];

const ofMembers: typeof sections = [
  { section: "watches", name: "My watches", address: "/watches" },
  { section: "following", name: "Following", address: "/following" },
];

/** `up` is given on `fundfeed up`, which has a page of jobs, and may have a sign-in and members. `notice` stands above every page. */
type Frame = {
  script: string | undefined;
  up?: { hasSignIn: boolean; isMember?: boolean } | undefined;
  notice?: string | undefined;
};

const DESCRIPTION =
  "US federal grants, contracts, SBIR and STTR topics and prizes of all sources in one place: who may apply, until when, and what changed.";

type DocumentProps = { page: Exclude<BrowsePage, { location: string }>; frame: Frame };

function Document({ page: { title, section: current, body, description = DESCRIPTION }, frame }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · fundfeed`}</title>
        <meta name="description" content={description} />
        <link rel="stylesheet" href={style.path} />
        <link rel="icon" href={icon.path} type="image/svg+xml" />
        {frame.script !== undefined && <script src={frame.script} defer />}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <header class="bar">
          <a class="brand" href="/">
            <img src={icon.path} alt="" width="24" height="24" />
            <span class="brand-name">fundfeed</span>
          </a>
          <nav aria-label="Pages">
            {[...sections, ...(frame.up?.isMember ? ofMembers : [])].map(({ section, name, address }) => (
              <a key={section} href={address} aria-current={section === current ? "page" : undefined}>
                {name}
              </a>
            ))}
          </nav>
        </header>
        <main id="content" tabindex={-1}>
          {frame.notice !== undefined && (
            <p class="past-note" role="status">
              {frame.notice}.
            </p>
          )}
          {body}
        </main>
        <footer>
          <p>US federal funding opportunities as their sources publish them. Dates without a zone are US Eastern time.</p>
          <p>
            {withBetween(
              [
                <a href="/help">Help</a>,
                frame.up && <a href="/v1/docs">API for programs</a>,
                frame.up && <a href="/status">Jobs of this server</a>,
                frame.up?.hasSignIn && <a href="/sign-out">Sign out</a>,
              ].filter(Boolean),
              " · ",
            )}
          </p>
        </footer>
      </body>
    </html>
  );
}
