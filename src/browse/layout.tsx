/** @jsxImportSource hono/jsx */
/** The frame of every page. (E-54) */

import { safeLines } from "../text/terminal-text.ts";
import { withBetween } from "./marks.tsx";
import type { BrowsePage, BrowseSection } from "./page.ts";

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
  style: string;
  icon: string;
  script: string | undefined;
  up?: { hasSignIn: boolean; isMember?: boolean } | undefined;
  notice?: string | undefined;
};

/** The page as HTML. Control characters and bidirectional overrides become visible escapes: upstream text must not reorder what is around it. */
export function htmlOf(page: DocumentProps["page"], frame: Frame): string {
  return `<!doctype html>\n${safeLines(String(<Document page={page} frame={frame} />).replace(/\r\n?/g, "\n"))}\n`;
}

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
        <link rel="stylesheet" href={frame.style} />
        <link rel="icon" href={frame.icon} type="image/svg+xml" />
        {frame.script !== undefined && <script src={frame.script} defer />}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <header class="bar">
          <a class="brand" href="/">
            <img src={frame.icon} alt="" width="24" height="24" />
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
