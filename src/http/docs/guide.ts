/** The guide: Markdown, filled in with the tables that the service itself uses. */
import { type Rule, rules } from "../../changes/rules.ts";
import { programTypes, statuses } from "../../opportunities/opportunity.ts";
import { LIST_ITEMS_MAX } from "../parameter-kinds.ts";
import { type ProblemCode, problemAnchor, problems } from "../problem.ts";
import { API_VERSION } from "../respond.ts";
import { exampleRecord } from "./examples.ts";
import text from "./guide.md" with { type: "text" };

export type GuideSection = { id: string; title: string; markdown: string };

/** The sections of the guide, one for each `## Title {#id}`. Without an id, it is the title in lower case. */
export function guideSections(baseUrl: string): GuideSection[] {
  const { id, updated_at } = exampleRecord;
  const values: Readonly<Record<string, string>> = {
    base_url: baseUrl,
    id,
    etag: `W/"${id}.${Date.parse(updated_at)}"`,
    statuses: codes(statuses),
    program_types: codes(programTypes),
    events: eventTable(),
    problems: problemTable(),
    list_items_max: String(LIST_ITEMS_MAX),
    version: API_VERSION,
  };
  const filled = text.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
  return filled
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [, title = "", id = title.toLowerCase(), markdown = ""] = /^(.+?)(?: \{#(\w+)\})?\n([\s\S]*)$/.exec(section) ?? [];
      return { id, title, markdown: markdown.trim() };
    });
}

/** The guide as one text for the description: with curl samples only, and with links to the page. */
export function guideText(baseUrl: string): string {
  return guideSections(baseUrl)
    .map(({ title, markdown }) => `## ${title}\n\n${markdown}`)
    .join("\n\n")
    .replace(/^```(?!sh|http)\w+ [\s\S]*?^```\n/gm, "")
    .replace(/^```sh curl$/gm, "```sh")
    .replace(/<\/?span[^>]*>/g, "")
    .replaceAll("](#", `](${baseUrl}/docs#`);
}

/** The table of event rules, in Markdown. */
export function eventTable(): string {
  return table(["Type", "Severity", "Fields", "When"], rules.map(eventRow));
}

function eventRow({ type, severity, fields, when }: Rule): string[] {
  const names = fields.length === 0 ? "–" : fields.includes("*") ? "any" : codes(fields);
  return [codes([type]), severity, names, when];
}

/** The table of problems. Each code is in an element to which the `type` of the problem links (D-22). */
function problemTable(): string {
  const rows = (Object.keys(problems) as ProblemCode[]).map((code) => {
    const { status, title, description } = problems[code];
    return [String(status), `<span id="${problemAnchor(code)}">${codes([code])}</span>`, `**${title}.** ${description}`];
  });
  return table(["Status", "Code", "Meaning"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function codes(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
