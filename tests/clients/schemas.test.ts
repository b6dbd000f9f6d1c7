/** The types of the clients are those of the description. `WRITE=1 bun test tests/clients/schemas` writes them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { type ApiDescription, openapiDocument } from "../../src/http/openapi.ts";
import { problems } from "../../src/http/problem.ts";

const FILE = join(import.meta.dir, "../../clients/typescript/src/schemas.ts");
const HEAD = `/** The bodies, queries and problem codes of the API, as its description has them. Written by a test of this repository. */
// biome-ignore-all format: the same.
`;

type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};

test("the TypeScript client has the types of the description", async () => {
  const types = HEAD + declarations(openapiDocument("https://api.example.org/v1"));
  if (process.env.WRITE === "1") await Bun.write(FILE, types);
  else expect(await Bun.file(FILE).text()).toBe(types);
});

function declarations({ components, paths }: ApiDescription): string {
  const bodies = Object.entries(components.schemas).map(([name, schema]) => `\nexport type ${name} = ${typeOf(schema, "")};\n`);
  const queries = Object.values(paths).flatMap(({ get: { operationId, parameters } }) => {
    const query = parameters.filter((parameter) => parameter.in === "query");
    if (query.length === 0) return [];
    const members = query.map(({ name, description, schema }) => {
      const type = `${schema.type === "array" ? "readonly " : ""}${typeOf(schema, "  ")}`;
      return `${comment(description, "  ")}  ${name}?: ${type} | undefined;\n`;
    });
    return [`\nexport type ${operationId.replace(/^./, (letter) => letter.toUpperCase())}Query = {\n${members.join("")}};\n`];
  });
  const codes = Object.entries(problems).map(([code, { description }]) => `${comment(description, "  ")}  | ${JSON.stringify(code)}\n`);
  return `${bodies.join("")}${queries.join("")}\nexport type ProblemCode =\n${codes.join("").trimEnd()};\n`;
}

/** The TypeScript type of a schema. `indent` is that of the line on which it begins. */
function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each, indent)).join(" | ");
  if (schema.properties !== undefined) return objectType(schema, indent);
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  if (schema.items !== undefined) return `(${typeOf(schema.items, indent)})[]`.replace(/^\((\w+)\)/, "$1");
  return schema.type === undefined ? "unknown" : schema.type === "integer" ? "number" : schema.type;
}

function objectType({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, each]) => `${comment(each.description, inner)}${inner}${name}${required.includes(name) ? "" : "?"}: ${typeOf(each, inner)};\n`,
  );
  return `{\n${members.join("")}${indent}}`;
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? "" : `${indent}/** ${text} */\n`;
}
