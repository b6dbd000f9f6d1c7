/** Makes `release/shapes.json` from the excerpts of real files: `bun tests/support/known-shapes.ts`. A test compares the two. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSample } from "../../release/probe.ts";
import { type KnownShape, knownShape } from "../../release/shape.ts";
import { type Upstream, upstreams } from "../../src/pull/upstreams.ts";
import { isObject, type JsonObject } from "../../src/text/json-value.ts";
import { bytesOf, realInput } from "./read-format.ts";
import { EXCERPTS, realFile } from "./real-data.ts";

/** Files of each upstream that are as it publishes them. */
const files: Readonly<Record<string, readonly string[]>> = {
  "grants-gov": ["grants-gov/derived/*.xml*"],
  "grants-gov-search": ["grants-gov/search2-sample-202607.json", "grants-gov/derived/search2-*.json*"],
  "grants-gov-details": ["grants-gov/opportunity-details-*.json"],
  "simpler-grants-gov": ["simpler-api/derived/*.json*"],
  "sam-gov": ["sam-gov/derived/*.csv*"],
  "sam-gov-api": ["sam-gov/v2-search-*.json"],
  "sbir-gov": ["sbir-gov/solicitations-*"],
  dsip: ["dod-dsip/raw_api_search_*.json"],
  darpa: ["darpa/opportunity-*.json"],
  "nasa-nspires": ["nasa-nspires/solicitationsJSON-*.json"],
  "nasa-roses": ["nasa-roses/*.html"],
};

/** Responses that are a part of the upstream's records. */
const parts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dsip: { details: "dod-dsip/raw_api_details_response.json", questions: "dod-dsip/raw_api_qa_response.json" },
};

/** Fields that every record has, where too few real records are here to show it. */
const always: Readonly<Record<string, readonly string[]>> = {
  "grants-gov-details record": [
    "docType",
    "id",
    "opportunityNumber",
    "opportunityTitle",
    "synopsis",
    "synopsis.synopsisDesc",
    "synopsis.postingDateStr",
  ],
  "dsip details": ["topicId", "description", "objective"],
  "dsip questions": ["question", "answers"],
};

const NOW = Date.UTC(2026, 7, 3, 12);

export async function shapesOfRealFiles(): Promise<Record<string, Record<string, KnownShape>>> {
  const shapes = await Promise.all(upstreams.map(async (upstream) => [upstream.name, await shapesOf(upstream)]));
  return Object.fromEntries(shapes);
}

async function shapesOf(upstream: Upstream): Promise<Record<string, KnownShape>> {
  const rows = await rowsOfRealFiles(upstream);
  return Object.fromEntries([...rows].map(([kind, records]) => [kind, declared(upstream.name, kind, knownShape(records))]));
}

/** The records of an upstream's files, as it has them, by kind. */
export async function rowsOfRealFiles({ name, format }: Upstream, directory = EXCERPTS): Promise<Map<string, JsonObject[]>> {
  const rows = new Map<string, JsonObject[]>();
  const add = (kind: string, more: readonly unknown[]) => void rows.set(kind, [...(rows.get(kind) ?? []), ...more.filter(isObject)]);
  for (const path of (files[name] ?? []).flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(directory)]).sort()) {
    const sample = await readSample(format, [{ name: path, bytes: await bytesOf(await realInput(path, directory)) }], NOW);
    for (const [kind, found] of sample.rows) add(kind, found);
  }
  for (const [kind, path] of Object.entries(parts[name] ?? {})) {
    add(kind, [JSON.parse((await bytesOf(await realInput(path, directory))).toString())].flat());
  }
  return rows;
}

/** Adds what is known of the fields from elsewhere. */
function declared(name: string, kind: string, shape: KnownShape): KnownShape {
  const certain = always[`${name} ${kind}`] ?? [];
  const known = Object.fromEntries(
    certain.map((field) => [field, { types: [], ...shape[field], in: "always" as const, filled: "always" as const }]),
  );
  const fields = { ...(name === "grants-gov" ? fieldsOfSchema(kind, shape) : shape), ...known };
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The elements that the extract's official schema allows. Not all of them are in the excerpts. */
function fieldsOfSchema(kind: string, shape: KnownShape): KnownShape {
  const schema = realFile("grants-gov/OpportunityDetail-V1.0.xsd").toString();
  const [, elements = ""] = new RegExp(`<xs:element name="${kind}">([\\s\\S]*?)</xs:complexType>`).exec(schema) ?? [];
  const fields = [...elements.matchAll(/<xs:element name="(\w+)" type="OpportunityDetail:(\w+)"/g)].map(([, field = "", type = ""]) => {
    const types = [/^(MMDDYYYYType|Number20DigitsType)$/.test(type) ? "digits" : "text"];
    return [field, { in: "seldom" as const, filled: "seldom" as const, ...shape[field], types }];
  });
  return Object.fromEntries(fields);
}

/** One line for each field. */
export function shapesText(shapes: object): string {
  const compact = JSON.stringify(shapes, null, 2).replace(
    /\{\n\s+"in": ([\s\S]*?)\n\s+\}/g,
    (_, rest: string) => `{ "in": ${rest.replace(/\s*\n\s*/g, " ")} }`,
  );
  return `${compact.replaceAll("[ ", "[").replaceAll(" ]", "]")}\n`;
}

if (import.meta.main) writeFileSync(join(import.meta.dir, "../../release/shapes.json"), shapesText(await shapesOfRealFiles()));
