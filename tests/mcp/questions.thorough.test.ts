/** Five questions of people, asked with the official client of real data. answers.txt shows the calls and answers. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { formats } from "../../src/import/formats/all.ts";
import { listSources, removeSource } from "../../src/sources/source.ts";
import type { EpochMs } from "../../src/text/instant.ts";
import { aCatalog, aDirectory, dropScratch } from "../support/imports.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";
import { EXCERPTS } from "../support/real-data.ts";

setDefaultTimeout(300_000);

/** The files of each day, imported as of that day. */
type Day = readonly [day: string, format: string, path: string];
const spring: readonly Day[] = [
  ["2025-08-21", "grants-gov", "grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz"],
  ["2026-04-25", "sam-gov", "sam-gov/derived/ContractOpportunitiesFullCSV-20260425.reconstructed.csv.gz"],
  ["2026-06-16", "simpler-grants-gov", "simpler-grants-gov/grants-search-20260617.csv.gz"],
  ["2026-06-17", "sbir-gov", "sbir-gov/sbir-topics-20260617.csv.gz"],
];
const summer: readonly Day[] = [
  ["2026-07-26", "grants-gov", "grants-gov/derived/GrantsDBExtract20260726v2.reconstructed.xml.gz"],
  ["2026-07-30", "grants-gov", "grants-gov/derived/GrantsDBExtract20260730v2.reconstructed.xml.gz"],
  ["2026-08-03", "grants-gov", "grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz"],
];
const shown = ["GRANTS_GOV", "SAM_GOV", "SBIR_GOV", "SIMPLER_GRANTS_GOV", "DSIP"];
const [JUNE, AUGUST] = [Date.UTC(2026, 5, 18, 15), Date.UTC(2026, 7, 3, 15)];

let june: McpClient;
let august: McpClient;

beforeAll(async () => {
  const [early, late] = [aDirectory(), aDirectory()];
  await importDays(early, spring);
  cpSync(early, late, { recursive: true });
  await importDays(late, summer);
  [june, august] = await Promise.all([connect(early, JUNE), connect(late, AUGUST)]);
});
afterAll(async () => {
  await Promise.all([june, august].map((client) => client?.close()));
  dropScratch();
});

async function importDays(directory: string, days: readonly Day[]): Promise<void> {
  const db = openCatalog(directory, Date.parse(days[0]?.[0] ?? ""));
  const { clock, takeFiles } = await aCatalog(db);
  // So that a new source does not change the answers.
  for (const { code } of await listSources(db)) if (!shown.includes(code)) await removeSource(db, code);
  for (const [day, name, path] of days) {
    const asOf = Date.parse(`${day}T12:00:00Z`);
    clock.now = asOf;
    const format = formats.find((each) => each.name === name);
    if (format === undefined) throw new Error(`There is no format ${name}`);
    await takeFiles([join(EXCERPTS, path)], { format, asOf });
  }
  await db.close();
}

const connect = (data: string, now: EpochMs) => connectMcp(["--data", data], { now, revision: "2025-11-25" });

const answers = readFileSync(join(import.meta.dir, "answers.txt"), "utf8");

/** Calls a tool, and requires that answers.txt has the call and its answer. */
async function ask<T>({ call }: McpClient, name: string, args: Record<string, unknown>): Promise<T> {
  const { text, isError, data } = await call<T>(name, args);
  expect([name, isError, text]).toEqual([name, false, expect.any(String)]);
  expect(answers).toContain(`\n> ${name} ${JSON.stringify(args)}\n\n${text.replace(/(?<= cursor )\S+/, "…")}\n`);
  return data;
}

type Listed = { total: number; returned: number; complete: boolean; next_cursor: string | null };
type Events = Listed & { events: { event_id: string; severity: string }[] };

test("quantum, for small businesses, closing within 60 days", async () => {
  const found = await ask<Listed & { results: { title: string; program_type: string; closes_at: string }[] }>(june, "find", {
    words: "quantum",
    program_type: ["SBIR", "STTR"],
    closes_after: "0d",
    closes_before: "60d",
  });
  expect(found).toMatchObject({ total: 2, returned: 2, complete: true, next_cursor: null });
  for (const { program_type, closes_at } of found.results)
    expect([program_type, Date.parse(closes_at) < JUNE + 60 * 86_400_000]).toEqual(["SBIR", true]);
});

test("what changed this week that is at least material", async () => {
  const { events, ...about } = await ask<Events>(august, "what_changed", { since: "7d", at_least: "material", limit: 3 });
  expect(about).toMatchObject({ returned: 3, complete: false });
  expect(about.total).toBeGreaterThan(3);
  for (const { severity } of events) expect(["material", "critical"]).toContain(severity);
});

test("the history of a number", async () => {
  const { events, total, complete } = await ask<Events>(august, "history", { id: "22-586" });
  expect([events.length, complete]).toEqual([total, true]);
  expect(events.map(({ severity }) => severity)).toContain("critical");
});

test("why a change is critical", async () => {
  const { data } = await august.call<Events>("what_changed", { since: "7d", at_least: "critical", limit: 1 });
  const [event] = data.events;
  const { because } = await ask<{ because: string[] }>(august, "explain", { event_id: event?.event_id });
  expect(because[0]).toContain("it leaves closed, archived or cancelled for open or closing_soon");
  expect(because.at(-1)).toMatch(/^Import \d+ \(grants-gov, GrantsDBExtract2026\d{4}v2\.reconstructed\.xml\.gz\), started .*brought it\.$/);
});

test("how fresh the data are", async () => {
  const { sources } = await ask<{ sources: { code: string; records: number }[] }>(august, "sources", {});
  expect(sources.find(({ code }) => code === "GRANTS_GOV")?.records).toBeGreaterThan(1000);
});
