/** The page as it is sent: what must be readable without a script, and what it must never contain. */
import { describe, expect, test } from "bun:test";
import { HtmlValidate } from "html-validate/node";
import { openState } from "../../db/sqlite/open.ts";
import { listPlans } from "../../src/accounts/account.ts";
import { rules } from "../../src/changes/rules.ts";
import { eventTable } from "../../src/http/docs/guide.ts";
import { descriptionFiles } from "../../src/http/docs.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import { type ProblemCode, problems, problemType } from "../../src/http/problem.ts";
import { BASE_URL, testApi } from "../support/api.ts";

const described = descriptionFiles(BASE_URL)();
const api = await testApi({ files: described });
const text = async (path: string) => (await api.get(path, { key: null })).text();
const html = await text("/docs");
const files = [...described.keys()].filter((path) => path.startsWith("/docs/"));

describe("GET /docs", () => {
  test("may load only its own files and connect to nothing", async () => {
    const { status, headers } = await api.get("/docs", { key: null });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("cache-control")).toBe("public, max-age=3600");
    const again = await api.get("/docs", { key: null, headers: { "If-None-Match": headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
  });

  test("describes every problem at the address of its type, without a script", () => {
    for (const code of Object.keys(problems) as ProblemCode[]) {
      const [page, anchor] = problemType(BASE_URL, code).split("#");
      expect(page).toBe(`${BASE_URL}/docs`);
      expect(html).toContain(`<tr><td>${problems[code].status}</td><td><span id="${anchor}"><code>${code}</code></span></td>`);
      expect(html).toContain(problems[code].title);
    }
  });

  test("lists every operation, parameter and event rule, and links to the description", () => {
    for (const [path, { get }] of Object.entries(openapiDocument(BASE_URL).paths)) {
      const id = `operation-${get.operationId}`;
      expect(html).toContain(`<h3 id="${id}"><a href="#${id}"><code>GET</code> ${path}</a></h3>`);
      for (const parameter of get.parameters)
        if (parameter.in !== "header") expect(html).toContain(`<td><code>${parameter.name}</code></td><td>`);
    }
    for (const { type, severity, when } of rules)
      expect(html).toMatch(new RegExp(`<code>${type}</code></td><td>${severity}</td><td>.*</td><td>${when}</td>`));
    expect(html).toContain('href="openapi.json"');
  });

  test("shows samples and an example of each operation that returns JSON, and the type of each field of each object", () => {
    const { paths, components } = openapiDocument(BASE_URL);
    for (const { get } of Object.values(paths))
      for (const { label, source } of get["x-codeSamples"]) {
        const sample = `<figure data-language="${label}">`;
        expect(html).toContain(sample);
        expect(html.replace(/<\/?span[^>]*>/g, "")).toContain(Bun.escapeHTML(source));
      }
    expect(html.match(/<details class="example">/g)).toHaveLength(5);
    expect(html).toContain('<tr><td><code>contacts</code></td><td>list of <a href="#object-Contact">Contact</a></td>');
    expect(html).toContain("<tr><td><code>updated_at</code></td><td>date-time</td>");
    for (const name of Object.keys(components.schemas)) expect(html).toContain(`<h3 id="object-${name}">`);
  });

  test("has an element for every anchor that it links to, and each id once", () => {
    const ids = html
      .matchAll(/ id="([^"]+)"/g)
      .map(([, id]) => id)
      .toArray();
    expect(ids.length).toBe(new Set(ids).size);
    for (const [, anchor = ""] of html.matchAll(/ href="#([^"]+)"/g)) expect(ids).toContain(anchor);
    expect(html).not.toMatch(/\{\{|\{#|<!--/);
  });

  test("is valid HTML", async () => {
    const validator = new HtmlValidate({ root: true, extends: ["html-validate:standard", "html-validate:a11y"] });
    const { results } = await validator.validateString(html);
    expect(results.flatMap(({ messages }) => messages.map(({ ruleId, selector }) => [ruleId, selector]))).toEqual([]);
  });

  test("never asks for a key, has no inline script and loads nothing from other hosts", () => {
    expect(html).not.toMatch(/<(input|form|textarea|iframe|object|base)\b/);
    expect(html).not.toMatch(/<script(?![^>]* src="docs\/)/);
    expect(html).not.toMatch(/ on\w+=/);
    for (const [, address = ""] of html.matchAll(/<(?:script|link|img)\b[^>]*? (?:src|href)="([^"]*)"/g)) {
      expect(address).toMatch(/^(docs\/[\w.-]+|data:image\/svg\+xml,.*)$/);
    }
  });

  test("names the plans of a new installation", async () => {
    for (const { name, daily, per_minute } of await listPlans(openState(":memory:", 0))) {
      const cells = [daily, per_minute].map((quota) => `<td class="right">${quota.toLocaleString("en-US")}</td>`);
      expect(html).toContain(`<td><code>${name}</code></td>${cells.join("")}`);
    }
  });
});

describe("the files of the page", () => {
  test.each(files)("%s is compressed and may be cached forever", async (path) => {
    const { status, headers } = await api.get(path, { key: null });
    expect(status).toBe(200);
    expect(path).toMatch(/^\/docs\/\w+-[0-9a-f]{12}\.(js|css)$/);
    expect(headers.get("content-encoding")).toBe("gzip");
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(html).toContain(path.slice(1));
  });
});

test("docs/reference/events.md contains the current rules", async () => {
  const page = await Bun.file(new URL("../../docs/reference/events.md", import.meta.url)).text();
  expect(page.replace(/ {2,}/g, " ").replace(/-{3,}/g, "---")).toContain(eventTable());
});

test("GET /openapi.json is the description for the public base address", async () => {
  const response = await api.get("/openapi.json", { key: null });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapiDocument(BASE_URL))));
});

test("descriptionFiles() builds the files once", () => {
  const built = descriptionFiles(BASE_URL);
  expect(built()).toBe(built());
});
