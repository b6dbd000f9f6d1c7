/** The description is valid for other tools, complete, and locked by a snapshot. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { oas } from "@stoplight/spectral-rulesets";
import { type DescribedOperation, openapiDocument } from "../../src/http/openapi.ts";
import { problems } from "../../src/http/problem.ts";
import { routes } from "../../src/http/routes.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { sixtyApi, U } from "../support/sixty.ts";

afterAll(dropScratch);

const BASE = "https://fundfeed.test/v1";
const text = JSON.stringify(openapiDocument(BASE), null, 2);
const document = JSON.parse(text);
const api = await sixtyApi();
const operations = Object.entries<{ get: DescribedOperation }>(document.paths).map(([path, { get }]) => [path, get] as const);

/** OWASP's rules that contradict the contract, or that need limits which the upstreams do not have. */
const switchedOff = {
  "owasp:api8:2023-define-cors-origin": "Keys do not belong in browsers: no Access-Control header is ever sent (D-4).",
  "owasp:api2:2023-read-restricted": "/meta, /openapi.json and /docs need no key.",
  "owasp:api8:2023-define-error-responses-401": "For the same paths: they never return 401. All others describe it.",
  "owasp:api4:2023-rate-limit-responses-429": "For the same paths: they are not counted. All others describe it.",
  "owasp:api8:2023-define-error-validation": "For the same paths: they ignore parameters (D-6).",
  "owasp:api4:2023-rate-limit": "Only a response to a valid key has RateLimit headers (D-19).",
  "owasp:api4:2023-string-limit": "Texts come from the upstreams. The head of a request is limited to 16 KiB.",
  "owasp:api4:2023-string-restricted": "Free text has no format.",
  "owasp:api4:2023-array-limit": "Arrays come from the upstreams. `limit` limits a page.",
  "owasp:api4:2023-integer-limit": "`limit` limits `count`.",
};

describe("the description", () => {
  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("passes Redocly's lint without a warning", async () => {
    const directory = aDirectory();
    await Bun.write(join(directory, "openapi.json"), text);
    const redocly = join(import.meta.dir, "../../node_modules/@redocly/cli/bin/cli.js");
    const lint = Bun.spawn([process.execPath, redocly, "lint", "openapi.json", "--format=json"], {
      cwd: directory,
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      stderr: "pipe",
    });
    const report = JSON.parse(await lint.stdout.text());
    expect(report.problems).toEqual([]);
    expect(report.totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
    expect(await lint.exited).toBe(0);
  }, 300_000);

  test("passes Spectral's and OWASP's rules, except for those switched off with a reason", async () => {
    const spectral = new Spectral();
    const off = Object.fromEntries(Object.keys(switchedOff).map((rule) => [rule, "off" as const]));
    spectral.setRuleset({ extends: [oas, [owasp, "all"]], rules: off } as RulesetDefinition);
    const findings = await spectral.run(document);
    expect(findings.map(({ code, message, path }) => `${code}: ${message} (${path.join(".")})`)).toEqual([]);
  }, 300_000);

  test("contains every route, except the files of the page", () => {
    const documented = routes.routes.filter(({ hooks }) => hooks.detail?.hide !== true);
    expect(Object.keys(document.paths)).toEqual(documented.map(({ path }) => path.replace(/:(\w+)/g, "{$1}")));
    expect(documented).toHaveLength(7);
  });

  test.each(operations)("has the actual parameters and problems of %s", async (path, operation) => {
    const { summary, security, parameters, responses, "x-codeSamples": samples } = operation;
    expect(summary).not.toBeEmpty();
    expect(samples.map(({ label }) => label)).toEqual(["curl", "TypeScript", "Python", "Go"]);
    const statuses = Object.keys(responses).map(Number);
    expect(statuses).toEqual(expect.arrayContaining([200, 405, 500]));

    const response = await api.get(`${path.replace("{id}", U)}?unknown=1`);
    expect(statuses).toContain(response.status);
    expect(response.status === 200).toBe(security !== undefined);
    if (response.status === 200) return; // It ignores parameters.
    const { errors } = (await response.json()) as { errors: object[] };
    const names = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
    const reason = names.length === 0 ? "must be left out: this operation takes no query parameters" : `must be one of ${names.join(", ")}`;
    expect(errors).toEqual([{ field: "unknown", reason }]);
    expect(statuses).toEqual(expect.arrayContaining([400, 401, 403, 429, 503]));
    expect(statuses.includes(404)).toBe(path.includes("{id}"));
  });

  test("describes every problem", () => {
    for (const code of Object.keys(problems)) expect(document.info.description).toContain(`\`${code}\``);
  });

  test("uses the public base address everywhere, and allows no additional properties", () => {
    expect(document.servers).toMatchObject([{ url: BASE }]);
    expect(text).not.toContain("api.example.com");
    for (const [name, schema] of Object.entries<{ type: string; additionalProperties: boolean }>(document.components.schemas)) {
      expect({ name, ...schema }).toMatchObject({ name, type: "object", additionalProperties: false });
    }
  });

  test("is locked by a snapshot, because a change of it is a change of the interface", () => {
    expect(text).toMatchSnapshot();
  });
});
