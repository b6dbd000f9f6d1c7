/** The description is valid for other tools, complete, and locked by a snapshot. */
import { afterAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type DescribedOperation, openapiDocument } from "../../src/http/openapi.ts";
import { problems } from "../../src/http/problem.ts";
import { routes } from "../../src/http/routes.ts";
import { dropScratch } from "../support/imports.ts";
import { sixtyApi, U } from "../support/sixty.ts";

afterAll(dropScratch);

const BASE = "https://fundfeed.test/v1";
const text = JSON.stringify(openapiDocument(BASE), null, 2);
const document = JSON.parse(text);
const api = await sixtyApi();
const operations = Object.entries<{ get: DescribedOperation }>(document.paths).map(([path, { get }]) => [path, get] as const);

describe("the description", () => {
  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(validator.version).toBe("3.1");
  });

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

  test("is locked by a snapshot but for its prose and examples, because a change of it is a change of the interface", () => {
    expect(interfaceLines().join("\n")).toMatchSnapshot();
  });
});

/** One line for each parameter, response, header and member. */
function interfaceLines(): string[] {
  const { securitySchemes, schemas, headers, responses } = document.components;
  return [
    ...operations.flatMap(([path, operation]) => [
      `${operation.operationId} ${path} ${JSON.stringify(operation.security)}`,
      ...operation.parameters.map(({ in: place, name, ...rest }) => `  ${place} ${name} ${withoutProse(rest)}`),
      ...linesOf(operation.responses, responseLine),
    ]),
    ...linesOf(responses, responseLine),
    ...linesOf({ ...headers, ...securitySchemes }, withoutProse),
    ...Object.entries<{ required: string[]; properties: object }>(schemas).flatMap(([name, { required, properties }]) => [
      `${name} requires ${required.join(" ")}`,
      ...linesOf(properties, withoutProse),
    ]),
  ];
}

function linesOf(parts: object, line: (part: object) => string): string[] {
  return Object.entries(parts).map(([name, part]) => `  ${name} ${line(part)}`);
}

function responseLine({ $ref, headers, content }: { $ref?: string; headers?: object; content?: object }): string {
  return $ref ?? `${Object.keys(headers ?? {}).join(" ")} ${withoutProse(content ?? {})}`;
}

function withoutProse(part: object): string {
  return JSON.stringify(part, (key, value) => (/^(description|examples?)$/.test(key) ? undefined : value));
}
