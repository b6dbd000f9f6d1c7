/** The manual: the pages of docs/ that match this version of the program, for `fundfeed help` and `/help`. */
import { readPages } from "./pages.ts" with { type: "macro" };

type Topic = { name: string; path: string; title: string; text: string };

export const INDEX = "index";

/** All topics. A name is that of the file, in lower case: `find` is docs/guides/find.md. */
export const topics: readonly Topic[] = Object.entries(readPages()).map(([path, text]) => ({
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

/** The text with `linkTo` in place of each link to a topic. Of a link to another file of the repository, the words stay. */
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
