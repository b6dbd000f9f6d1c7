/** One moment means the same wherever a person writes it, or is refused with the same sentence. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { AHEAD, AS_OF, FIXED, isRelativeMoment, type MomentField, PAST, readMoment, SINCE } from "../../src/text/moment.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";

setDefaultTimeout(300_000);

/** Sunday, March 1, 2026, 7 in the morning in US Eastern time. */
const now = NOON;

const read = (text: unknown, field: MomentField, at = now) => {
  try {
    const moment = readMoment(text, at, field);
    return moment === "all" ? moment : new Date(moment).toISOString();
  } catch (error) {
    return (error as Error).message;
  }
};

test.each([
  ["7d", "2026-02-22T12:00:00.000Z", "2026-03-08T12:00:00.000Z"],
  ["-7d", "2026-02-22T12:00:00.000Z", "2026-02-22T12:00:00.000Z"],
  ["+7d", "2026-03-08T12:00:00.000Z", "2026-03-08T12:00:00.000Z"],
  ["12H", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"],
  ["2w", "2026-02-15T12:00:00.000Z", "2026-03-15T12:00:00.000Z"],
  ["0d", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000Z"],
  ["yesterday", "2026-02-28T05:00:00.000Z", "2026-02-28T05:00:00.000Z"],
  [" Today ", "2026-03-01T05:00:00.000Z", "2026-03-01T05:00:00.000Z"],
  ["tomorrow", "2026-03-02T05:00:00.000Z", "2026-03-02T05:00:00.000Z"],
  ["monday", "2026-02-23T05:00:00.000Z", "2026-03-02T05:00:00.000Z"],
  ["Sunday", "2026-03-01T05:00:00.000Z", "2026-03-08T05:00:00.000Z"],
  ["2026-12-31", "2026-12-31T05:00:00.000Z", "2026-12-31T05:00:00.000Z"],
  ["2026-03-01t12:00:00+01:00", "2026-03-01T11:00:00.000Z", "2026-03-01T11:00:00.000Z"],
])("%s is %s for what has happened and %s for what may lie ahead", (text, past, ahead) => {
  expect([read(text, PAST), read(text, AHEAD)]).toEqual([past, ahead]);
});

test("a day begins at midnight Eastern time, also when daylight saving time begins between", () => {
  for (const at of ["2026-03-01T05:00:00Z", "2026-03-01T12:00:00Z", "2026-03-02T04:59:59Z"])
    expect(["yesterday", "today", "tomorrow"].map((day) => read(day, PAST, Date.parse(at)))).toEqual([
      "2026-02-28T05:00:00.000Z",
      "2026-03-01T05:00:00.000Z",
      "2026-03-02T05:00:00.000Z",
    ]);
  expect(read("sunday", AHEAD, Date.parse("2026-03-08T20:00:00Z"))).toBe("2026-03-15T04:00:00.000Z");
  expect(read("saturday", PAST, Date.parse("2026-03-08T20:00:00Z"))).toBe("2026-03-07T05:00:00.000Z");
});

test("a field takes the forms that it declares", () => {
  expect(read("all", SINCE)).toBe("all");
  expect(read("all", AS_OF)).toBe(
    "must be a time ago such as 7d or 12h, yesterday, today, a weekday such as monday, a date such as 2026-12-31, or an RFC 3339 timestamp",
  );
  expect(read("7d", FIXED)).toBe("must be a date such as 2026-12-31 or an RFC 3339 timestamp");
  for (const text of ["", "in 3 days", "7", "7m", "--7d", "100000d", "mon", "2026-02-29", "2026-13-01", "20260301", "now", 7, null, ["7d"]])
    expect(read(text, AHEAD)).toStartWith(
      "must be a time from now such as 30d or -7d, yesterday, today, tomorrow, a weekday such as monday, ",
    );
  for (const text of ["tomorrow", "+1h", "2026-03-02"]) expect(read(text, AS_OF)).toBe("must be in the past, and this is still to come");
  expect(["7d", "-2H", "monday", "today", "2026-03-01", "all"].map(isRelativeMoment)).toEqual([true, true, true, true, false, false]);
});

let data = "";
let site: BrowsedSite;
let mcp: McpClient;

beforeAll(async () => {
  data = aDirectory();
  const record = { source: { code: "OWN", opportunity_id: "N1" }, title: "Title" };
  await fundfeed(["import", "records", aFile([record]), "--data", data], {}, () => now - 365 * DAY);
  site = await browsed(data, now);
  mcp = await connectMcp(["--data", data], { now });
});
afterAll(async () => {
  await site.stop();
  await mcp.close();
  expect(site.failures).toEqual([]);
  dropScratch();
});

const run = (...args: string[]) => fundfeed([...args, "--data", data], {}, () => now);
const get = async (path: string) => (await fetch(site.origin + path)).text();

/** What an answer says of a moment: which one was understood, or what it must be. */
function saidIn(answer: string, understood: RegExp): string | undefined {
  const text = answer.replaceAll("&quot;", '"');
  return (/must be [^."<\\]*/.exec(text) ?? understood.exec(text)?.slice(1))?.[0];
}

const texts = ["7d", "-7d", "+7d", "12h", "yesterday", "monday", "2026-03-01", "2026-02-01T00:00:00Z", "all", "2026-13-01", "in 3 days"];
const ALL_REFUSED = ["all", "2026-13-01", "in 3 days"];

test.each(["posted", "closes"].flatMap((verb) => texts.map((text) => [verb, text] as const)))(
  "what was %s after %s",
  async (verb, text) => {
    const [option, name] = [[`--${verb}-after`, text], `${verb}_after`];
    const query = `${name}=${encodeURIComponent(text)}`;
    const watch = `${verb}-${texts.indexOf(text)}`;
    const words = new RegExp(`${verb} after ([^";<\\n\\\\]*)`);
    const cli = async (...args: string[]) => Object.values(await run(...args)).join("\n");
    const said = {
      find: saidIn(await cli("find", ...option, "--json"), words),
      changes: saidIn(await cli("changes", ...option, "--json"), words),
      watch: saidIn(await cli("watch", "add", watch, "--to", "stdout", ...option), words),
      page: saidIn(await get(`/?${query}`), words),
      feed: saidIn(await get(`/changes.json?${query}`), words),
      mcp: saidIn((await mcp.call("find", { [name]: text })).text, words),
    };
    const isRefused = ALL_REFUSED.includes(text);
    expect(said.find).toStartWith(isRefused ? "must be a time " : /\d{4}-/.test(text) ? text : "");
    if (!isRefused && !/\d{4}-/.test(text)) expect(said.find).toMatch(/^[A-Z][a-z]{2} \d+, 2026, .*\(.*\)$/);
    if (text === "7d") expect(said.find).toStartWith(verb === "posted" ? "Feb 22, 2026, " : "Mar 8, 2026, ");
    expect(new Set(Object.values(said))).toEqual(new Set([said.find]));
  },
);

test.each([...texts, "tomorrow"])("how it was as of %s", async (text) => {
  const { out, err } = await run("show", "N1", "--as-of", text, "--json");
  const { id } = JSON.parse((await run("show", "N1", "--json")).out);
  const instant = /(?:"as_of": ?"|As of |As it was on <time dateTime=")(20\d\d-\d\d-\d\dT[^"\s.]*)/;
  const said = {
    show: saidIn(out + err, instant),
    mcp: saidIn((await mcp.call("get", { id, as_of: text })).text, instant),
    page: saidIn(await get(`/opportunities/${id}?as_of=${encodeURIComponent(text)}`), instant),
  };
  expect(said.show).toMatch(/^must be|^20/);
  expect(said).toEqual({ show: said.show, mcp: said.show, page: said.show });
});

test.each([...texts, "tomorrow"])("what changed since %s", async (text) => {
  const { out, err } = await run("changes", "--since", text, "--at-least", "noise");
  const words = /(?:changes? since|detected after) ([A-Z][^,]*, \d{4}, [^,;]*? UTC|the beginning)/i;
  const said = {
    changes: saidIn(out.replaceAll("\n", " ") + err, words),
    mcp: saidIn((await mcp.call("what_changed", { since: text, at_least: "noise" })).text, words),
  };
  const query = `since=${encodeURIComponent(text)}&at_least=noise`;
  const feed = await get(`/changes.json?${query}`);
  const json = (await run("changes", "--since", text, "--at-least", "noise", "--json")).out || "{}";
  expect(JSON.parse(feed).since).toEqual(JSON.parse(json).since);
  expect([saidIn(feed, /x^/), saidIn(await get(`/changes?${query}`), /x^/)]).toEqual(Array(2).fill(saidIn(out + err, /x^/)));
  if (text === "all") expect(said).toEqual({ changes: "the beginning", mcp: undefined });
  else expect(said).toEqual({ changes: expect.stringMatching(/^must be|UTC$/), mcp: said.changes });
});
