/** Random requests from the description, valid and not. `FUZZ=20000 bun test fuzz` sends more of them; `SEED` repeats a run. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { openapiDocument } from "../../src/http/openapi.ts";
import { type ProblemCode, problems } from "../../src/http/problem.ts";
import { BASE_URL } from "../support/api.ts";
import { onPostgres } from "../support/database-locations.ts";
import { expectProblem } from "../support/problem.ts";
import { sixtyApi, U, WITHOUT_EVENTS } from "../support/sixty.ts";

const RUNS = Number(process.env.FUZZ ?? (onPostgres ? 300 : 900));
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const settings = { numRuns: Math.ceil(RUNS / 2), seed: SEED, endOnFailure: true };

type Schema = {
  type: string;
  format?: string;
  enum?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
};
type Parameter = { name: string; in: "query" | "path" | "header"; schema: Schema };
type Operation = { operationId: string; parameters: Parameter[] };
type Pair = [name: string, value: string];

const { paths } = JSON.parse(JSON.stringify(openapiDocument(BASE_URL))) as { paths: Record<string, { get: Operation }> };
const operations = Object.entries(paths).map(([path, { get }]) => ({ path, ...get }));
const api = await sixtyApi();

/** Texts, percent-encoded for a query. */
const encoded = (values: fc.Arbitrary<string>) => values.map(encodeURIComponent);
const word = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => text.isWellFormed() && text.trim() !== "" && !/[\p{Cc}\uFFFD,]/u.test(text));
const id = fc.oneof(fc.constantFrom(U, WITHOUT_EVENTS, U.toUpperCase()), fc.uuid());
const moment = fc
  .record({
    ms: fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2100, 0) }),
    offset: fc.constantFrom("Z", "z", "+00:00", "-05:00", "+14:00"),
  })
  .map(({ ms, offset }) => new Date(ms).toISOString().replace("Z", offset));

/** Values that the schema of a parameter allows, percent-encoded. */
function allowed({ type, format, enum: values, items, minimum = 0, maximum = 0 }: Schema): fc.Arbitrary<string> {
  if (items !== undefined) return fc.array(allowed(items), { minLength: 1, maxLength: 8 }).map((texts) => texts.join(","));
  if (values !== undefined) return fc.constantFrom(...values);
  if (type === "boolean") return fc.boolean().map(String);
  if (type === "integer") return fc.integer({ min: minimum, max: maximum }).map(String);
  if (format === "date-time") return encoded(moment);
  return format === "uuid" ? id : encoded(word);
}

const junk = fc.oneof(
  fc.constantFrom(
    "",
    "%00",
    "%ff",
    "%zz",
    "%",
    "+",
    ",",
    "null",
    "0",
    "-1",
    "1e1",
    "025",
    "2026-02-30T00:00:00Z",
    "2026-01-01",
    "%20",
    "a%0Ab",
    "a".repeat(2000),
  ),
  encoded(fc.string({ unit: "binary", maxLength: 300 }).filter((text) => text.isWellFormed())),
  fc.string({ maxLength: 100 }),
);
const junkName = fc.oneof(fc.constantFrom("q", "sort", "order", "Limit", "limit[]", "__proto__", "constructor", "%ff", ""), encoded(word));

function requestTo(path: string, parameters: fc.Arbitrary<{ pairs: Pair[]; segment: string; headers: Record<string, string> }>) {
  return parameters.map(({ pairs, segment, headers }) => {
    const query = pairs.map(([name, value]) => `${name}=${value}`).join("&");
    return { path: path.replace("{id}", segment) + (query === "" ? "" : `?${query}`), headers };
  });
}

/** Operations with more parameters are requested more often. */
function weighted<T>({ length }: readonly Parameter[], arbitrary: fc.Arbitrary<T>) {
  return { weight: 1 + length * 4, arbitrary };
}

const conditions = fc.record(
  {
    "If-None-Match": fc.oneof(
      fc.constantFrom("*", `W/"${U}.1767225600000"`, '"', ",,"),
      word.filter((text) => /^[\x21-\x7e]*$/.test(text)),
    ),
    "If-Modified-Since": fc.constantFrom("Thu, 01 Jan 2026 00:00:00 GMT", "yesterday"),
  },
  { requiredKeys: [] },
);

/** Valid values for a random choice of parameters. Cursors come from previous pages. */
const valid = fc.oneof(
  ...operations.map(({ path, parameters }) => {
    const query = parameters.filter((parameter) => parameter.in === "query" && parameter.name !== "cursor");
    const pairs = fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, allowed(schema)])), { requiredKeys: [] });
    return weighted(
      parameters,
      requestTo(path, fc.record({ pairs: pairs.map((values) => Object.entries(values) as Pair[]), segment: id, headers: conditions })),
    );
  }),
);

/** Known and unknown names with any values, repeated or not. */
const any = fc.oneof(
  ...operations.map(({ path, parameters }) => {
    const known = parameters
      .filter((parameter) => parameter.in === "query")
      .map(({ name, schema }) => fc.tuple(fc.constant(name), fc.oneof(allowed(schema), junk)));
    const pair = fc.oneof(
      { weight: 8, arbitrary: fc.oneof(fc.tuple(fc.constant("limit"), junk), ...known) },
      { weight: 1, arbitrary: fc.tuple(junkName, junk) },
    );
    const segment = fc.oneof(
      id,
      junk.map((text) => text.replace(/[/?#\\]/g, "-")),
    );
    return weighted(parameters, requestTo(path, fc.record({ pairs: fc.array(pair, { maxLength: 5 }), segment, headers: conditions })));
  }),
);

test(`a described request returns 200, 304 or 404, and so does its next page (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(valid, async ({ path, headers }) => {
      const response = await api.get(path, { headers }); // The test API checks each response against the description.
      const needsOneSource = /[?&]source_opportunity_id=/.test(path);
      if (response.status === 400 && needsOneSource)
        return void (await expectProblem(response, { code: "invalid_parameter", fields: ["source_opportunity_id"] }));
      expect([200, 304, 404]).toContain(response.status);
      if (response.status === 404) await expectProblem(response, { code: "not_found" });
      if (response.status !== 200 || !/^\/opp/.test(path)) return;
      const { meta } = (await response.json()) as { meta: { has_more?: boolean; next_cursor?: string } };
      if (meta.has_more) expect((await api.get(`${path}${path.includes("?") ? "&" : "?"}cursor=${meta.next_cursor}`)).status).toBe(200);
    }),
    settings,
  );
  expect(api.failures).toEqual([]);
}, 600_000);

test(`any request has a described response, never 5xx, and each 4xx is a complete problem (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(any, async ({ path, headers }) => {
      const response = await api.get(path, { headers });
      expect(response.status).toBeLessThan(500);
      if (response.status < 400) return;
      const { code } = (await response.clone().json()) as { code: ProblemCode };
      expect(problems).toHaveProperty(code);
      await expectProblem(response, { code });
    }),
    settings,
  );
  expect(api.failures).toEqual([]);
}, 600_000);
