/** A source that has been dead for a year, asked at every door: each says since when there has been no news. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createMetrics, metricsText } from "../../src/monitoring/metrics.ts";
import { addSource } from "../../src/sources/source.ts";
import { DAY_MS, formatInstant } from "../../src/text/instant.ts";
import { slackMessage, teamsMessage } from "../../src/watch/chats.ts";
import { mailOf } from "../../src/watch/mail.tsx";
import type { Message } from "../../src/watch/message.ts";
import { testApi } from "../support/api.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { sqliteLocation } from "../support/database-locations.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";

setDefaultTimeout(300_000);

const NOW = Date.parse("2026-11-27T15:00:00Z");
const DEAD = Date.parse("2026-01-20T12:00:00Z");
const SAID = /no news since Jan 19, 2026 at (?:Dead Source|DEADSOURCE)/i;

let data: string;
let catalog: CatalogDb;
let site: BrowsedSite;
let mcp: McpClient;
let id: string;

const run = async (...args: string[]) =>
  (await fundfeed([...args, "--data", data], {}, () => NOW)).out.replaceAll(/\r\n |\\/g, "").replaceAll(/\s+/g, " ");
const page = async (path: string) => (await (await fetch(site.origin + path)).text()).replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

beforeAll(async () => {
  data = aDirectory();
  const records = Array.from({ length: 12 }, (_, n) => ({
    source: { code: "DEADSOURCE", name: "Dead Source", opportunity_id: `D-${n}` },
    title: "Deep sea cables",
    status: "open",
    dates: { posted_at: formatInstant(DEAD - (n + 1) * DAY_MS), closes_at: formatInstant(NOW + (n + 5) * DAY_MS) },
  }));
  await fundfeed(["import", "records", aFile(records), "--data", data, "--as-of", formatInstant(DEAD)], {}, () => NOW - 60_000);
  const file = openCatalog(data, NOW);
  await addSource(file, { code: "DEADSOURCE", name: "Dead Source", description: "Calls for cables." });
  await file.close();
  site = await browsed(data, NOW);
  mcp = await connectMcp(["--data", data], { now: NOW });
  catalog = openCatalog(data, NOW);
  id = JSON.parse(await run("find", "--json", "--limit", "1")).data[0].id;
});
afterAll(async () => {
  await mcp.close();
  await site.stop();
  await catalog.close();
  dropScratch();
});

const doors: Readonly<Record<string, () => Promise<string>>> = {
  show: () => run("show", id),
  "sources status": () => run("sources", "status"),
  "rows of find": () => run("find"),
  "rows of find in Markdown": () => run("find", "--format", "md"),
  "what find says below": async () => (await run("find")).split("Imported").at(-1) ?? "",
  changes: () => run("changes", "--since", "all"),
  "changes in Markdown": () => run("changes", "--since", "all", "--format", "md"),
  "the change feed": () => run("changes", "--since", "all", "--format", "atom"),
  calendar: () => run("find", "--format", "ics"),
  "the first page": () => page("/"),
  "the page of sources": () => page("/sources"),
  "the page of the record": () => page(`/opportunities/${id}`),
  "rows of the page": () => page("/?words=cables"),
  "the page of deadlines": () => page("/deadlines"),
  "MCP's get": async () => (await mcp.call("get", { id })).text,
  "MCP's find": async () => (await mcp.call("find", { words: "cables" })).text.split("Data as of")[0] ?? "",
  "MCP's sources": async () => (await mcp.call("sources")).text,
};

test.each(Object.entries(doors))("%s says since when there has been no news", async (_, ask) => {
  expect(await ask()).toMatch(SAID);
});

test("a message says so, as mail and for Slack and Teams", async () => {
  await run("watch", "add", "sea", "cables", "--to", "stdout", "--from-start");
  const { out } = await fundfeed(["watch", "run", "--data", data], {}, () => NOW);
  const message = JSON.parse(out.split("\n")[0] ?? "") as Message;
  const mail = mailOf([{ message, zone: "UTC" }]);
  for (const form of [mail.text, mail.html, JSON.stringify(slackMessage(message, "UTC")), JSON.stringify(teamsMessage(message, "UTC"))])
    expect(form.replaceAll(/\s+/g, " ")).toMatch(SAID);
});

test("the metrics have the day, and that the source is silent", async () => {
  const machine = { now: () => NOW, usage: () => ({ residentBytes: 0, cpuSeconds: 0 }) };
  const text = await metricsText(createMetrics(NOW), { catalog, machine });
  expect(text).toContain('fundfeed_source_silent{source="DEADSOURCE"} 1\n');
  expect(text).toContain(`fundfeed_source_last_news_timestamp_seconds{source="DEADSOURCE"} ${Date.parse("2026-01-19") / 1000}\n`);
  expect(text).toMatch(/fundfeed_source_last_news_timestamp_seconds .*no news since/);
});

test("GET /v1/sources says so in the description", async () => {
  const { state } = sqliteLocation(aDirectory());
  const api = await testApi({ now: NOW, location: { catalog: async () => catalog, state } });
  const { data: sources } = (await (await api.get("/sources")).json()) as { data: { code: string; description: string }[] };
  expect(sources.find(({ code }) => code === "DEADSOURCE")?.description).toBe(
    "Calls for cables. No news since Jan 19, 2026 at DEADSOURCE.",
  );
});
