/** @jsxImportSource hono/jsx */
/** The manual, as `fundfeed help` prints it: the index of topics, and one topic. */
import { INDEX, topicAsHtml, topicNamed } from "../manual/topics.ts";
import type { BrowsePage } from "./page.ts";

/** The page of a topic, or undefined if there is none of that name. */
export function helpPage(name = INDEX): BrowsePage | undefined {
  const topic = topicNamed(name);
  if (topic === undefined) return undefined;
  const isIndex = topic.name === INDEX;
  return {
    title: isIndex ? "Help" : topic.title,
    description: `The manual of this version of fundfeed: ${topic.title}.`,
    body: (
      <>
        {!isIndex && (
          <p class="back">
            <a href="/help">Help</a>
          </p>
        )}
        <div class="manual" dangerouslySetInnerHTML={{ __html: topicAsHtml(topic) }} />
      </>
    ),
  };
}
