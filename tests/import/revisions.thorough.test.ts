/** The history that Grants.gov's revisions give, compared with the one that a catalog records which imports each revision when it appears. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { easternInstant } from "../../src/text/eastern.ts";
import { aCatalog, aFile, dropScratch, eventsOf } from "../support/imports.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { realJson } from "../support/real-data.ts";

afterAll(dropScratch);

const NOW = Date.UTC(2027, 0, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Body = { version: number; [field: string]: unknown };
type Details = {
  id: number;
  docType: string;
  synopsis?: Body;
  forecast?: Body;
  opportunityHistoryDetails: Revision[];
  [field: string]: unknown;
};
type Revision = { synopsis?: Body; forecast?: Body; [field: string]: unknown };
type Event = Awaited<ReturnType<typeof eventsOf>>[number];

async function historyOf(answers: readonly { at: number; details: Details }[]): Promise<Event[]> {
  const catalog = await aCatalog();
  for (const { at, details } of answers) {
    catalog.clock.now = at;
    expect(await catalog.takeFiles([aFile(JSON.stringify(details))], { format: grantsGov, asOf: at })).toMatchObject({
      read: 1,
      rejected: 0,
    });
  }
  expect(await checkCatalog(catalog.db)).toEqual([]);
  return eventsOf(catalog.db, String(answers[0]?.details.id));
}

/** What one import of today makes of the revisions. */
async function backfilled(details: Details, now = NOW): Promise<Event[]> {
  return (await historyOf([{ at: now, details }])).filter(({ type }) => type !== "opportunity_added");
}

/**
 * What a catalog records that imports the answer at each of these instants, its clock running in between. Left out is what the revisions
 * do not tell: the clock's own turns, which lie between the instants, and the files of a past revision.
 */
async function recorded(answers: readonly { at: number; details: Details }[]): Promise<Event[]> {
  const instants = answers.map(({ at }) => new Date(at).toISOString());
  const unknown = ["opportunity_added", "attachments_changed"];
  return (await historyOf(answers)).filter(({ type, detected_at }) => instants.includes(detected_at) && !unknown.includes(type));
}

/* Instants in the words of the upstream */

const clock = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  month: "short",
  day: "2-digit",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** `Feb 03, 2025 09:44:28 AM EST` */
function words(ms: number): string {
  const part = Object.fromEntries(clock.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${part.month} ${part.day}, ${part.year} ${part.hour}:${part.minute}:${part.second} ${part.dayPeriod} ${part.timeZoneName}`;
}

const day = (ms: number) => new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format(ms);
const midnight = (date: string) => Date.parse(easternInstant(date, "00:00:00") ?? "");
const dateFields = (name: string, date: string | undefined) =>
  date === undefined ? {} : { [name]: words(midnight(date)), [`${name}Str`]: `${date}-00-00-00` };

/* Real histories: the answer of each revision, put together from the last one. */

function answersOf(last: Details): { at: number; details: Details }[] {
  const { opportunityHistoryDetails: revisions, ...rest } = last;
  const until = revisions.map(({ synopsis }) => Date.parse(String(synopsis?.actionDate)));
  const began = Date.parse(String(last.synopsis?.createdDate));
  return [...revisions, rest].map((revision, index) => ({
    at: until[index - 1] ?? began,
    details: { ...rest, ...revision, id: last.id, docType: "synopsis", opportunityHistoryDetails: [] },
  }));
}

describe("the history of real revisions", () => {
  test.each([
    [358302, ["field_updated material eligibility.requirements 2025-02-03T14:44:28.000Z"]],
    [327723, ["date_changed material dates.closes_at 2020-06-16T14:59:15.000Z"]],
  ])("%d is what a catalog would have recorded", async (id, expected) => {
    const details = realJson<Details>(`grants-gov/opportunity-details-${id}.json`);
    const events = await backfilled(details);
    expect(events).toEqual(await recorded(answersOf(details)));
    expect(events.map(({ type, severity, changed_fields, detected_at }) => `${type} ${severity} ${changed_fields} ${detected_at}`)).toEqual(
      expected,
    );
  });
});

/* Generated histories: an upstream that we run through time. */

type Version = { from: number; body: { [field: string]: unknown } };
type Level = { from: number; title: string; category: string; listing: string };

/** All that the upstream keeps of one opportunity: versions of its forecast and of its synopsis, each revised on its own, and what is said of both. */
type Upstream = {
  levels: Level[];
  forecasts: Version[];
  synopses: Version[];
  files: { from: number; name: string }[];
  statesStatus: boolean;
};

function anUpstream(seed: number): Upstream {
  const random = randomIntegers(seed);
  const oneOf = <T>(...items: T[]) => items[random(items.length)] as T;
  let now = Date.UTC(2024, random(12), 1 + random(28), random(24), random(60), random(60));
  const upstream: Upstream = { levels: [], forecasts: [], synopses: [], files: [], statesStatus: random(2) === 0 };
  const steps = 2 + random(7);
  const synopsisAt = oneOf(0, random(steps + 1)); // At `steps`, it is still a forecast.
  for (let step = 0; step < steps; step++) {
    const isRevisedAfterwards = upstream.forecasts.length > 0 && upstream.synopses.length > 0 && random(4) === 0;
    const kind = step < synopsisAt || isRevisedAfterwards ? "forecasts" : "synopses";
    const last = upstream[kind].at(-1);
    const posted = last?.body.posted ?? day(now + oneOf(-2, 0, 0, 0, 3) * DAY);
    // Often enough closed, and even archived, before the next revision comes.
    const closes = oneOf(last?.body.closes, undefined, day(now + random(60) * DAY), day(now + random(200) * DAY));
    const archives = oneOf(last?.body.archives, undefined, closes && day(midnight(String(closes)) + (30 + random(3)) * DAY));
    const { title, category, listing } = upstream.levels.at(-1) ?? { title: "A title", category: "D", listing: "10.001" };
    // Not with a first version: it supersedes nothing, so that the upstream would not keep what was said before.
    if (step === 0 || last !== undefined)
      upstream.levels.push({
        from: now,
        title: oneOf(title, title, `Title ${step}`),
        category: oneOf(category, category, "M", "O"),
        listing: oneOf(listing, listing, `10.00${random(9)}`),
      });
    const body = {
      ...last?.body,
      // Another day of posting is set before the first one has come.
      posted: random(4) === 0 && midnight(String(posted)) > now ? day(now + random(5) * DAY) : posted,
      closes,
      archives,
      text: oneOf(last?.body.text ?? "First", `Text ${step}`),
      ceiling: oneOf(last?.body.ceiling ?? "1000", String(1000 * (step + 2))),
      contact: oneOf(last?.body.contact ?? "first@example.gov", `contact${step}@example.gov`),
      link: oneOf(last?.body.link ?? "https://example.gov/", `https://example.gov/${step}`),
    };
    upstream[kind].push({ from: now, body });
    if (random(3) === 0) upstream.files.push({ from: now, name: `file ${step}.pdf` });
    now += oneOf(1, HOUR / 1000, (DAY / 1000) * (1 + random(9)), (DAY / 1000) * random(90)) * 1000 + random(60) * 1000;
  }
  return upstream;
}

function bodyOf(kind: "synopsis" | "forecast", { body, from: _ }: Version, version: number, created: number): Body {
  const isForecast = kind === "forecast";
  return {
    version,
    createdDate: words(created),
    ...dateFields("postingDate", body.posted as string),
    ...dateFields("archiveDate", body.archives as string | undefined),
    ...dateFields(isForecast ? "estApplicationResponseDate" : "responseDate", body.closes as string | undefined),
    [isForecast ? "forecastDesc" : "synopsisDesc"]: body.text,
    awardCeiling: body.ceiling,
    agencyContactEmail: body.contact,
    fundingDescLinkUrl: body.link,
    fundingInstruments: [{ id: "G", description: "Grant" }],
  };
}

function levelAt({ levels }: Upstream, at: number) {
  const { title, category, listing } = levels.findLast(({ from }) => from <= at) as Level;
  return {
    opportunityNumber: "N-1",
    opportunityTitle: title,
    opportunityCategory: { category, description: category === "O" ? "Other" : "Discretionary" },
    cfdas: [{ cfdaNumber: listing, programTitle: `Program ${listing}` }],
  };
}

/** The details as the upstream gives them at an instant, with every revision that was superseded by then; nothing while nothing is shown. */
function detailsAt(upstream: Upstream, at: number): Details | undefined {
  const { forecasts, synopses, files, statesStatus } = upstream;
  const lanes = { forecast: forecasts.filter(({ from }) => from <= at), synopsis: synopses.filter(({ from }) => from <= at) };
  const [forecast, synopsis] = [lanes.forecast.at(-1), lanes.synopsis.at(-1)];
  const isShown = synopsis !== undefined && midnight(String(synopsis.body.posted)) <= at;
  const shown = isShown ? synopsis : forecast;
  if (shown === undefined) return undefined;
  const present = (kind: "forecast" | "synopsis") => {
    const version = lanes[kind].at(-1);
    return version === undefined ? {} : { [kind]: bodyOf(kind, version, lanes[kind].length, lanes[kind][0]?.from ?? 0) };
  };
  const superseded = (kind: "forecast" | "synopsis") =>
    lanes[kind].slice(0, -1).map((version, index) => {
      const until = lanes[kind][index + 1]?.from ?? 0;
      const body = bodyOf(kind, version, index + 1, lanes[kind][0]?.from ?? 0);
      return { ...levelAt(upstream, until - 1), [kind]: { ...body, actionType: "U", actionDate: words(until) } };
    });
  const isOver = (date: unknown) => date !== undefined && String(date) < day(at);
  const status = isOver(shown.body.archives) ? "ARCHIVED" : !isShown ? "FORECASTED" : isOver(shown.body.closes) ? "CLOSED" : "POSTED";
  return {
    id: 1,
    ...levelAt(upstream, at),
    agencyDetails: { agencyName: "Office of Science" },
    topAgencyDetails: { agencyName: "Department of Energy" },
    ...present("forecast"),
    ...present("synopsis"),
    docType: isShown ? "synopsis" : "forecast",
    ...(statesStatus ? { ost: status } : {}),
    synopsisAttachmentFolders: [
      { synopsisAttachments: files.filter(({ from }) => from <= at).map(({ name }, id) => ({ id, fileName: name })) },
    ],
    // By their revision, not by their instants.
    opportunityHistoryDetails: [...superseded("synopsis"), ...superseded("forecast")],
  };
}

/** Each instant at which what the upstream shows may have changed, and its answer without the history. */
function answersThroughTime(upstream: Upstream): { at: number; details: Details }[] {
  const { forecasts, synopses } = upstream;
  const instants = new Set([...forecasts, ...synopses].map(({ from }) => from));
  for (const { from, body } of synopses) if (midnight(String(body.posted)) > from) instants.add(midnight(String(body.posted)));
  return [...instants]
    .sort((one, other) => one - other)
    .flatMap((at) => {
      const details = detailsAt(upstream, at);
      return details === undefined ? [] : [{ at, details: { ...details, opportunityHistoryDetails: [] } }];
    });
}

/** FUNDFEED_HISTORIES asks for more. */
const HISTORIES = Number(process.env.FUNDFEED_HISTORIES ?? 30);

describe("the history of generated revisions", () => {
  const compared = new Map<string, number>();

  test.each(Array.from({ length: HISTORIES }, (_, index) => index + 1))(
    "is what a catalog would have recorded: upstream %d",
    async (seed) => {
      const upstream = anUpstream(seed);
      const details = detailsAt(upstream, NOW);
      if (details === undefined) throw new Error("The upstream shows nothing at the end");
      const events = await backfilled(details);
      expect(events).toEqual(await recorded(answersThroughTime(upstream)));
      for (const { type, severity } of events) compared.set(`${type} ${severity}`, (compared.get(`${type} ${severity}`) ?? 0) + 1);
    },
  );

  test("has events of each kind to compare", () => {
    const kinds = ["status_changed material", "status_changed critical", "date_changed critical", "funding_changed material"];
    for (const kind of [...kinds, "description_changed informational", "field_updated informational", "field_updated cosmetic"])
      expect([kind, compared.get(kind)]).toEqual([kind, expect.any(Number)]);
  });
});

/* Single histories */

const JUNE = Date.UTC(2026, 5, 1, 16);
const AUGUST = Date.UTC(2026, 7, 15, 13, 44, 28);
const TODAY = Date.UTC(2026, 10, 22);

const open = {
  posted: "2026-06-01",
  closes: "2026-08-31",
  archives: "2026-09-30",
  text: "Text",
  ceiling: "1000",
  contact: "a@example.gov",
};
const extended = { ...open, closes: "2027-01-15", archives: "2027-02-14" };
const level = { from: JUNE, title: "A title", category: "D", listing: "10.001" };
const revised: Upstream = {
  levels: [level],
  forecasts: [],
  synopses: [
    { from: JUNE, body: open },
    { from: AUGUST, body: extended },
  ],
  files: [],
  statesStatus: true,
};

const detailsToday = (upstream: Upstream) => detailsAt(upstream, TODAY) as Details;
const inWords = (events: readonly Event[]) =>
  events.map(({ type, severity, summary, detected_at }) => `${detected_at} ${type} ${severity}: ${summary}`);
const extension =
  "2026-08-15T13:44:28.000Z date_changed material: dates.closes_at changed from 2026-08-31T23:59:59-04:00 to 2027-01-15T23:59:59-05:00";

describe("the history of a single revision", () => {
  test("of an open opportunity does not say archived, although its first archive date has passed today", async () => {
    expect(inWords(await backfilled(detailsToday(revised), TODAY))).toEqual([extension]);
  });

  test("does not have the status that the opportunity got later", async () => {
    const ended = { ...detailsToday(revised), ost: "ARCHIVED" };
    expect(inWords(await backfilled(ended, Date.UTC(2027, 5, 1)))).toEqual([extension]);
  });

  test("ends when the record was first imported", async () => {
    expect(await backfilled(detailsToday(revised), AUGUST)).toEqual([]);
    expect(inWords(await backfilled(detailsToday(revised), AUGUST + 1))).toEqual([extension]);
  });

  test("omits revisions of a forecast after its synopsis replaced it", async () => {
    const forecasts = [
      { from: JUNE - 30 * DAY, body: { ...open, posted: "2026-05-01" } },
      { from: AUGUST - DAY, body: { ...open, posted: "2026-05-01", archives: "2026-08-14", closes: "2026-12-24" } },
    ];
    const posting = "2026-06-01T16:00:00.000Z";
    expect(inWords(await backfilled(detailsToday({ ...revised, levels: [{ ...level, from: 0 }], forecasts }), TODAY))).toEqual([
      `${posting} status_changed material: status changed from forecast to open`,
      `${posting} date_changed informational: Changed: dates.posted_at, dates.opens_at`,
      `${posting} field_updated cosmetic: status_display changed from Forecasted to nothing`,
      extension,
    ]);
  });

  test("has the right one of the two hours that clocks repeat in November", async () => {
    for (const instant of ["2025-11-02T05:30:00.000Z", "2025-11-02T06:30:00.000Z"]) {
      const synopses = [
        { from: JUNE - 300 * DAY, body: { ...open, posted: "2025-08-01" } },
        { from: Date.parse(instant), body: { ...extended, posted: "2025-08-01" } },
      ];
      const events = await backfilled(detailsToday({ ...revised, levels: [{ ...level, from: 0 }], synopses }), TODAY);
      expect(events.map(({ detected_at }) => detected_at)).toEqual([instant]);
    }
  });

  test.each<[string, (details: Details) => void]>([
    ["is undated", (details) => delete details.opportunityHistoryDetails[0]?.synopsis?.actionDate],
    ["is missing", (details) => (details.opportunityHistoryDetails = [])],
    ["is one of two", (details) => details.synopsis && details.synopsis.version++],
  ])("is left out when a revision %s", async (_, spoil) => {
    const details = detailsToday(revised);
    spoil(details);
    expect(await backfilled(details, TODAY)).toEqual([]);
  });
});
