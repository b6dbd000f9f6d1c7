/** The calendar of deadlines, read with ical.js. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import ICAL from "ical.js";
import { openCatalog } from "../../db/sqlite/open.ts";
import { type CalendarEntry, calendarOf } from "../../src/feed/icalendar.ts";
import type { Draft } from "../../src/import/format.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, DAY, dropScratch, NOON, SECOND } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const anEntry: CalendarEntry = {
  uid: "one@fundfeed",
  revision: 2,
  changed_at: NOON,
  due_at: NOON + DAY,
  isTentative: false,
  isCancelled: false,
  title: "Due: One",
  description: ["N1", "https://example.org/1"],
  url: "https://example.org/1",
};

/** What a calendar shows of each event. Throws if the text is no iCalendar. */
function eventsIn(text: string) {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents("vevent").map((component) => {
    const event = new ICAL.Event(component);
    const { uid, sequence, summary, startDate } = event;
    const start = startDate.isDate ? startDate.toString() : startDate.toJSDate().toISOString();
    return { uid, sequence, summary, start, status: `${component.getFirstPropertyValue("status")}` };
  });
}

describe("a calendar", () => {
  test("has the texts that it was given, whatever they are", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 });
    const ofText = fc.array(fc.oneof(text, fc.constantFrom("\\", ";", ",", "\r\n", "é", "🚀", "\\n", ":", '"')), { maxLength: 60 });
    fc.assert(
      fc.property(ofText, ofText, (title, words) => {
        const [summary, description] = [title.join(""), words.join("")];
        const document = calendarOf(summary, [{ ...anEntry, title: summary, description: [description, "end"] }]);
        for (const line of document.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
        expect(document).not.toMatch(/[^\r]\n|\r[^\n]|[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
        const calendar = new ICAL.Component(ICAL.parse(document));
        const [event] = calendar.getAllSubcomponents("vevent");
        expect(event?.getFirstPropertyValue("summary")).toBe(plain(summary));
        expect(event?.getFirstPropertyValue("description")).toBe(plain(`${description}\nend`));
      }),
      { numRuns: 100 },
    );
  });

  /** What RFC 5545 can write: line ends are all the same, and other control characters are blanks. */
  function plain(text: string): string {
    return text
      .toWellFormed()
      .replace(/\r\n?/g, "\n")
      .replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, " ");
  }

  test("asks its client to come back, and has nothing else than a name before the first event", () => {
    expect(calendarOf("All; of it", []).split("\r\n")).toEqual([
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//fundfeed//deadlines//EN",
      "CALSCALE:GREGORIAN",
      "METHOD:PUBLISH",
      "NAME:All\\; of it",
      "X-WR-CALNAME:All\\; of it",
      "REFRESH-INTERVAL;VALUE=DURATION:PT6H",
      "X-PUBLISHED-TTL:PT6H",
      "END:VCALENDAR",
      "",
    ]);
  });

  test.each([
    ["a whole day for the last second of an Eastern day in winter", "2026-12-31T23:59:59-05:00", "2026-12-31"],
    ["a whole day for the last second of an Eastern day in summer, written in UTC", "2026-07-01T03:59:59Z", "2026-06-30"],
    ["a whole day for the day on which daylight saving begins", "2026-03-08T23:59:59-04:00", "2026-03-08"],
    ["a whole day for the day on which daylight saving ends", "2026-11-01T23:59:59-05:00", "2026-11-01"],
    ["an instant on that day for the offset of summer", "2026-11-01T23:59:59-04:00", "2026-11-02T03:59:59.000Z"],
    ["an instant in UTC for any other time", "2026-07-01T17:00:00-04:00", "2026-07-01T21:00:00.000Z"],
    ["an instant for the last minute of a day", "2026-07-01T23:59:00-04:00", "2026-07-02T03:59:00.000Z"],
    ["an instant for the last second of a day elsewhere", "2026-07-01T23:59:59-07:00", "2026-07-02T06:59:59.000Z"],
  ])("has %s", (_, due, start) => {
    expect(eventsIn(calendarOf("", [{ ...anEntry, due_at: Date.parse(due) }]))).toEqual([
      { uid: "one@fundfeed", sequence: 2, summary: "Due: One", start, status: "CONFIRMED" },
    ]);
  });

  test("percent-encodes what an address cannot contain", () => {
    const document = calendarOf("", [{ ...anEntry, url: "https://example.org/é\r\nSTATUS:CANCELLED" }]);
    expect(document).toContain("\r\nURL:https://example.org/%C3%A9%0D%0ASTATUS:CANCELLED\r\n");
    expect(eventsIn(document)[0]?.status).toBe("CONFIRMED");
  });
});

describe("fundfeed find --format ics", () => {
  const draft = (id: string, closes_at: string | null, rest: Partial<Draft> = {}): Draft => ({
    source: { code: "OWN", opportunity_id: id, url: `https://example.org/${id}` },
    title: `Quantum ${id}`,
    status: "open",
    ...rest,
    dates: { closes_at },
  });

  test("keeps the id of a deadline, counts its moves, and shows it as cancelled for a month when it goes", async () => {
    const data = aDirectory();
    const db = openCatalog(data, NOON);
    const { take, clock } = await aCatalog(db);
    const calendar = async (...args: string[]) => {
      const { out } = await fundfeed(["find", ...args, "--format", "ics", "--data", data], {}, () => clock.now);
      return eventsIn(out).map(({ uid, ...event }) => event);
    };
    const uids = async () =>
      eventsIn((await fundfeed(["find", "--format", "ics", "--data", data], {}, () => clock.now)).out).map(({ uid }) => uid);

    await take([draft("A", "2026-05-01T17:00:00-04:00"), draft("B", "2026-04-01T23:59:59-04:00"), draft("C", null)]);
    const [b, a] = [
      { sequence: 0, summary: "Due: Quantum B", start: "2026-04-01", status: "CONFIRMED" },
      { sequence: 0, summary: "Due: Quantum A", start: "2026-05-01T21:00:00.000Z", status: "CONFIRMED" },
    ] as const;
    expect(await calendar()).toEqual([b, a]);
    expect(await calendar("quantum", "-b")).toEqual([a]);
    const before = await uids();

    clock.now += SECOND;
    await take([
      draft("A", "2026-06-01T17:00:00-04:00", { title: "Quantum A" }),
      draft("B", "2026-04-01T23:59:59-04:00", { title: "New" }),
    ]);
    expect(await calendar()).toEqual([
      { ...b, summary: "Due: New" },
      { ...a, sequence: 1, start: "2026-06-01T21:00:00.000Z" },
    ]);

    clock.now += SECOND;
    await take([draft("B", "2026-04-01T23:59:59-04:00", { title: "New", status: "cancelled" })]);
    const cancelled = { ...b, sequence: 1, summary: "Cancelled: Due: New", status: "CANCELLED" };
    expect((await calendar("--status", "open"))[0]).toEqual(cancelled);
    expect(await uids()).toEqual(before);

    clock.now += SECOND;
    await take([draft("B", "2026-04-01T23:59:59-04:00", { title: "New" })]);
    expect((await calendar())[0]).toEqual({ ...b, sequence: 2, summary: "Due: New" });

    // It has passed: it stays for a month, and was not cancelled.
    clock.now += 45 * DAY;
    await take([draft("B", "2026-04-01T23:59:59-04:00", { title: "New", status: "closed" })]);
    expect(await calendar("--status", "open")).toEqual([
      { ...b, sequence: 3, summary: "Due: New" },
      { ...a, sequence: 1, start: "2026-06-01T21:00:00.000Z" },
    ]);
    clock.now += 30 * DAY;
    expect(await calendar()).toHaveLength(1);

    clock.now += SECOND;
    await take([draft("A", "2026-06-01T17:00:00-04:00", { status: "archived" })]);
    expect((await calendar())[0]?.status).toBe("CANCELLED");
    await take([draft("D", "2026-08-01T17:00:00-04:00", { status: "cancelled" })]); // It never stood.
    expect(await calendar()).toHaveLength(1);
    await db.close();
  });

  test("shows a cancelled deadline for a month only", async () => {
    const data = aDirectory();
    const db = openCatalog(data, NOON);
    const { take, clock } = await aCatalog(db);
    await take([draft("A", "2027-05-01T17:00:00-04:00")]);
    clock.now += SECOND;
    await take([draft("A", "2027-05-01T17:00:00-04:00", { status: "cancelled" })]);
    await db.close();
    const count = async () => eventsIn((await fundfeed(["find", "--format", "ics", "--data", data], {}, () => clock.now)).out).length;
    clock.now += 30 * DAY;
    expect(await count()).toBe(1);
    clock.now += 2 * DAY;
    expect(await count()).toBe(0);
  });

  test("has an event for each of several due dates, and those due next if there are too many", async () => {
    const data = aDirectory();
    const db = openCatalog(data, NOON);
    const { take, clock } = await aCatalog(db);
    const due_dates = [
      { at: "2026-09-05T23:59:59-04:00", words: "full proposals" },
      { at: "2026-05-05T23:59:59-04:00", words: "letters, of intent" },
    ];
    await take([draft("A", "2026-09-05T23:59:59-04:00", { due_dates }), draft("B", "2026-04-01T23:59:59-04:00")]);
    await db.close();
    const { out } = await fundfeed(["find", "--format", "ics", "--data", data], {}, () => clock.now);
    const [b, first, second] = eventsIn(out);
    expect([first?.summary, first?.start]).toEqual(["Due: Quantum A (letters, of intent)", "2026-05-05"]);
    expect([second?.summary, second?.start]).toEqual(["Due: Quantum A (full proposals)", "2026-09-05"]);
    expect(second?.uid).toBe((first?.uid ?? "").replace("@", "-2@"));
    expect(eventsIn((await fundfeed(["find", "--limit", "1", "--format", "ics", "--data", data], {}, () => clock.now)).out)).toEqual([
      b,
    ] as never);
  });

  test.each([[["--sort", "posted"]], [["--cursor", "x"]]])("refuses %p", async (args) => {
    const { code, err } = await fundfeed(["find", ...args, "--format", "ics", "--data", aDirectory()], {}, () => NOON);
    expect(code).toBe(2);
    expect(err).toContain("--format ics is in the order of dates and has no pages");
  });
});
