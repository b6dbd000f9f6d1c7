/** The page at `/docs`: the guide and the operations, as plain HTML that needs no script. */
import type { ApiDescription, DescribedOperation, DescribedParameter, DescribedSchema } from "../openapi.ts";
import { problemAnchor } from "../problem.ts";
import { type GuideSection, guideSections } from "./guide.ts";

type Frame = { style: string; script: string; hasPages: boolean };

export function docsPage(document: ApiDescription, { style, script, hasPages }: Frame): string {
  const [{ url: baseUrl }] = document.servers;
  const operations = Object.entries(document.paths).map(([path, { get }]) => operationEntry(document, path, get));
  const objects = Object.entries(document.components.schemas).map(([name, schema]) => objectEntry(name, schema));
  const sections = [
    ...guideSections(baseUrl),
    { id: "operations", title: "Operations", markdown: operations.join("\n\n") },
    { id: "objects", title: "Objects", markdown: objects.join("\n\n") },
  ];
  const base = Bun.escapeHTML(baseUrl);
  const relative = (path: string) => path.slice(1); // The page itself is at `docs`.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>fundfeed API</title>
<meta name="description" content="US federal funding opportunities with their history: guide and reference of the API.">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${relative(style)}">
<script defer src="${relative(script)}"></script>
</head>
<body>
<a class="skip" href="#overview">Skip to the guide</a>
<header class="bar">
<a class="brand" href="#"><img src="${ICON}" alt="" width="24" height="24">fundfeed <small>API v1</small></a>
<nav aria-label="Documents">
<a href="#overview">Guide</a>
<a href="#operations">Operations</a>
<a href="openapi.json">OpenAPI</a>${hasPages ? '\n<a href="../">Pages</a>\n<a href="../help">Help</a>' : ""}
</nav>
</header>
<div id="guide">
<nav class="sections" aria-label="Sections">
<details open><summary>On this page</summary>
<ol>
${sections.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join("\n")}
</ol>
</details>
</nav>
<main class="prose">
<div class="hero">
<h1>Federal funding opportunities, with their history</h1>
<p>Grants, contracts and topics that US federal sources publish, in one model, with the history of what changed in each. Read-only JSON over HTTP.</p>
<dl><div><dt>Base address</dt><dd><code>${base}</code></dd></div><div><dt>Description</dt><dd><a href="openapi.json">OpenAPI 3.1</a></dd></div></dl>
</div>
${sections.map(sectionHtml).join("\n")}
</main>
</div>
</body>
</html>
`;
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0d7a68"/><path d="M7 22l6-7 5 4 7-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="25" cy="9" r="3" fill="#ffd166"/></svg>',
)}`;

function sectionHtml({ id, title, markdown }: GuideSection): string {
  return `<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title"><a href="#${id}">${title}</a></h2>
${markdownHtml(markdown)}
</section>`;
}

function markdownHtml(markdown: string): string {
  const groups: string[] = [];
  const withoutSamples = markdown.replace(/(?:^```\w+.*\n[\s\S]*?\n```$\n?)+/gm, (run) => {
    groups.push(
      `<div class="samples">${run
        .matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)\n```$/gm)
        .map(sampleHtml)
        .toArray()
        .join("")}</div>`,
    );
    return `\n<!--samples ${groups.length - 1}-->\n\n`;
  });
  return Bun.markdown
    .html(withoutSamples)
    .replace(/<!--samples (\d+)-->/g, (_, index: string) => groups[Number(index)] ?? "")
    .replace(/(<t[hd]) align="right">/g, '$1 class="right">')
    .replace(/<h3>(.*?) \{#([\w-]+)\}<\/h3>/g, '<h3 id="$2"><a href="#$2">$1</a></h3>')
    .replaceAll("<table>", '<div class="table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
}

function sampleHtml([, language = "", label = "", source = ""]: RegExpExecArray): string {
  const name = label || language;
  return `<figure data-language="${name}"><figcaption>${name}</figcaption><pre tabindex="0"><code>${Bun.escapeHTML(source)}</code></pre></figure>`;
}

function operationEntry(document: ApiDescription, path: string, operation: DescribedOperation): string {
  const { operationId, summary, description, security, parameters, responses } = operation;
  return [
    `### \`GET\` ${path} {#operation-${operationId}}`,
    `${summary}. ${description}`,
    parameterTable(parameters.filter((parameter) => parameter.in !== "header")),
    `${security === undefined ? "Needs a key." : "Needs no key."} Refused with ${problemLinks(document, operation)}.`,
    operation["x-codeSamples"].map(({ label, source }) => `\`\`\`code ${label}\n${source}\n\`\`\``).join("\n"),
    exampleResponse(responses[200]),
  ].join("\n\n");
}

function exampleResponse(response: DescribedOperation["responses"][string] | undefined): string {
  const json = response !== undefined && "content" in response ? response.content?.["application/json"] : undefined;
  if (json?.schema?.$ref === undefined) return "";
  const name = nameOf(json.schema.$ref);
  const example = Bun.escapeHTML(JSON.stringify(json.example, null, 2));
  return `Returns [${name}](#object-${name}).\n\n<details class="example"><summary>An example</summary><pre tabindex="0"><code>${example.replaceAll("\n", "&#10;")}</code></pre></details>`;
}

function objectEntry(name: string, { properties }: DescribedSchema): string {
  const rows = Object.entries(properties ?? {}).map(
    ([field, schema]) => `| \`${field}\` | ${typeOf(schema)} | ${schema.description ?? ""} |`,
  );
  return [`### ${name} {#object-${name}}`, ["| Field | Type | Meaning |", "|---|---|---|", ...rows].join("\n")].join("\n\n");
}

function typeOf(schema: DescribedSchema): string {
  if (schema.$ref !== undefined) return `[${nameOf(schema.$ref)}](#object-${nameOf(schema.$ref)})`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.type === undefined) return "any JSON value";
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  return types
    .map((type) => (type === "array" ? `list of ${typeOf(schema.items ?? {})}` : type === "string" ? (schema.format ?? type) : type))
    .join(" or ");
}

function nameOf(reference: string): string {
  return reference.replace(/^.*\//, "");
}

function parameterTable(parameters: readonly DescribedParameter[]): string {
  const rows = parameters.map(({ name, description, schema: { items, default: fallback } }) => {
    const values = items?.enum === undefined ? "" : ` Values: ${items.enum.map((value) => `\`${value}\``).join(", ")}.`;
    return `| \`${name}\` | ${description}${values}${fallback === undefined ? "" : ` Default: \`${fallback}\`.`} |`;
  });
  return rows.length === 0 ? "" : ["| Parameter | Meaning |", "|---|---|", ...rows].join("\n");
}

function problemLinks({ components }: ApiDescription, { responses }: DescribedOperation): string {
  return Object.entries(responses)
    .flatMap(([status, response]) => {
      const resolved = "$ref" in response ? components.responses[nameOf(response.$ref)] : response;
      const codes = Object.keys(resolved?.content?.["application/problem+json"]?.examples ?? {});
      return codes.map((code) => `[${status} \`${code}\`](#${problemAnchor(code)})`);
    })
    .join(", ");
}
