/** Messages for people: what mail and Slack show. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { latestPosition } from "../../src/events/feed.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { slackMessage, teamsMessage } from "../../src/watch/chats.ts";
import { digestOf } from "../../src/watch/digest.ts";
import { mailOf } from "../../src/watch/mail.tsx";
import { matchingIds } from "../../src/watch/matching.ts";
import type { Message } from "../../src/watch/message.ts";
import { addWatch } from "../../src/watch/watches.ts";
import { dropScratch, SECOND } from "../support/imports.ts";
import { aDefinition, aWatched } from "./watched.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const EASTERN = "America/New_York";
const receiver = { to: "smtp", url: { variable: "X" }, mail_to: "ann@example.org", mail_from: "fundfeed@example.org" } as const;
const record = (id: string, fields: object = {}) => ({
  source: { code: "OWN", opportunity_id: id, url: `https://example.gov/${id}` },
  title: `Title ${id}`,
  status: "open",
  organization: { agency: "Department of Energy" },
  dates: { closes_at: "2026-05-02T02:00:00Z" },
  ...fields,
});

/** The one message of a run after these records, on top of those. */
async function messageAfter(before: object[], after: object[], filter: object = {}): Promise<Message> {
  const watched = await aWatched();
  await watched.take(before);
  await watched.add("q", { receiver, filter });
  watched.clock.now += SECOND;
  await watched.take(after);
  await watched.run();
  expect(watched.received).toHaveLength(1);
  return watched.received[0] as Message;
}

/** What the sections of a message for Slack say of what they do not show. */
function lastsOf(message: Message): string[] {
  return slackMessage(message, EASTERN).blocks.flatMap(({ text: { text } }) => (text.startsWith("_and ") ? [text] : []));
}

describe("a digest", () => {
  test("is one message, whatever there is to report, with the most severe changes first", async () => {
    const many = Array.from({ length: 230 }, (_, n) => record(`N${n}`));
    const later = many.map((each, n) => ({
      ...each,
      status: n === 229 ? "cancelled" : "closing_soon",
      eligibility: { requirements: "Anybody" },
    }));
    const message = await messageAfter(many, [...later, ...Array.from({ length: 60 }, (_, n) => record(`A${n}`))]);
    expect(message.data.counts).toEqual({ new: 60, changed: 231, due: 0, left: 0 });
    expect(message.data.events.map(({ kind }) => kind)).toEqual([...Array(50).fill("changed"), ...Array(50).fill("new")]);
    const { subject, sections } = digestOf(message, EASTERN);
    expect(subject).toBe("q: 1 critical change, 230 other changes, 60 new");
    expect(sections.map(({ heading, entries, more }) => [heading, entries.length, more])).toEqual([
      ["Critical changes", 1, 0],
      ["Changes", 49, 181],
      ["New", 50, 10],
    ]);
    expect(sections[0]?.entries[0]).toEqual({
      id: expect.any(String),
      title: "Title N229",
      url: "https://example.gov/N229",
      facts: "Department of Energy · N229 · cancelled · due May 1, 2026",
      changes: ["status changed from open to cancelled"],
      count: 1,
    });
  });

  test("says of a date that has passed that it has", async () => {
    const past = { dates: { closes_at: "2026-02-27T22:00:00Z" } };
    const message = await messageAfter([], [record("1", { ...past, status: "closed" }), record("2", { ...past, status: "forecast" })]);
    expect(
      digestOf(message, EASTERN)
        .sections[0]?.entries.map(({ facts }) => facts)
        .sort(),
    ).toEqual(["Department of Energy · closed · closed Feb 27, 2026", "Department of Energy · forecast · was expected Feb 27, 2026"]);
  });

  test("counts the critical changes that it has no room for", async () => {
    const many = Array.from({ length: 130 }, (_, n) => record(`N${n}`));
    const later = many.map((each) => ({ ...each, status: "cancelled", eligibility: { requirements: "Anybody" } }));
    const message = await messageAfter(many, later);
    expect(message.data.counts).toEqual({ new: 0, changed: 260, due: 0, left: 0 });
    const { subject, sections } = digestOf(message, EASTERN);
    expect(subject).toBe("q: 130 critical changes, 130 other changes");
    expect(sections.map(({ heading, entries, more }) => [heading, entries.length, more])).toEqual([
      ["Critical changes", 50, 80],
      ["Changes", 0, 130],
    ]);
    const { text } = mailOf([{ message, zone: EASTERN }]);
    expect(text).toContain("\nand 80 more changes\n\nCHANGES\n\n130 more changes\n");
  });

  test("says of each that left that it no longer matches", async () => {
    const many = Array.from({ length: 90 }, (_, n) => record(`N${n}`));
    const later = many.map((each) => ({ ...each, status: "closed", eligibility: { requirements: "Anybody" } }));
    const message = await messageAfter(many, later, { status: ["open"] });
    const { subject, sections } = digestOf(message, EASTERN);
    expect(subject).toBe("q: 180 changes, 90 no longer matching");
    const [changes, left] = sections;
    const leaves = changes?.entries.filter(({ facts }) => facts.endsWith(" · no longer matches"));
    expect([leaves?.length, changes?.entries.length, changes?.more]).toEqual([25, 25, 130]);
    expect([left?.heading, left?.entries.length, left?.more]).toEqual(["No longer matching", 50, 15]);
    expect(mailOf([{ message, zone: EASTERN }]).text).toContain("\nand 15 more; 25 others are above, with a change\n");
    // Slack shows 8 opportunities with 16 of the 180 changes, and 8 of the other 82.
    expect(lastsOf(message)).toEqual(["_and 164 more changes_", "_and 74 more; 8 others are above, with a change_"]);
  });

  test("counts in Slack each that left once, also those whose change is not shown", async () => {
    const many = Array.from({ length: 20 }, (_, n) => record(`N${n}`));
    // Each has a critical change and another one.
    const later = many.map((each) => ({ ...each, status: "cancelled", eligibility: { requirements: "Anybody" } }));
    const message = await messageAfter(many, later, { status: ["open"] });
    expect(message.data.counts).toEqual({ new: 0, changed: 40, due: 0, left: 20 });
    expect(digestOf(message, EASTERN).sections.map(({ heading }) => heading)).toEqual(["Critical changes", "Changes"]);
    expect(lastsOf(message)).toEqual(["_and 12 more changes_", "_and 12 more changes_", "_and 4 more; 8 others are above, with a change_"]);
  });

  test("shows what left with the change that caused it, and only once", async () => {
    const message = await messageAfter([record("1")], [record("1", { status: "cancelled" })], { status: ["open"] });
    const { subject, sections } = digestOf(message, EASTERN);
    expect(subject).toBe("q: 1 critical change, 1 no longer matching");
    expect(sections).toHaveLength(1);
    expect(sections[0]?.entries[0]?.facts).toEndWith(" · cancelled · due May 1, 2026 · no longer matches");
  });

  test("shows what is new only as new, though it changed since a search was saved that the index did not find it by yet", async () => {
    const { take, db, index, file, clock, run, received } = await aWatched();
    await take([record("1", { status: "forecasted" }), record("2")]);
    await catchUp(db, index);
    clock.now += SECOND;
    await take([record("1"), record("2")]);
    const definition = aDefinition({ receiver, filter: { status: ["open"] } });
    const matched = await matchingIds(db, index, definition, clock.now); // Of an index that lacks the last import.
    await addWatch(file, "q", [definition], { at: clock.now, feed: await latestPosition(db), matched });
    clock.now += SECOND;
    const dates = { closes_at: "2026-05-12T02:00:00Z" };
    await take([record("1", { dates }), record("2", { dates })]);
    await run();
    expect(received.map(({ data }) => data.counts)).toEqual([{ new: 1, changed: 1, due: 0, left: 0 }]);
    const [message] = received;
    const items = message?.data.events.map(({ kind, opportunity }) => [
      kind,
      opportunity.source.opportunity_id,
      opportunity.dates.closes_at,
    ]);
    expect(items).toEqual([
      ["changed", "2", dates.closes_at],
      ["new", "1", dates.closes_at],
    ]);
    await run();
    expect(received).toHaveLength(1);
  });

  test("says what changed before and after, with dates in the zone of the reader", async () => {
    const message = await messageAfter([record("1")], [record("1", { dates: { closes_at: "2026-05-12T02:00:00Z" } })]);
    expect(digestOf(message, EASTERN).sections[0]?.entries[0]?.changes).toEqual([
      "deadline moved from May 1 to May 11, 2026 (10 days later)",
    ]);
    expect(digestOf(message, "Asia/Tokyo").sections[0]?.entries[0]?.changes).toEqual([
      "deadline moved from May 2 to May 12, 2026 (10 days later)",
    ]);
  });
});

describe("hostile text", () => {
  const hostile = '<script>alert(1)</script> & "x" <!channel> *bold* \u202e\u0007 [a](javascript:b)';
  const message = () =>
    messageAfter([], [record("1", { title: hostile, source: { code: "OWN", opportunity_id: "1", url: "javascript:alert(1)" } })]);

  test("is only text in mail", async () => {
    const { html, text } = mailOf([{ message: await message(), zone: EASTERN }]);
    expect(html).not.toMatch(/<script|javascript:alert|<!channel/);
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;");
    for (const each of [html, text]) expect(each).not.toMatch(/[\u0007\u202e]/);
    expect(html).not.toMatch(/(src|href)="(?!https:\/\/example\.gov)/); // Nothing is loaded from anywhere.
  });

  test("is only text in Slack", async () => {
    const { text, blocks } = slackMessage(await message(), EASTERN);
    for (const each of [text, JSON.stringify(blocks)]) {
      expect(each).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp;");
      expect(each).not.toMatch(/<!channel>|<script|<javascript/);
    }
  });
});

describe("a message for Teams", () => {
  test("is an adaptive card with the title as a link and the changes as a list", async () => {
    const message = await messageAfter([record("1")], [record("1", { status: "cancelled" })]);
    const [{ contentType = "", content } = {}] = teamsMessage(message, EASTERN).attachments;
    expect(contentType).toBe("application/vnd.microsoft.card.adaptive");
    expect(content).toMatchObject({ type: "AdaptiveCard", version: "1.4" });
    expect(content?.body.map(({ text }) => text)).toEqual([
      "q: 1 critical change",
      "Critical changes",
      "**[Title 1](https://example.gov/1)**\n\n- status changed from open to cancelled",
      "Department of Energy · cancelled · due May 1, 2026",
    ]);
  });

  test("keeps the limit of Teams, and says that more is not shown", async () => {
    const long = Array.from({ length: 120 }, (_, n) => record(`N${n}`, { title: `${n} ${"*é".repeat(900)}` }));
    const card = teamsMessage(await messageAfter([], long), EASTERN);
    expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(28_000);
    expect(card.attachments[0]?.content.body.at(-1)?.text).toContain("more");
  });

  test("has hostile text as text only", async () => {
    const title = "<at>all</at> [a](javascript:b) *bold* `c`";
    const text = JSON.stringify(teamsMessage(await messageAfter([], [record("1", { title })]), EASTERN));
    expect(text).not.toMatch(/[^\\](<at>|\[a\]\(javascript)/);
  });
});

describe("a message for Slack", () => {
  test("keeps Slack's limits, and says how much is not shown", async () => {
    const long = Array.from({ length: 120 }, (_, n) =>
      record(`N${n}`, { title: `${n} ${"&".repeat(900)}`, eligibility: { requirements: "a" } }),
    );
    const { text, blocks } = slackMessage(await messageAfter([], long), EASTERN);
    expect(blocks.length).toBeLessThanOrEqual(50);
    for (const block of blocks) expect(block.text.text.length).toBeLessThanOrEqual(block.type === "header" ? 150 : 3000);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(blocks.at(-1)?.text.text).toBe("_and 112 more_");
    expect(JSON.stringify(blocks)).not.toMatch(/&(amp?)?…/); // Never cut within an escape.
  });

  test("links the title, and lists the changes", async () => {
    const message = await messageAfter([record("1")], [record("1", { status: "cancelled" })]);
    expect(slackMessage(message, EASTERN)).toEqual({
      text:
        "*q: 1 critical change*\n:rotating_light: *Critical changes*\n<https://example.gov/1|Title 1>\n• status changed from open to cancelled\n" +
        "Department of Energy · cancelled · due May 1, 2026",
      blocks: [
        { type: "header", text: { type: "plain_text", text: "q: 1 critical change" } },
        { type: "section", text: { type: "mrkdwn", text: ":rotating_light: *Critical changes*" } },
        {
          type: "section",
          text: { type: "mrkdwn", text: expect.stringMatching(/^<https:\/\/example\.gov\/1\|Title 1>\n• status changed/) },
        },
      ],
    });
  });
});

test("a mail says why the reader gets it, and lines of its text are short", async () => {
  const message = await messageAfter([record("1")], [record("1", { status: "cancelled", title: "Long ".repeat(60).trim() })], {
    agency: ["energy"],
  });
  const { text, html } = mailOf([{ message, zone: EASTERN }]);
  expect(text).toContain(
    '-- \nYou get this because of the watch "q" of fundfeed: agency: Department of\nEnergy (DOE) and its agencies.\nDates are in Eastern time.\n',
  );
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(78);
  expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1"/>');
});

test("a mail leads to the pages of the server, if it has any", async () => {
  const message = await messageAfter([], [record("1")]);
  const [id] = message.data.events.map(({ opportunity }) => opportunity.id);
  const { text, html } = mailOf([{ message, zone: EASTERN }], "https://funding.example.org");
  for (const part of [text, html]) {
    expect(part).toContain(`https://funding.example.org/opportunities/${id}`);
    expect(part).toContain("https://example.gov/1");
  }
  expect(mailOf([{ message, zone: EASTERN }]).text).not.toContain("History:");
});

test("a mail has the colors of the pages", async () => {
  const { html } = mailOf([{ message: await messageAfter([], [record("1")]), zone: EASTERN }], "https://funding.example.org");
  const colors = html.match(/#[0-9a-f]{6}/g) ?? [];
  const sheets = ["src/http/base.css", "src/browse/style.css"]
    .map((path) => readFileSync(join(import.meta.dir, "../..", path), "utf8"))
    .join("");
  expect(colors.length).toBeGreaterThan(5);
  expect(colors.filter((color) => !sheets.includes(color))).toEqual([]);
});
