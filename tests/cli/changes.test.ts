/** What `changes` prints, of two dates of Grants.gov and of records that a test makes up. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { insignificant, type OpportunityEvent, type Severity, severities } from "../../src/events/event.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { ESC, fundfeed, machineOf, withoutColors } from "../support/command-line.ts";
import { copyCatalog } from "../support/engines.ts";
import { takeGrantsGovDates } from "../support/grants-gov-dates.ts";
import { aCatalog, aDirectory, DAY, dropScratch, NOON, SECOND } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const NOW = Date.parse("2026-08-04T12:00:00Z");

type Row = { event: OpportunityEvent; opportunity: Opportunity };

let data: string;
let all: Row[];

/** A catalog of two dates of Grants.gov, in a directory. */
beforeAll(async () => {
  data = aDirectory();
  const db = openCatalog(data, NOON);
  await takeGrantsGovDates(db);
  const rows = await db.all(
    rawSql<{ event: Uint8Array; opportunity: Uint8Array }>(
      `select events.document as event, opportunities.document as opportunity
       from events join opportunities on opportunities.seq = opportunity_seq order by detected_at, events.seq`,
    ),
  );
  const parse = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString());
  all = rows.map(({ event, opportunity }) => ({ event: parse(event), opportunity: parse(opportunity) }));
  await db.close();
});

/** A run of `changes` on a day after the last import, on a terminal of some width. */
const changesAt = (columns: number | undefined, args: readonly string[], place: readonly string[] = ["--data", data], now = NOW) =>
  fundfeed(["changes", ...args, ...place], {}, () => now, columns);
const changes = (...args: readonly string[]) => changesAt(undefined, args);
const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");
const idsOf = (ndjson: string) => linesOf(ndjson).map((line) => JSON.parse(line).id as string);
/** "Imported: … ago" depends on when the test runs. */
const withoutFreshness = (text: string) => text.replace(/\nImported: [\s\S]*/, "\n");

describe("the table", () => {
  test.each([80, 140])("of %i columns says what changed, by day and opportunity", async (columns) => {
    const { code, out, err } = await changesAt(columns, ["--since", "2026-08-01", "--at-least", "material"]);
    expect([code, err]).toEqual([0, ""]);
    expect(withoutFreshness(withoutColors(out))).toMatchSnapshot();
    expect(out).toContain("deadline moved from ");
    expect(out).toContain(`${ESC}[31mcritical`);
    for (const line of withoutColors(out).split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  test.each([40, 80, 200])("keeps to %i columns whatever it shows", async (columns) => {
    const { out } = await changesAt(columns, ["--since", "all", "--at-least", "noise", "--limit", "100000"]);
    expect(out.match(/^\d\d:\d\d/gm)?.length).toBeGreaterThan(100);
    for (const line of withoutColors(out).split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  test("has no colors where there is no terminal, and shows the newest 50", async () => {
    const { out } = await changes("--since", "all");
    expect(out).not.toContain(ESC);
    expect(out).toContain("\n50 changes since the beginning, informational or more; older ones are not shown:\n--limit shows more\n");
  });

  test("says what was looked for if there is nothing", async () => {
    const { out } = await changes("--since", "1h", "--status", "open");
    expect(out).toStartWith("No changes since Aug 4, 2026, 11:00 AM UTC, informational or more; status open\nImported: GRANTS_GOV ");
    const period = await changes("--since", "3h", "--until", "2h", "--type", "date_changed,status_changed");
    expect(period.out).toStartWith(
      "No changes since Aug 4, 2026, 9:00 AM UTC until Aug 4, 2026, 10:00 AM UTC,\ninformational or more; type date_changed, status_changed\nImported: ",
    );
  });
});

test("every format has the same events", async () => {
  const expected = all.filter(({ event }) => !insignificant.includes(event.severity as Severity)).map(({ event }) => event.id);
  expect(expected.length).toBeGreaterThan(100);
  expect(idsOf((await changes("--since", "all", "--format", "ndjson")).out)).toEqual(expected);

  const json = JSON.parse((await changes("--since", "all", "--json")).out);
  expect(json.data.map(({ id }: { id: string }) => id)).toEqual(expected);
  expect(json).toMatchObject({ since: null, until: null, at_least: "informational", types: null, filter: {}, has_more: false });
  expect(json.sources).toEqual([
    {
      source: "GRANTS_GOV",
      last_import_at: expect.any(String),
      age_seconds: expect.any(Number),
      known_until: expect.any(String),
      known_on: "2026-08-03",
      is_silent: false,
      silent_since: null,
    },
  ]);
  expect(JSON.parse((await changes("--since", "1h", "--json")).out).data).toEqual([]);

  const csv = (await changes("--since", "all", "--format", "csv", "--bom")).out;
  expect(csv).toStartWith("\ufeffdetected_at,severity,type,change,changed_fields,number,title,status,source,");
  expect(linesOf(csv).flatMap((line) => /,([0-9a-f-]{36}),[0-9a-f-]{36},,[^,]*,[^,]*\r$/.exec(line)?.[1] ?? [])).toEqual(expected);

  const markdown = (await changes("--since", "all", "--format", "md")).out;
  expect(linesOf(markdown).filter((line) => line.startsWith("  - "))).toHaveLength(expected.length);

  const atom = (await changes("--since", "all", "--format", "atom", "--limit", "100000")).out;
  expect([...atom.matchAll(/<entry>\s*<id>urn:uuid:(.*)<\/id>/g)].map(([, id]) => id)).toEqual(expected.toReversed());
});

/** Offices of the Department of Energy. One does not have it in its name. */
const OF_ENERGY = /energy|idaho field office/i;

describe("the choice of events", () => {
  const rank = (severity: string) => severities.indexOf(severity as Severity);
  test.each<[string[], (row: Row) => boolean]>([
    [["--at-least", "noise"], () => true],
    [["--at-least", "critical"], ({ event }) => rank(event.severity) >= rank("critical")],
    [["--type", "date_changed,funding_changed", "--type", "status_changed"], ({ event }) => /^(date|funding|status)_/.test(event.type)],
    [["--agency", "energy"], ({ opportunity }) => OF_ENERGY.test(opportunity.organization.agency ?? "")],
    [["--status", "forecast"], ({ opportunity }) => opportunity.status === "forecast"],
    [["--words", "research"], ({ opportunity }) => /\bresearch\b/i.test(JSON.stringify(opportunity))],
    [["--since", "2026-08-01"], ({ event }) => event.detected_at > "2026-08-01T04:00"],
    [["--since", "2026-07-26T13:40:14Z"], ({ event }) => event.detected_at > "2026-07-26T13:40:14.000Z"],
    [["--until", "2026-07-26T13:40:14Z"], ({ event }) => event.detected_at <= "2026-07-26T13:40:14.000Z"],
    [["--since", "monday"], ({ event }) => event.detected_at > "2026-08-03T04:00"],
    [
      ["--since", "Wednesday", "--until", "yesterday"],
      ({ event }) => /^2026-(07-29T0[4-9]|07-29T[12]|07-3|08-0[12]|08-03T0[0-3])/.test(event.detected_at),
    ],
    [["--since", "3d"], ({ event }) => Date.parse(event.detected_at) > NOW - 3 * DAY],
    [
      ["--since", "30d", "--until", "9d"],
      ({ event }) => Date.parse(event.detected_at) > NOW - 30 * DAY && Date.parse(event.detected_at) <= NOW - 9 * DAY,
    ],
  ])("%j", async (args, isWanted) => {
    const given = args.includes("--since") ? args : ["--since", "all", ...args];
    const severity = args.includes("--at-least") ? [] : ["--at-least", "noise"];
    const { out } = await changes(...severity, ...given, "--format", "ndjson");
    const expected = all.filter(isWanted).map(({ event }) => event.id);
    if (args[0] === "--words") expect(expected).toEqual(expect.arrayContaining(idsOf(out)));
    else expect(idsOf(out)).toEqual(expected);
    expect(idsOf(out).length).toBeGreaterThan(0);
  });

  test("with --limit has the newest, the oldest of them first", async () => {
    const newest = async (limit: number) => {
      const { out, err } = await changes("--since", "all", "--at-least", "noise", "--limit", `${limit}`, "--format", "ndjson");
      expect(idsOf(out)).toEqual(all.slice(-limit).map(({ event }) => event.id));
      return err;
    };
    const more = " changes since the beginning, noise or more; older ones are not shown: --limit shows more\n";
    expect(await newest(7)).toBe(`7${more}`);
    expect(await newest(all.length - 1)).toBe(`${all.length - 1}${more}`);
    expect(await newest(all.length)).toBe("");
  });
});

describe("usage errors", () => {
  test.each([
    [
      "--since mon",
      "It must be a time ago such as 7d or 12h, yesterday, today, a weekday such as monday, a date such as 2026-12-31, an RFC 3339 timestamp, or all.",
    ],
    ["--type date_change", '; not "date_change" (did you mean "date_changed"?).'],
    ["--at-least unknown", "Allowed choices are noise, cosmetic, informational, material, critical."],
    ["--follow --json", "error: --follow cannot print json, which has an end; use --format ndjson"],
    ["--follow --format atom", "error: --follow cannot print atom, which has an end; use --format ndjson"],
    ["--follow -o x", "error: --follow prints on standard output; leave out --output"],
    ["--follow --limit 3", "error: --follow has no end; leave out --limit"],
    ["--cursor-file x --format atom", "error: --format atom shows a whole period; leave out --cursor-file"],
    ["--cursor-file x --until 3d", "error: --follow and --cursor-file skip nothing; leave out --until"],
    ["--bom", "error: --bom needs --format csv"],
    ["--feed-url https://example.org", "error: --feed-url needs --format atom"],
    ["--feed-url ftp://x", "It must be an http or https URL without credentials, such as https://example.org/feed.xml."],
  ])("%s", async (line, message) => {
    const { code, err } = await changes(...line.split(" "));
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  test("a source that the catalog does not know is named", async () => {
    const { code, err } = await changes("--source", "GRANTSGOV");
    expect([code, err]).toEqual([1, expect.stringContaining("GRANTS_GOV")]);
  });
});

describe("--output", () => {
  test.each([[["--since", "all"]], [["--since", "all", "--cursor-file", "CURSOR"]]])(
    "a signal leaves the earlier file and nothing of the new one, with %j",
    async (args) => {
      const directory = aDirectory();
      const path = join(directory, "changes.ndjson");
      writeFileSync(path, "earlier");
      const told: string[] = [];
      const given = args.map((each) => each.replace("CURSOR", join(aDirectory(), "cursor")));
      const run = (onStopSignal: (stop: () => void) => void) =>
        runCommandLine(["changes", ...given, "--format", "ndjson", "-o", path, "--data", data], {
          ...machineOf({}, { printLine: () => undefined, printError: (text) => void told.push(text) }),
          now: () => NOW,
          onStopSignal,
        });
      expect(await run((stop) => stop())).toBe(1);
      expect([told, readdirSync(directory)]).toEqual([[`Cannot write ${path}: it was stopped`], ["changes.ndjson"]]);
      expect(readFileSync(path, "utf8")).toBe("earlier");
      expect(await run(() => undefined)).toBe(0);
      expect(readFileSync(path, "utf8")).toBe((await changes("--since", "all", "--format", "ndjson")).out);
    },
  );

  test("replaces the file as a whole, readable to all for Atom and only to the owner otherwise", async () => {
    const path = join(aDirectory(), "out");
    const modeOf = (file: string) => statSync(file).mode & 0o777;
    for (const [format, mode] of [
      ["atom", 0o644],
      ["ndjson", 0o600],
      ["json", 0o600],
      ["table", 0o600],
    ] as const) {
      const file = `${path}.${format}`;
      const { code, out } = await changes("--since", "all", "--format", format, "-o", file);
      expect([code, out, modeOf(file)]).toEqual([0, "", mode]);
      expect(withoutFreshness(readFileSync(file, "utf8")).length).toBeGreaterThan(1000);
    }
    expect(readFileSync(`${path}.ndjson`, "utf8")).toBe((await changes("--since", "all", "--format", "ndjson")).out);
    expect(readdirSync(dirname(path))).toHaveLength(4);
  });

  test("leaves a file with the same content alone, so that its time says when it changed", async () => {
    const path = join(aDirectory(), "feed.xml");
    const write = () => changes("--since", "all", "--format", "atom", "-o", path);
    const stateOf = () => {
      const { ino, mtimeNs } = statSync(path, { bigint: true });
      return { ino, mtimeNs };
    };
    await write();
    const before = stateOf();
    await write();
    expect(stateOf()).toEqual(before);
    writeFileSync(path, readFileSync(path, "utf8").replace("Changes", "changes"));
    await write();
    expect(stateOf()).not.toEqual(before);
    expect(readFileSync(path, "utf8")).toContain("<title>Changes of");
  });

  test("leaves the old file in place if the command fails", async () => {
    const path = join(aDirectory(), "feed.xml");
    writeFileSync(path, "old");
    const { code } = await changesAt(undefined, ["--format", "atom", "-o", path, "--source", "NOPE"]);
    expect([code, readFileSync(path, "utf8"), readdirSync(dirname(path))]).toEqual([1, "old", ["feed.xml"]]);
    expect((await changes("--format", "atom", "-o", join(path, "x"))).err).toStartWith(`Cannot write ${join(path, "x")}: `);
    mkdirSync(join(dirname(path), "taken"));
    const taken = await changes("--since", "all", "--format", "atom", "-o", join(dirname(path), "taken"));
    expect([taken.code, taken.err]).toEqual([1, expect.stringContaining("Cannot write ")]);
    expect(readdirSync(dirname(path)).toSorted()).toEqual(["feed.xml", "taken"]);
  });
});

describe("hostile text", () => {
  const title = `A\u001b[31m \u202e${"<script>"} &amp; | * ] \n## B\u0000\r\u0085\u2028 =1+1 \ud83d\ude80`.replace("\u0000", "");
  let place: string[];
  beforeAll(async () => {
    const directory = aDirectory();
    const db = openCatalog(directory, NOON);
    const { take, clock } = await aCatalog(db);
    const record = { source: { code: "OWN", opportunity_id: "N\u202e1", url: "javascript:alert(1)" }, title };
    expect(await take([record])).toMatchObject({ added: 1 });
    clock.now += SECOND;
    const url = "https://example.org/a(b)\u001b[31m\u202e<x>";
    await take([{ ...record, source: { ...record.source, url }, title: `=${title}`, organization: { agency: `\u009b${title}` } }]);
    await db.close();
    place = ["--data", directory];
  });

  test.each(["table", "json", "ndjson", "csv", "md", "atom"])("is harmless in %s", async (format) => {
    const { code, out } = await changesAt(undefined, ["--since", "all", "--format", format, "--at-least", "noise"], place, NOON + DAY);
    expect(code).toBe(0);
    expect(out).toContain("\\u202e");
    expect(out.replaceAll("\r\n", "\n")).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]/);
    if (format === "csv") expect(out).toContain("'=A");
    if (format === "md") expect(out).not.toMatch(/^## B|(?<!\\)<script>|\]\(javascript|(?<!\\)&amp;/m);
    if (format === "md") expect(out).toContain("](https://example.org/a%28b%29%1B[31m%E2%80%AE%3Cx%3E)");
    if (format === "atom") expect(out).not.toMatch(/<script|href="javascript|<content type="html">((?!<\/content>).)*&lt;script/);
  });
});

describe("--cursor-file", () => {
  /** A catalog of its own, and a cursor file. */
  async function aFeed() {
    const directory = aDirectory();
    const db = openCatalog(directory, NOON);
    const catalog = await aCatalog(db);
    const cursor = join(aDirectory(), "cursor");
    const run = async (...args: string[]) => {
      const format = args.includes("--format") ? [] : ["--format", "ndjson"];
      const { code, out, err } = await changesAt(
        undefined,
        ["--cursor-file", cursor, ...format, ...args],
        ["--data", directory],
        catalog.clock.now,
      );
      return { code, err, titles: code === 0 ? linesOf(out).map((line) => JSON.parse(line).opportunity.title as string) : [] };
    };
    const add = (...titles: string[]) => {
      catalog.clock.now += SECOND;
      return catalog.take(titles.map((title) => ({ source: { code: "OWN", opportunity_id: title }, title })));
    };
    return { ...catalog, directory, cursor, run, add };
  }

  test("continues where the last run ended, also with histories from long ago", async () => {
    const { run, add, takeEvents, cursor } = await aFeed();
    await add("one", "two");
    expect((await run()).titles).toEqual(["one", "two"]);
    expect(statSync(cursor).mode & 0o777).toBe(0o600);
    expect((await run()).titles).toEqual([]);
    await add("three");
    await takeEvents([
      { source: { code: "OWN", opportunity_id: "one" }, type: "date_changed", severity: "material", detected_at: "2001-01-01T00:00:00Z" },
    ]);
    expect((await run("--limit", "1")).titles).toEqual(["three"]);
    expect((await run()).titles).toEqual(["one"]);
  });

  test("begins its first run at --since, and remembers that although nothing was there", async () => {
    const { run, add, clock } = await aFeed();
    await add("one");
    clock.now += 30 * DAY;
    expect((await run()).titles).toEqual([]);
    await add("two");
    clock.now += 30 * DAY;
    expect((await run()).titles).toEqual(["two"]);
    const other = await aFeed();
    await other.add("one");
    other.clock.now += 30 * DAY;
    expect((await other.run("--since", "all")).titles).toEqual(["one"]);
    const empty = await aFeed();
    expect((await empty.run()).titles).toEqual([]);
    await empty.add("one");
    empty.clock.now += 30 * DAY;
    expect((await empty.run()).titles).toEqual(["one"]);
  });

  test("does not move if the output cannot be written", async () => {
    const { run, add, cursor } = await aFeed();
    await add("one");
    expect((await run("-o", join(cursor, "x"))).code).toBe(1);
    expect((await run()).titles).toEqual(["one"]);
    await add("two");
    const out = join(aDirectory(), "out.json");
    expect(await run("--format", "json", "-o", out)).toMatchObject({ code: 0, titles: [] });
    expect(JSON.parse(readFileSync(out, "utf8")).data).toHaveLength(1);
    expect((await run()).titles).toEqual([]);
  });

  test.each(["", "{}", "[]", "null", '{"catalog":"x"}', '{"catalog":"x","position":{"seq":"1","id":"x"}}', '{"catalog":"x","position":7}'])(
    "refuses a damaged file: %s",
    async (content) => {
      const { run, add, cursor } = await aFeed();
      await add("one");
      writeFileSync(cursor, content);
      const { code, err } = await run();
      expect([code, err]).toEqual([
        2,
        `error: option '--cursor-file <file>' argument '${cursor}' is invalid. It must be a whole cursor file; put it back from a backup, or delete it to start again.\n(see --help)\n`,
      ]);
      expect(readFileSync(cursor, "utf8")).toBe(content);
    },
  );

  test("refuses a file of another catalog, and one from before a restore", async () => {
    const [one, other] = [await aFeed(), await aFeed()];
    await one.add("one");
    await one.run();
    await other.add("one");
    writeFileSync(other.cursor, readFileSync(one.cursor));
    expect(await other.run()).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        `'--cursor-file <file>' argument '${other.cursor}' is invalid. It must be of this catalog; use one cursor`,
      ),
    });

    const restored = await aFeed();
    await copyCatalog(one.db, restored.db);
    await one.add("two");
    await one.run();
    writeFileSync(restored.cursor, readFileSync(one.cursor));
    const lost = `Cannot continue from ${restored.cursor}: the catalog does not have the event there: it was replaced by another one, or by a backup. Delete the file to start again from --since\n`;
    expect(await restored.run()).toMatchObject({ code: 1, err: lost });
    restored.clock.now += DAY;
    await restored.add("three"); // In the same place as "two".
    expect(await restored.run()).toMatchObject({ code: 1, err: lost });
  });
});
