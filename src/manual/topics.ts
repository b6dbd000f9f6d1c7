/** The manual: the pages of docs/ that match this version of the program, for `fundfeed help` and `/help`. */

import faultsPage from "../../docs/explanation/faults.md" with { type: "text" };
import stabilityPage from "../../docs/explanation/stability.md" with { type: "text" };
import browsePage from "../../docs/guides/browse.md" with { type: "text" };
import changesPage from "../../docs/guides/changes.md" with { type: "text" };
import compressionPage from "../../docs/guides/compression.md" with { type: "text" };
import feedsPage from "../../docs/guides/feeds.md" with { type: "text" };
import findPage from "../../docs/guides/find.md" with { type: "text" };
import importPage from "../../docs/guides/import.md" with { type: "text" };
import keysPage from "../../docs/guides/keys.md" with { type: "text" };
import mcpPage from "../../docs/guides/mcp.md" with { type: "text" };
import membersPage from "../../docs/guides/members.md" with { type: "text" };
import operatePage from "../../docs/guides/operate.md" with { type: "text" };
import pastPage from "../../docs/guides/past.md" with { type: "text" };
import personalDataPage from "../../docs/guides/personal-data.md" with { type: "text" };
import postgresPage from "../../docs/guides/postgres.md" with { type: "text" };
import pullPage from "../../docs/guides/pull.md" with { type: "text" };
import qualityPage from "../../docs/guides/quality.md" with { type: "text" };
import quotasPage from "../../docs/guides/quotas.md" with { type: "text" };
import scalePage from "../../docs/guides/scale.md" with { type: "text" };
import syncPage from "../../docs/guides/sync.md" with { type: "text" };
import tlsPage from "../../docs/guides/tls.md" with { type: "text" };
import upPage from "../../docs/guides/up.md" with { type: "text" };
import watchPage from "../../docs/guides/watch.md" with { type: "text" };
import indexPage from "../../docs/index.md" with { type: "text" };
import commongrantsPage from "../../docs/reference/commongrants.md" with { type: "text" };
import contractPage from "../../docs/reference/contract.md" with { type: "text" };
import eventsPage from "../../docs/reference/events.md" with { type: "text" };
import factsPage from "../../docs/reference/facts.md" with { type: "text" };
import filtersPage from "../../docs/reference/filters.md" with { type: "text" };
import formatsPage from "../../docs/reference/formats.md" with { type: "text" };
import layoutsPage from "../../docs/reference/layouts.md" with { type: "text" };
import licensesPage from "../../docs/reference/licenses.md" with { type: "text" };
import metricsPage from "../../docs/reference/metrics.md" with { type: "text" };
import requestsPage from "../../docs/reference/requests.md" with { type: "text" };
import schemasPage from "../../docs/reference/schemas.md" with { type: "text" };
import searchPage from "../../docs/reference/search.md" with { type: "text" };
import settingsPage from "../../docs/reference/settings.md" with { type: "text" };
import sqlPage from "../../docs/reference/sql.md" with { type: "text" };
import agentPage from "../../docs/start/agent.md" with { type: "text" };
import firstAlertPage from "../../docs/start/first-alert.md" with { type: "text" };
import installPage from "../../docs/start/install.md" with { type: "text" };
import pythonPage from "../../docs/start/python.md" with { type: "text" };
import securityPage from "../../SECURITY.md" with { type: "text" };

/** One page of the manual. `path` is its place below docs/, without the extension; `text` is Markdown. */
type Topic = { name: string; path: string; title: string; text: string };

/** The page that lists all others by need. */
export const INDEX = "index";

const pages: Readonly<Record<string, string>> = {
  index: indexPage,
  "start/agent": agentPage,
  "start/first-alert": firstAlertPage,
  "start/install": installPage,
  "start/python": pythonPage,
  "guides/browse": browsePage,
  "guides/changes": changesPage,
  "guides/compression": compressionPage,
  "guides/feeds": feedsPage,
  "guides/find": findPage,
  "guides/import": importPage,
  "guides/keys": keysPage,
  "guides/mcp": mcpPage,
  "guides/members": membersPage,
  "guides/operate": operatePage,
  "guides/past": pastPage,
  "guides/personal-data": personalDataPage,
  "guides/postgres": postgresPage,
  "guides/pull": pullPage,
  "guides/quality": qualityPage,
  "guides/quotas": quotasPage,
  "guides/scale": scalePage,
  "guides/sync": syncPage,
  "guides/tls": tlsPage,
  "guides/up": upPage,
  "guides/watch": watchPage,
  "reference/commongrants": commongrantsPage,
  "reference/contract": contractPage,
  "reference/events": eventsPage,
  "reference/facts": factsPage,
  "reference/filters": filtersPage,
  "reference/formats": formatsPage,
  "reference/layouts": layoutsPage,
  "reference/licenses": licensesPage,
  "reference/metrics": metricsPage,
  "reference/requests": requestsPage,
  "reference/schemas": schemasPage,
  "reference/settings": settingsPage,
  "reference/search": searchPage,
  "reference/sql": sqlPage,
  "explanation/faults": faultsPage,
  "explanation/stability": stabilityPage,
  "../SECURITY": securityPage,
};

/** All topics. A name is that of the file, in lower case: `find` is docs/guides/find.md. */
export const topics: readonly Topic[] = Object.entries(pages).map(([path, text]) => ({
  name: (path.split("/").at(-1) ?? "").toLowerCase(),
  path,
  title: /^# (.*)$/m.exec(text)?.[1] ?? path,
  text,
}));

export function topicNamed(name: string): Topic | undefined {
  return topics.find((each) => each.name === name.toLowerCase());
}

/** A link of Markdown with its words, outside of code. Links to other hosts have a scheme. */
const LINK = /\[((?:[^\][`]|`[^`]*`)*)\]\(([^()\s]+)\)/g;
const CODE_BLOCK = /^( *```[\s\S]*?^ *```$)/m;

/**
 * The text with `linkTo` in place of each link to a topic, with its anchor (`#moments` or ""). Of a link to another file of the repository,
 * which the program does not have, the words stay.
 */
function withLinks({ path, text }: Topic, linkTo: (words: string, topic: Topic, anchor: string) => string): string {
  const parts = text.split(CODE_BLOCK).map((part, index) => {
    if (index % 2 === 1) return part;
    return part.replace(LINK, (link, words: string, target: string) => {
      if (/^\w+:/.test(target)) return link;
      const { pathname, hash } = new URL(target, `file:///docs/${path}`);
      const at = pathname
        .replace(/^\/docs\//, "")
        .replace(/^\/(?=SECURITY)/, "../")
        .replace(/\.md$/, "");
      const topic = target.startsWith("#") ? topics.find((each) => each.path === path) : topics.find((each) => each.path === at);
      return topic === undefined ? words : linkTo(words, topic, hash);
    });
  });
  return parts.join("");
}

/** A topic as HTML, without scripts and without HTML of its own. Each heading has an id, to which links of other pages lead. */
export function topicAsHtml(topic: Topic): string {
  const text = withLinks(topic, (words, { name }, anchor) => `[${words}](${name === topic.name ? "" : `/help/${name}`}${anchor})`);
  const html = Bun.markdown.html(text, { headings: { ids: true }, noHtmlBlocks: true, noHtmlSpans: true });
  return html.replaceAll("<pre>", '<pre tabindex="0">'); // A keyboard must reach what scrolls.
}

/** A topic for a terminal, or as plain text of that many columns. A link to another topic names it. */
export function topicAsText(topic: Topic, columns: number, hasColors: boolean): string {
  const text = withLinks(topic, (words, { name }) => (name === topic.name ? words : `${words} (help ${name})`));
  return Bun.markdown.ansi(text, { columns, colors: hasColors, hyperlinks: false });
}
