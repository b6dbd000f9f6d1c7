/** The manual in the program: what `fundfeed help` prints and `/help` shows is what docs/ says. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { topicAsHtml, topicAsText, topicNamed, topics } from "../../src/manual/topics.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { dropScratch } from "../support/imports.ts";
import { projectFiles, readText } from "../support/project-files.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test("has every page for users, and each under one name", () => {
  const pages = projectFiles(/^(docs\/(index|(start|guides|reference|explanation)\/.*)|SECURITY)\.md$/);
  const own = topics.map(({ path }) => (path.startsWith("../") ? `${path.slice(3)}.md` : `docs/${path}.md`));
  expect(own.sort()).toEqual(pages.sort());
  expect(new Set(topics.map(({ name }) => name)).size).toBe(topics.length);
  for (const { path, text } of topics) expect(readText(`docs/${path}.md`)).toBe(text);
});

test("has every topic that the program names, in place of files of the repository", () => {
  let named = 0;
  for (const path of projectFiles(/^(src|db)\/.*\.tsx?$/).filter((each) => each !== "src/manual/topics.ts")) {
    const code = readText(path).replace(/^\s*(\/\*\*|\*|\/\/).*$|\s\/\/ .*$/gm, "");
    expect([path, code.match(/docs\/[\w/-]+\.md/g)]).toEqual([path, null]);
    for (const [, name = ""] of code.matchAll(/(?:fundfeed help |\/help\/)([a-z-]+)/g)) {
      if (name !== "topics") expect([path, topicNamed(name)?.name]).toEqual([path, name]);
      named++;
    }
  }
  expect(named).toBeGreaterThan(10);
});

test("as HTML has links to pages and headings that exist, no other relative ones, and no HTML of its own", () => {
  const idsOf = new Map(topics.map((topic) => [topic.name, [...topicAsHtml(topic).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)]));
  let links = 0;
  for (const topic of topics) {
    const html = topicAsHtml(topic);
    expect([topic.name, html]).toEqual([
      topic.name,
      expect.not.stringMatching(/<(?!\/?(h[1-6]|p|a|ul|ol|li|table|thead|tbody|tr|t[hd]|pre|code|em|strong|br|hr|blockquote)\b)/),
    ]);
    for (const [, href = ""] of html.matchAll(/ href="([^"]*)"/g)) {
      if (/^(https?|mailto):/.test(href)) continue;
      const [, name = topic.name, id] = /^(?:\/help\/([\w-]+))?(?:#(.*))?$/.exec(href) ?? [];
      expect([topic.name, href, idsOf.has(name) && (id === undefined || idsOf.get(name)?.includes(id))]).toEqual([topic.name, href, true]);
      links++;
    }
  }
  expect(links).toBeGreaterThan(100);
});

test("as text fits 80 columns, but for what is to be typed", () => {
  for (const topic of topics) {
    const long = topicAsText(topic, 80, false)
      .split("\n")
      .filter((line) => Bun.stringWidth(line) > 80 && !/^\s*\||^\S+$|https?:/.test(line));
    expect([topic.name, long]).toEqual([topic.name, []]);
  }
});

describe("fundfeed help", () => {
  test("prints a topic, and names those that its links lead to", async () => {
    const { code, out, err } = await fundfeed(["help", "feeds"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toStartWith("Searches for other programs\n====");
    expect(out).toContain("(help find)");
  });

  test("lists the topics, and has them as JSON", async () => {
    expect((await fundfeed(["help", "topics"])).out).toContain("(help watch)");
    const { topics: listed } = JSON.parse((await fundfeed(["help", "topics", "--json"])).out);
    expect(listed).toContainEqual({ name: "watch", title: "Watch for changes" });
  });

  test("has the help of a command that is no topic, and refuses what is neither", async () => {
    expect((await fundfeed(["help", "watch", "add"])).out).toBe((await fundfeed(["watch", "add", "--help"])).out);
    const refused = await fundfeed(["help", "nothing"]);
    expect([refused.code, refused.out]).toEqual([2, ""]);
    expect(refused.err).toStartWith('error: no topic or command "nothing"; fundfeed help topics lists the topics');
  });
});

describe("/help", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await browsed(await aDirectoryOfTheDemo());
  });
  afterAll(() => site.stop());

  test("lists the topics, and each is a page", async () => {
    expect(await (await fetch(`${site.origin}/help`)).text()).toContain('<a href="/help/find">');
    for (const { name, title } of topics) {
      const response = await fetch(`${site.origin}/help/${name}`);
      expect([name, response.status, await response.text()]).toEqual([name, 200, expect.stringContaining("<h1 id=")]);
      expect(title).not.toBe("");
    }
  });

  test("has no page that the manual does not have", async () => {
    const response = await fetch(`${site.origin}/help/none`);
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("The manual has no such page")]);
  });
});
