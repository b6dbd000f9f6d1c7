/**
 * Checks with a few small requests that the upstreams can be reached and still publish what their formats read:
 * `bun release/probe.ts [upstream]…`
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Failure, messageOf } from "../db/reason.ts";
import { baseOf, keyOf } from "../src/cli/commands/pull.ts";
import { type Draft, type Format, type Input, rawOf } from "../src/import/format.ts";
import { Rejection, validateRecord } from "../src/import/validate.ts";
import type { Net } from "../src/pull/download.ts";
import { type Upstream, upstreams, visitTo } from "../src/pull/upstreams.ts";
import { temporaryDirectory } from "../src/runtime/left-behind.ts";
import { sleep } from "../src/runtime/run-every.ts";
import { easternDate } from "../src/text/eastern.ts";
import { DAY_MS, parseInstantMs } from "../src/text/instant.ts";
import { isObject, type JsonObject } from "../src/text/json-value.ts";
import { type Exchange, recordingFetch } from "./exchanges.ts";
import { type ProbeSample, samples } from "./samples.ts";
import { compareShape, type KnownShape, type ShapeFinding } from "./shape.ts";
import known from "./shapes.json" with { type: "json" };

/**
 * - `ok`: the records are as known. New fields are named and are no fault: they are not read.
 * - `changed`: a field is missing, empty or of another type, or records are rejected.
 * - `empty`: the response is valid and has no record, so there was nothing to check.
 * - `failed`: there is no response, or it is not the upstream's.
 * - `skipped`: it needs a key, and there is none.
 */
type ProbeResult = "ok" | "changed" | "empty" | "failed" | "skipped";

export type Probe = {
  source: string;
  result: ProbeResult;
  /** What failed, as a sentence; null unless the result is `failed`. */
  reason: string | null;
  /** How many records there are in all, as the upstream states it; null if it does not. */
  total: number | null;
  /** Records that were looked at, and those of them that an import would reject. */
  sampled: number;
  rejected: number;
  /** Why records are rejected, each reason once. */
  reasons: string[];
  /** The day of the file, or else the newest day on which a sampled record was posted. */
  newest_on: string | null;
  newest_age_days: number | null;
  /** Fields that differ from the known records. */
  fields: ShapeFinding[];
  requests: Exchange[];
};

type ProbeNet = Omit<Net, "hosts">;
type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUTS = { responseMs: 30_000, silenceMs: 30_000, totalMs: 60_000 };

/** The shapes of known records by upstream and kind of record. */
export const knownShapes: Readonly<Record<string, Readonly<Record<string, KnownShape>>>> = known as never; // The test of shapes checks it.

/** Probes the upstreams of these names, one after the other; all if there are none. Their addresses and keys are those of `pull`. */
export async function probeAll(names: readonly string[], net: ProbeNet, env: Environment): Promise<Probe[]> {
  const unknown = names.find((name) => !upstreams.some((each) => each.name === name));
  if (unknown !== undefined)
    throw new Failure(`Cannot probe ${unknown}: the upstreams are ${upstreams.map(({ name }) => name).join(", ")}`);
  const directory = temporaryDirectory("probe");
  const probes: Probe[] = [];
  try {
    for (const upstream of upstreams)
      if (names.length === 0 || names.includes(upstream.name)) probes.push(await probe(upstream, net, directory, env));
  } finally {
    rmSync(directory, { recursive: true });
  }
  return probes;
}

/** Sends each request once, and looks at the records. `directory` is for the responses. */
async function probe(upstream: Upstream, net: ProbeNet, directory: string, env: Environment): Promise<Probe> {
  const key = keyOf(env, upstream);
  const requests: Exchange[] = [];
  const once = { ...net, attempts: 1, fetch: recordingFetch(requests, key, net.now) };
  const about = { source: upstream.name, requests };
  if (key === "") return { ...about, ...nothingFound, result: "skipped", reason: `Its key belongs into ${upstream.keyFrom}` };
  try {
    const base = baseOf(env, upstream, undefined);
    const own = join(directory, upstream.name);
    mkdirSync(own);
    const sample = samples[upstream.name];
    if (sample === undefined) throw new Failure(`Cannot probe ${upstream.name}: release/samples.ts does not say how`);
    const sampled = await sample(visitTo(upstream, once, { directory: own, base, key, known: undefined }));
    return { ...about, ...(await judge(upstream, sampled, net.now())) };
  } catch (error) {
    return { ...about, ...nothingFound, result: "failed", reason: messageOf(error) };
  }
}

const nothingFound = { total: null, sampled: 0, rejected: 0, reasons: [], newest_on: null, newest_age_days: null, fields: [] };

type Judged = Omit<Probe, "source" | "requests">;

async function judge({ name, format }: Upstream, { files, total, publishedOn, parts }: ProbeSample, now: number): Promise<Judged> {
  const { sampled, rejected, reasons, newest, rows } = await readSample(format, files, now);
  const shapes = knownShapes[name] ?? {};
  const kinds: [string, readonly unknown[]][] = [...rows, ...Object.entries(parts ?? {})];
  const fields = kinds.flatMap(([kind, records]) => findingsOf(kind, shapes[kind], records.filter(isObject)));
  const newest_on = publishedOn ?? newest;
  const isChanged = rejected > 0 || fields.some(({ problem }) => problem !== "new");
  return {
    result: sampled === 0 ? "empty" : isChanged ? "changed" : "ok",
    reason: null,
    total,
    sampled,
    rejected,
    reasons,
    newest_on,
    newest_age_days: newest_on === null ? null : Math.round((Date.parse(easternDate(now)) - Date.parse(newest_on)) / DAY_MS),
    fields: sampled === 0 ? [] : fields,
  };
}

function findingsOf(kind: string, shape: KnownShape | undefined, records: readonly JsonObject[]): ShapeFinding[] {
  const name = (field: string) => (kind === RECORD ? field : `${kind}: ${field}`);
  if (shape === undefined) return [{ field: kind, problem: "new", expected: null, found: "kind of record" }];
  return compareShape(shape, records).map((finding) => ({ ...finding, field: name(finding.field) }));
}

/** The kind of rows of a file that has only one kind. */
const RECORD = "record";

/** Reads files with the format as an import does. `rows` are the records as the upstream has them, by kind. */
export async function readSample(format: Format, files: ProbeSample["files"], now: number) {
  const rows = new Map<string, unknown[]>();
  const reasons = new Set<string>();
  let [sampled, rejected] = [0, 0];
  let newest: string | null = null;
  const today = easternDate(now);
  for await (const item of format.read(files.map(inputOf), { warn: ignore, incomplete: ignore, neverHas: ignore })) {
    sampled++;
    const [kind, row] = rowOf(rawOf(item));
    rows.set(kind, [...(rows.get(kind) ?? []), row]);
    try {
      if (item.kind === "rejected") throw new Rejection(item.reason);
      const record = item.kind === "lazy" ? item.read() : item.kind === "version" ? item.read().record : item.record;
      validateRecord(record, new Map());
      const posted = postedOn(record as Draft);
      if (posted !== undefined && posted <= today && posted > (newest ?? "")) newest = posted;
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      rejected++;
      reasons.add(error.kind);
    }
  }
  return { sampled, rejected, reasons: [...reasons], newest, rows };
}

function ignore(): void {}

function inputOf({ name, bytes }: ProbeSample["files"][number]): Input {
  return {
    name,
    bytes: async function* () {
      yield new Uint8Array(bytes);
    },
  };
}

/** Elements of XML differ by their name, and each field is the list of its texts. */
function rowOf(raw: unknown): [kind: string, row: unknown] {
  const { element, fields } = isObject(raw) ? raw : {};
  return typeof element === "string" && isObject(fields) ? [element, fields] : [RECORD, raw];
}

/** The day as the upstream writes it. */
function postedOn({ dates }: Draft): string | undefined {
  const posted = dates?.posted_at ?? undefined;
  return posted === undefined || parseInstantMs(posted) === undefined ? undefined : posted.slice(0, 10);
}

if (import.meta.main) {
  const stop = new AbortController().signal;
  const contact = process.env.FUNDFEED_CONTACT;
  const progress = () => undefined;
  const net = { timeouts: TIMEOUTS, wait: sleep, stop, allowHttp: false, contact, now: Date.now, random: Math.random, progress };
  const probes = await probeAll(process.argv.slice(2), net, process.env);
  process.stdout.write(`${JSON.stringify(probes, null, 2)}\n`);
  process.exitCode = probes.every(({ result }) => result === "ok" || result === "skipped") ? 0 : 1;
}
