/** Fifty real records at every door: each door has the same facts in the same words, those of a line shortened. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { matchLines, plainStyle, resultTable } from "../../src/cli/results.ts";
import { readHistory } from "../../src/events/history.ts";
import { foundCsvLine } from "../../src/export/csv.ts";
import { briefFacts, briefOf, factsOf, recordInWords } from "../../src/facts/facts.ts";
import { changesAtomPrinter } from "../../src/feed/atom.ts";
import { deadlinesCalendar } from "../../src/feed/deadlines.ts";
import { markdownPrinter } from "../../src/feed/printers.ts";
import { type Due, dueOf, dueParts } from "../../src/opportunities/due.ts";
import { obstacleOf } from "../../src/opportunities/obstacle.ts";
import { LETTER, type WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { readBelonging, readDuplicates } from "../../src/opportunities/related.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { slackMessage, teamsMessage } from "../../src/watch/chats.ts";
import { mailOf } from "../../src/watch/mail.tsx";
import { type Message, messageOpportunity } from "../../src/watch/message.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo, SAMPLE_NOW } from "../support/demo-data.ts";
import { dropScratch, opportunitiesOf } from "../support/imports.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";

setDefaultTimeout(300_000);

const NOW = SAMPLE_NOW;
const RECORDS = 50;
const ZONE = "America/New_York";

type Asked = { opportunity: WholeOpportunity; duplicates: readonly WholeOpportunity[]; due: Due };

let data: string;
let catalog: CatalogDb;
let index: SearchFile;
let site: BrowsedSite;
let mcp: McpClient;
let calendar: string;
let asked: Asked[];

beforeAll(async () => {
  data = await aDirectoryOfTheDemo();
  catalog = openCatalog(data, NOW);
  index = openSearchFile(data);
  await catchUp(catalog, index, undefined, NOW);
  site = await browsed(data, NOW);
  mcp = await connectMcp(["--data", data], { now: NOW });
  const ids = (await opportunitiesOf(catalog)).map(({ id }) => id).sort();
  const duplicates = await readDuplicates(catalog, ids, NOW);
  asked = chosen(
    (await readOpportunities(catalog, ids, NOW)).map((opportunity) => {
      const others = duplicates.get(opportunity.id) ?? [];
      return { opportunity, duplicates: others, due: dueOf(opportunity, NOW, others) };
    }),
  );
  const search = { filter: {}, shown: {}, allSources: true, limit: 5000 };
  calendar = (await deadlinesCalendar(catalog, index, search, NOW)).replaceAll("\r\n ", "");
});
afterAll(async () => {
  await mcp.close();
  await site.stop();
  index.close();
  await catalog.close();
  dropScratch();
});

/** Records of every kind in turn: by source, how it is due, status, what speaks against it, and whether it has duplicates. */
function chosen(all: readonly Asked[]): Asked[] {
  const kinds = Map.groupBy(all, ({ opportunity, duplicates, due }) =>
    [opportunity.source.code, due.kind, opportunity.status, obstacleOf(opportunity, NOW, duplicates), duplicates.length > 0].join(),
  );
  const byKind = [...kinds.values()];
  const rounds = Array.from({ length: RECORDS }, (_, round) => byKind.flatMap((ofKind) => ofKind[round] ?? []));
  return rounds.flat().slice(0, Math.max(RECORDS, byKind.length));
}

/** What is the same in every form of a text: no blanks, marks, tags or escapes. */
function bare(text: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };
  return text
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => entities[name] ?? "")
    .replaceAll(/[\s\\"'“”*_`|]|&nbsp;/g, "")
    .toLowerCase();
}

/** Doors cut long values. */
const COMPARED = 60;

/** What of these a text lacks. */
function lacking(text: string, values: readonly (string | null)[]): string[] {
  const shown = bare(text);
  return values.filter((value) => value !== null).filter((value) => !shown.includes(bare(value).slice(0, COMPARED)));
}

/** All facts, the first values of each, and the parts of the account of the dates: doors put how far a date is in different places. */
async function longFacts({ opportunity, duplicates, due }: Asked): Promise<string[]> {
  const belonging = await readBelonging(catalog, opportunity, NOW);
  const { first, verb, when, distance, more } = dueParts(due, NOW);
  const facts = factsOf(opportunity, { ...belonging, duplicates }, NOW).filter(({ id }) => id !== "due" && id !== "status");
  const { status, status_display } = opportunity;
  const words = [first, verb, when, distance.replace(/^in /, ""), ...more, status.replaceAll("_", " "), status_display ?? ""];
  const texts = facts.filter(({ id }) => id !== "parent").flatMap(({ values }) => values.slice(0, 10).map(({ text }) => text));
  const parent = belonging.parent === undefined ? [] : [belonging.parent.title, recordInWords(belonging.parent)];
  return [...texts, ...parent, ...words];
}

function briefly({ opportunity, duplicates, due }: Asked, zone?: string) {
  return briefFacts(briefOf(opportunity, due, duplicates), zone);
}

function messageOf(one: Asked): Message {
  const { opportunity, duplicates, due } = one;
  const events = [{ kind: "new" as const, opportunity: messageOpportunity({ opportunity, duplicates: [...duplicates], due }) }];
  const counts = { new: 1, changed: 0, due: 0, left: 0 };
  return { id: "m", type: "watch.changes", timestamp: formatInstant(NOW), data: { watch: "w", filter: {}, counts, events } };
}

async function entryOf({ opportunity, duplicates, due }: Asked) {
  const [event] = await readHistory(catalog, opportunity.id);
  if (event === undefined) throw new Error(`${opportunity.id} has no event`);
  return { seq: 1, event, opportunity, due, duplicates: [...duplicates], at: null };
}

/** For each record what a door lacks. */
async function compare(lacks: (one: Asked) => Promise<string[]> | string[]): Promise<void> {
  for (const one of asked) expect([one.opportunity.id, await lacks(one)]).toEqual([one.opportunity.id, []]);
}

test("there are at least fifty, of every source and every kind", () => {
  expect(asked.length).toBeGreaterThanOrEqual(RECORDS);
  expect(new Set(asked.map(({ opportunity }) => opportunity.source.code)).size).toBeGreaterThanOrEqual(9);
  const kinds = new Set(asked.map(({ due }) => due.kind));
  expect(["due", "expected", "expires", "anytime", "in_words", "none", "over"].filter((kind) => !kinds.has(kind as Due["kind"]))).toEqual(
    [],
  );
  const obstacles = new Set(asked.map(({ opportunity, duplicates }) => obstacleOf(opportunity, NOW, duplicates)));
  expect(["letter", "over", "unseen"].filter((each) => !obstacles.has(each as "letter"))).toEqual([]);
  const count = (is: (one: Asked) => boolean) => asked.filter(is).length;
  expect(count(({ opportunity }) => opportunity.status_display === LETTER)).toBeGreaterThan(0);
  expect(count(({ opportunity }) => opportunity.status === "closed" || opportunity.status === "archived")).toBeGreaterThan(0);
  expect(count(({ due }) => due.standard_at !== null)).toBeGreaterThan(0);
  expect(count(({ duplicates }) => duplicates.length > 0)).toBeGreaterThan(0);
  expect(count(({ due }) => /no news since/.test(due.elsewhere ?? ""))).toBeGreaterThan(0);
});

describe("every fact is in", () => {
  test("show", () =>
    compare(async (one) => {
      const { out } = await fundfeed(["show", one.opportunity.id, "--data", data], {}, () => NOW);
      return lacking(out, await longFacts(one));
    }));

  test("the page", () =>
    compare(async (one) => {
      const page = await (await fetch(`${site.origin}/opportunities/${one.opportunity.id}`)).text();
      // Its line of time has the day and the words of a due date apart, and shows by its place whether that has passed.
      const parts = (await longFacts(one)).flatMap((value) =>
        value.replace(/ \(passed\)$/, "").split(/(?<=^\w+ \d+, \d+(?:, [\d:]+ [AP]M \w+)?): /),
      );
      return lacking(page, parts);
    }));

  test("the text of MCP", () =>
    compare(async (one) => {
      const { text } = await mcp.call("get", { id: one.opportunity.id });
      return lacking(text.replaceAll("pre_release", "pre-release").replaceAll("closing_soon", "closing soon"), await longFacts(one));
    }));
});

describe("the facts of a line are in", () => {
  test("mail, as text and as HTML", () =>
    compare((one) => {
      const { text, html } = mailOf([{ message: messageOf(one), zone: ZONE }]);
      const { source: _, ...facts } = briefly(one, ZONE);
      return [text, html].flatMap((form) => lacking(form, Object.values(facts)));
    }));

  test("messages of Slack and Teams", () =>
    compare((one) => {
      const { source: _, ...facts } = briefly(one, ZONE);
      const texts = [slackMessage(messageOf(one), ZONE).text, JSON.stringify(teamsMessage(messageOf(one), ZONE))];
      return texts.flatMap((text) => lacking(text, Object.values(facts)));
    }));

  test("the calendar", () => {
    const entries = calendar.split("BEGIN:VEVENT");
    const dated = asked.filter(({ opportunity }) => entries.some((entry) => entry.includes(`UID:${opportunity.id}@`)));
    expect(dated.length).toBeGreaterThan(10);
    return compare((one) => {
      const entry = entries.find((each) => each.includes(`UID:${one.opportunity.id}@`));
      return entry === undefined ? [] : lacking(entry.replaceAll("\\n", " "), Object.values(briefly(one)));
    });
  });

  test("the feed, as Markdown and as Atom", () =>
    compare(async (one) => {
      const entry = await entryOf(one);
      const atom = await changesAtomPrinter(catalog, { filter: {}, atLeast: "noise" }, undefined);
      const forms = [markdownPrinter().entries([entry]), atom.entries([entry]) + atom.end({})];
      const { due, ...facts } = briefly(one);
      const isDated = one.due.kind !== "none" || one.due.elsewhere !== null;
      return forms.flatMap((form) => lacking(form, [...Object.values(facts), isDated ? due : null]));
    }));

  test("the table", () =>
    compare((one) => {
      const { opportunity, duplicates } = one;
      const result = { opportunity, duplicates: [...duplicates], snippet: null, missing: [], named: [], isFar: false, isMatch: true };
      const row = { opportunity, duplicates, below: matchLines(result, null, NOW, 2000, plainStyle) };
      const { number, open_to, also_at } = briefly(one);
      const doubts = one.due.elsewhere?.split(", ").filter((doubt) => /when last seen|title says|no news since/.test(doubt)) ?? [];
      return lacking(resultTable([row], NOW, 2000, plainStyle), [number?.slice(0, 30) ?? null, open_to, also_at, ...doubts]);
    }));

  test("CSV, whose columns have values and no words", () =>
    compare(({ opportunity, duplicates, due }) => {
      const line = foundCsvLine(opportunity, duplicates, NOW);
      const { source, organization } = opportunity;
      return lacking(line, [due.kind, due.at?.slice(0, 10) ?? null, source.code, organization.agency]);
    }));
});
