/** Metrics: the text that a Prometheus reads, and what it counts. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { insertInto } from "../../db/query.ts";
import { facets } from "../../db/schema/sqlite/catalog.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { beginImport, emptySummary, finishImport, recordProgress, type Summary } from "../../src/import/import-log.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { countingLog, countStatusTurns, createMetrics, metricsText } from "../../src/monitoring/metrics.ts";
import { aHome, dropHomes } from "../support/binary.ts";
import { engines } from "../support/engines.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { requestEntry } from "../support/request-entry.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000); // A PostgreSQL that starts on a busy machine takes its time.

afterAll(dropHomes);
afterAll(dropScratch);

const ENTRY = { ...requestEntry, time: NOON };

const machine = { now: () => NOON + 5000, usage: () => ({ residentBytes: 1_000_000, cpuSeconds: 1.5 }) };

/** Lines of one family, without its comments. */
const samples = (text: string, name: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith(name))
    .map((line) => line.slice(name.length));

describe.each(engines)("metricsText() on %s", (_, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);
  let catalog: CatalogDb;
  beforeAll(async () => {
    if (!isThere) return;
    catalog = await emptyCatalog();
    const begun = { files: [], snapshot: false, asOf: undefined, startedAt: NOON };
    const imported = async (format: string, sources: string[], finishedAt: number, counts: Partial<Summary>) => {
      const id = await beginImport(catalog, { ...begun, format, sources });
      await finishImport(catalog, id, { ...emptySummary, ...counts }, finishedAt);
    };
    for (const source of ["OWN", 'O"THER'])
      await catalog.insert(insertInto(facets, { key: "id" }), { status: "open", source, program_type: "GRANT", agency: "", records: 1 });
    await imported("records", ["OWN", 'O"THER'], NOON + 1000, { read: 3, added: 2, rejected: 1 });
    await imported("records", ["OWN"], NOON + 2000, { read: 2, unchanged: 2 });
    await imported("events", ["OWN"], NOON + 4000, { read: 1, events: 1 });
    const running = await beginImport(catalog, { ...begun, format: "sbir-gov", sources: ["SBIR_GOV"] });
    await recordProgress(catalog, running, { ...emptySummary, read: 4 }, NOON);
  });
  afterAll(() => catalog?.close());
  const metrics = createMetrics(NOON);
  const log = countingLog(
    metrics,
    createLog("json", () => undefined, "none"),
  );
  for (const entry of [{}, { duration_ms: 0 }, { duration_ms: 20_000, status: 500 }, { status: 429 }]) log.request({ ...ENTRY, ...entry });
  log.request({ ...ENTRY, route: null, status: 404, duration_ms: 2 });
  log.failure(NOON, new Error("It broke"), null);
  for (let n = 0; n < 3; n++) log.recurring(NOON, new Error("It is away"), null);
  countStatusTurns(metrics, { changed: 2, events: 2 });
  countStatusTurns(metrics, { changed: 0, events: 0 });
  const text = () => metricsText(metrics, { catalog, machine });

  testIf("counts requests by route and status, whatever the log's level", async () => {
    expect(samples(await text(), "fundfeed_requests_total")).toEqual([
      '{route="/opportunities",status="200"} 2',
      '{route="/opportunities",status="500"} 1',
      '{route="/opportunities",status="429"} 1',
      '{route="unknown",status="404"} 1',
    ]);
    expect(samples(await text(), "fundfeed_quota_refusals_total")).toEqual([" 1"]);
    expect(samples(await text(), "fundfeed_failures_total")).toEqual([" 4"]);
  });

  testIf("has durations as a cumulative histogram in seconds", async () => {
    const lines = samples(await text(), 'fundfeed_request_duration_seconds_bucket{route="/opportunities",');
    expect(lines[0]).toBe('le="0.001"} 1');
    expect(lines[2]).toBe('le="0.005"} 3');
    expect(lines.slice(-2)).toEqual(['le="10"} 3', 'le="+Inf"} 4']);
    expect(samples(await text(), "fundfeed_request_duration_seconds_sum")[0]).toBe('{route="/opportunities"} 20.006');
    expect(samples(await text(), "fundfeed_request_duration_seconds_count")[0]).toBe('{route="/opportunities"} 4');
  });

  testIf("counts imports and status turns by outcome, and shows the age of each source", async () => {
    const all = await text();
    expect(samples(all, "fundfeed_imports_total")).toEqual(['{format="events"} 1', '{format="records"} 2', '{format="sbir-gov"} 0']);
    expect(samples(all, "fundfeed_imports_unfinished")).toContain('{format="sbir-gov"} 1');
    expect(samples(all, "fundfeed_imported_records_total")).toEqual(
      expect.arrayContaining([
        '{format="records",outcome="read"} 5',
        '{format="records",outcome="added"} 2',
        '{format="sbir-gov",outcome="added"} 0',
        '{format="sbir-gov",outcome="read"} 4',
      ]),
    );
    expect(samples(all, "fundfeed_source_age_seconds").sort()).toEqual(['{source="OWN"} 3', '{source="O\\"THER"} 4']);
    expect(samples(all, "fundfeed_refreshes_total")).toEqual([" 2"]);
    expect(samples(all, "fundfeed_refreshed_records_total")).toEqual([" 2"]);
  });

  testIf("describes the process, and contains no key, account or record", async () => {
    const all = await text();
    expect(samples(all, "process_resident_memory_bytes")).toEqual([" 1000000"]);
    expect(samples(all, "process_cpu_seconds_total")).toEqual([" 1.5"]);
    expect(all).not.toMatch(/Acme|key_1|abc/);
  });

  testIf("is valid: each family appears once with help and type, and each sample is a number", async () => {
    const lines = (await text()).trimEnd().split("\n");
    const told = lines.filter((line) => line.startsWith("# TYPE ")).map((line) => line.split(" ")[2] ?? "");
    expect(new Set(told).size).toBe(told.length);
    expect(lines.filter((line) => line.startsWith("# HELP "))).toHaveLength(told.length);
    for (const line of lines.filter((line) => !line.startsWith("#"))) {
      expect(line).toMatch(/^[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? -?\d+(\.\d+)?(e[+-]\d+)?$/);
      expect(told).toContain(line.replace(/[{ ].*$/, "").replace(/^(fundfeed_request_duration_seconds)_.*$/, "$1"));
    }
  });

  testIf("leaves out the catalog while it cannot be read", async () => {
    const closed = await emptyCatalog();
    await closed.close();
    const all = await metricsText(metrics, { catalog: closed, machine });
    expect(samples(all, "fundfeed_catalog_readable")).toEqual([" 0"]);
    expect(samples(all, "fundfeed_quota_refusals_total")).toEqual([" 1"]);
  });
});

test("metricsText() has the sizes of the files if the databases are files", async () => {
  const directory = aDirectory();
  const catalog = openCatalog(directory, NOON);
  const sizes = async (where?: string) =>
    samples(await metricsText(createMetrics(NOON), { catalog, directory: where, machine }), "fundfeed_database_bytes").map((line) =>
      line.replace(/ \d+$/, ""),
    );
  expect(await sizes(directory)).toEqual(['{file="catalog.db"}', '{file="catalog.db-wal"}']);
  expect(await sizes()).toEqual([]);
  await catalog.close();
});

describe("serve --metrics-port", () => {
  test("serves metrics on their own port only, and the API on its own port only", async () => {
    const home = aHome();
    const key = await home.key();
    const server = await home.serve(["serve", "--port", "0", "--metrics-port", "0", "--log-level", "failure"]);
    const metrics = await waitFor("it says where", () => /http:\S+\/metrics/.exec(server.log())?.[0]);
    expect(metrics).toStartWith("http://127.0.0.1:");
    for (const path of ["/meta", "/meta", "/opportunities", "/none"]) await (await server.get(path, key)).text();

    const scrape = await fetch(metrics);
    expect(scrape.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await scrape.text();
    expect(samples(text, "fundfeed_requests_total")).toEqual([
      '{route="/meta",status="200"} 2',
      '{route="/opportunities",status="200"} 1',
      '{route="unknown",status="404"} 1',
    ]);
    expect(samples(text, "fundfeed_database_bytes")).toHaveLength(4);
    expect(Number(samples(text, "process_resident_memory_bytes")[0])).toBeGreaterThan(10_000_000);

    expect((await fetch(metrics.replace("/metrics", "/v1/meta"))).status).toBe(404);
    expect((await fetch(`${metrics}?collect=all`)).status).toBe(200); // As a scrape job with `params` requests it.
    expect((await fetch(`${server.base.replace("/v1", "")}/metrics`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
    expect(server.log()).not.toContain('"route"'); // Requests are not logged at this level.
  });

  test("fails if that port is taken", async () => {
    const home = aHome();
    const server = await home.serve();
    const second = await home.run(["serve", "--port", "0", "--metrics-port", String(server.port)]);
    expect([second.code, second.err]).toEqual([
      1,
      `Cannot listen on 127.0.0.1:${server.port}: the port is in use; stop the program that listens there, or choose another port (0 takes a free one)\n`,
    ]);
    await server.stop();
  });
});
