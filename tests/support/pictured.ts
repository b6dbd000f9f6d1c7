/** Every page and mail of the pictures, over fixed data with a fixed clock. */
import { openWatchesIn } from "../../db/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createBrowseApp } from "../../src/browse/app.tsx";
import { ADDRESS_HEADER } from "../../src/browse/page.ts";
import { pageFiles, pageResponse } from "../../src/browse/response.tsx";
import { subscribePage } from "../../src/browse/subscribe-page.tsx";
import { readHistory } from "../../src/events/history.ts";
import { dueOf } from "../../src/opportunities/due.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { arrivalOf } from "../../src/team/admission.ts";
import { createSignIn } from "../../src/team/sign-in.tsx";
import { statusPage } from "../../src/team/status-page.tsx";
import { formatInstant } from "../../src/text/instant.ts";
import { teamsMessage } from "../../src/watch/chats.ts";
import { type MailPart, mailOf } from "../../src/watch/mail.tsx";
import { type Message, messageEvent, messageOpportunity } from "../../src/watch/message.ts";
import { aDirectoryOfTheDemo, SAMPLE_NOW } from "./demo-data.ts";
import { aCatalog, aDirectory, DAY } from "./imports.ts";
import { mailWithLink, pagesOfMembers, pagesOfSignIn, watchesOfMembers } from "./pictured-members.ts";

export const PICTURED_NOW = SAMPLE_NOW;
/** The address under which the pages are pictured. Nothing listens there. */
export const PICTURED_ORIGIN = "http://localhost";

/** The address that people see. */
const PAGES = "https://funding.example.org";

/** `html` has no part that differs from run to run. */
export type Pictured = { name: string; kind: "page" | "mail" | "text"; html: string };

const at = (days: number) => formatInstant(PICTURED_NOW + days * DAY);
const own = (id: string, source = "OWN") => ({ code: source, name: "Research Office", opportunity_id: id });
const idOf = (id: string, source = "OWN") => opportunityId(source, id);
/** Longer than any line. */
const LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(3);
const TEXT = `This program funds teams that measure how coastal ecosystems recover. It supports field work, instruments and open data.

Applicants describe the question, the method and the plan for data in at most 15 pages. Letters of intent are welcome and not required.

• Phase I: up to 12 months
• Phase II: up to 36 months, by invitation`;

/** An opportunity with every part that a page can show, in its first or last version. */
function everyPart(isLast: boolean) {
  return {
    source: { ...own("EVERY-PART"), url: "https://example.gov/every-part" },
    title: "Coastal Ecosystem Resilience Research",
    status: "open",
    status_display: "Posted",
    summary: "Research on how coasts recover",
    description: isLast ? TEXT.replace("15 pages", "20 pages") : TEXT,
    organization: {
      agency: "Department of Commerce",
      sub_agency: "National Oceanic and Atmospheric Administration",
      issuing_office: "Office of Grants",
    },
    program: {
      type: "GRANT",
      solicitation_id: "NOAA-26-0142",
      solicitation_title: "Coastal programs 2026",
      contract_class: "Discretionary",
    },
    funding: { amount_min: "50000.00", amount_max: isLast ? "1250000.00" : "900000.00", display: "About 12 awards" },
    dates: { posted_at: at(-60), opens_at: at(-50), closes_at: at(isLast ? 40 : 26), response_at: at(6) },
    due_dates: [
      { at: at(6), words: "Letter of intent" },
      { at: at(isLast ? 40 : 26), words: "Full proposal" },
      { at: at(200), words: null },
    ],
    expires_at: at(230),
    classifications: {
      keywords: ["coast", "resilience"],
      technology_areas: ["Environment"],
      tech_taxonomy: ["ALN:11.419", "FAC:ENV"],
      naics_codes: ["541715", "541620"],
      set_aside_types: ["SBA"],
    },
    eligibility: {
      requirements: "Institutions of higher education, non-profits, and states.\n\nOne application per institution.",
      geographic_scope: "Gulf of Mexico",
    },
    contacts: [{ name: "Jordan Lee", role: "Program officer", email: "jordan.lee@example.gov", phone: "+1 202 555 0142" }],
    attachments: [
      { name: "Announcement.pdf", url: "https://example.gov/announcement.pdf", kind: "Full announcement", size: 482_113 },
      ...(isLast
        ? [{ name: "Questions and answers.docx", url: "https://example.gov/qa.docx", kind: null, size: 31_200 }]
        : [{ name: "Draft.pdf", url: "https://example.gov/draft.pdf" }]),
    ],
    award: { number: "NA26NOS0001", date: at(-2).slice(0, 10), amount: "1250000.00", awardee: "University of the Gulf" },
    applicant_types: ["06", "12"],
    place: { city: "Mobile", state: "AL", country: "USA" },
    relationships: { parent_id: idOf("PROGRAM") },
  };
}

const part = (n: number, parent: string) => ({
  source: own(`${parent}-${n}`),
  title: `${parent === "PROGRAM" ? "Award" : "Later stage"} ${n} of the program`,
  status: n === 1 ? "open" : "closed",
  relationships: { parent_id: idOf(parent) },
});

/** What the sample of the demo lacks. `isLast`: with the changes of the last import. */
function ownRecords(isLast: boolean) {
  const coming = { opens_at: at(30), closes_at: at(90) };
  return [
    everyPart(isLast),
    { source: own("PROGRAM"), title: "Coastal programs of all years", status: "open", description: "One announcement for several years." },
    ...Array.from({ length: 8 }, (_, n) => part(n + 1, "PROGRAM")),
    { source: own("PARTS-ONLY"), title: "A notice with two later stages", status: "open", description: "The stages follow." },
    ...[1, 2].map((n) => part(n, "PARTS-ONLY")),
    { source: own("NOTHING"), title: "Only a title", status: "open" },
    {
      source: own("CLOSED"),
      title: "Closed: instruments for the deep sea",
      status: "closed",
      dates: { posted_at: at(-200), closes_at: at(isLast ? -20 : -27) },
      description: TEXT,
    },
    { source: own("EXPECTED"), title: "Expected: a forecast of a program for ports", status: "forecast", dates: coming },
    {
      source: own("EXPIRED"),
      title: "Expired: an announcement that has ended",
      status: "archived",
      dates: { closes_at: at(-300) },
      expires_at: at(-250),
    },
    {
      source: own("CANCELLED"),
      title: "Cancelled: a program for bridges",
      status: isLast ? "cancelled" : "open",
      dates: { closes_at: at(80) },
    },
    { source: own("SOON"), title: "Closing within days: rapid response", status: "open", dates: { closes_at: at(2) } },
    {
      source: { ...own("LONG"), url: `https://example.gov/${LONG_WORD}` },
      title: `${LONG_WORD} ${"and a title of many words ".repeat(12)}`,
      status: "open",
      description: `${LONG_WORD} ${TEXT}`,
      organization: { agency: LONG_WORD },
      program: { type: "GRANT", solicitation_id: LONG_WORD.slice(0, 120) },
      contacts: [{ name: LONG_WORD, email: `${LONG_WORD}@example.gov` }],
      funding: { display: LONG_WORD },
    },
    {
      source: { code: "GRANTS_GOV", opportunity_id: "900001" },
      title: "One call of two sources",
      status: "open",
      program: { solicitation_id: "TWO-26-001" },
      dates: { closes_at: at(60) },
    },
    {
      source: { code: "SIMPLER_GRANTS_GOV", opportunity_id: "900001" },
      title: "One call of two sources",
      status: "open",
      program: { solicitation_id: "TWO-26-001" },
      dates: { closes_at: at(60) },
    },
  ];
}

async function siteOf(data: string, records: (isLast: boolean) => readonly unknown[]) {
  const db = openCatalog(data, PICTURED_NOW);
  const { clock, take } = await aCatalog(db);
  for (const isLast of [false, true]) {
    clock.now = PICTURED_NOW - (isLast ? DAY : 40 * DAY);
    const given = records(isLast);
    if (given.length > 0) await take(given);
  }
  const index = openSearchFile(data);
  await catchUp(db, index, undefined, PICTURED_NOW);
  await db.close();
  const failures: unknown[] = [];
  const watchesHere = async () => openWatchesIn(data, PICTURED_NOW, { mode: "read" });
  const served = {
    openCatalog: async () => openCatalog(data, PICTURED_NOW, { mode: "read" }),
    searchIndex: async () => index,
    now: () => PICTURED_NOW,
    host: "localhost",
    onFailure: (error: unknown) => void failures.push(error),
  };
  const app = createBrowseApp(served);
  const ofServer = createBrowseApp({ ...served, up: { hasSignIn: true } });
  const ofMembers = createBrowseApp({ ...served, up: { hasSignIn: true, openWatches: watchesHere } });
  const building = createBrowseApp({ ...served, searchIndex: async () => ({ done: 40_000, total: 100_000 }), up: { hasSignIn: true } });
  const broken = createBrowseApp({ ...served, openCatalog: () => Promise.reject(new Error("the disk is gone")) });
  return {
    data,
    index,
    failures,
    close: () => index.close(),
    get: async (path: string, of = app, headers = {}) => textOf(await of.fetch(requestFor(path, headers))),
    ofServer,
    ofMembers,
    building,
    broken,
  };
}

function requestFor(path: string, headers: Record<string, string>): Request {
  return new Request(PICTURED_ORIGIN + path, { headers: { host: "localhost", [ADDRESS_HEADER]: PAGES + path, ...headers } });
}

async function textOf(response: Response): Promise<string> {
  if (response.status === 303) throw new Error(`Cannot picture a redirect to ${response.headers.get("location")}`);
  return response.text();
}

/** An opportunity of the demo's sample whose deadline and award changed. */
const SAMPLE = "aad1016c-ae30-50c9-9f21-d86453bfc046";

/** Renders all of them, in the order of the contact sheet. */
export async function allPictured(): Promise<Pictured[]> {
  const many = await siteOf(await aDirectoryOfTheDemo(), ownRecords);
  const few = await siteOf(aDirectory(), (isLast) =>
    ownRecords(isLast).filter(({ source }) => ["CLOSED", "SOON", "NOTHING"].includes(source.opportunity_id)),
  );
  const empty = await siteOf(aDirectory(), () => []);
  const opportunity = (id: string) => `/opportunities/${idOf(id)}`;
  const followed = ["SOON", "EVERY-PART", "CLOSED", "EXPECTED", "NOTHING", "LONG"].map((id) => idOf(id));
  const catalog = openCatalog(many.data, PICTURED_NOW, { mode: "read" });
  await watchesOfMembers({ data: many.data, catalog, index: many.index, now: PICTURED_NOW }, followed);
  await catalog.close();
  const page = async (name: string, html: Promise<string>): Promise<Pictured> => ({ name, kind: "page", html: await html });
  const pages = await Promise.all([
    page("home", many.get("/")),
    page("home-few", few.get("/")),
    page("home-empty", empty.get("/")),
    page("home-of-a-server", many.get("/", many.ofServer)),
    page("find", many.get("/?words=research&status=open,closing_soon,closed&sort=posted")),
    page(
      "find-filters-open",
      many
        .get("/?words=coast&program_type=GRANT&applicant=tribe")
        .then((html) => html.replace('<details class="filters">', '<details class="filters" open>')),
    ),
    page("find-one", many.get("/?words=coastal+ecosystem")),
    page("find-nothing", many.get("/?words=xyzzyx&status=open")),
    page("find-wrong-values", many.get("/?naics=x&closes_before=soon")),
    page("find-over", many.get("/?status=closed,archived,cancelled&source=OTHER")),
    page("opportunity", many.get(`/opportunities/${SAMPLE}`)),
    page("opportunity-of-the-past", many.get(`/opportunities/${SAMPLE}?as_of=2026-07-20T00:00:00Z`)),
    page("opportunity-not-known-then", many.get(`/opportunities/${SAMPLE}?as_of=2001-01-01`)),
    page("opportunity-every-part", many.get(opportunity("EVERY-PART"))),
    page("opportunity-many-parts", many.get(opportunity("PROGRAM"))),
    page("opportunity-parts-alone", many.get(opportunity("PARTS-ONLY"))),
    page("opportunity-only-a-title", many.get(opportunity("NOTHING"))),
    page("opportunity-closed", many.get(opportunity("CLOSED"))),
    page("opportunity-expected", many.get(opportunity("EXPECTED"))),
    page("opportunity-expired", many.get(opportunity("EXPIRED"))),
    page("opportunity-cancelled", many.get(opportunity("CANCELLED"))),
    page("opportunity-closing-soon", many.get(opportunity("SOON"))),
    page("opportunity-of-two-sources", many.get(`/opportunities/${opportunityId("GRANTS_GOV", "900001")}`)),
    page("opportunity-long-words", many.get(opportunity("LONG"))),
    page("changes", many.get("/changes")),
    page("changes-of-a-year", many.get("/changes?since=364d&at_least=material")),
    page("changes-few", few.get("/changes")),
    page("changes-empty", empty.get("/changes")),
    page("changes-wrong-values", many.get("/changes?since=1y&type=x")),
    page("deadlines", many.get("/deadlines")),
    page("deadlines-few", few.get("/deadlines")),
    page("deadlines-empty", empty.get("/deadlines")),
    page("sources", many.get("/sources")),
    page("sources-empty", empty.get("/sources")),
    page("quality", many.get("/sources/quality")),
    page("months", many.get("/sources/months")),
    page("subscribe", many.get("/subscribe?words=coast&status=open", many.ofServer)),
    page("help", many.get("/help/tls")),
    page("no-such-page", many.get("/nowhere")),
    page("cannot-be-shown", many.get("/", many.broken)),
    page("index-being-built", many.get("/", many.building)),
    page("find-index-being-built", many.get("/?words=coast", many.building)),
    page("sign-in", signIn("/sign-in")),
    page("sign-out", signIn("/sign-out")),
    page("jobs", textOf(jobs())),
    ...pagesOfMembers((path, headers) => many.get(path, many.ofMembers, headers), opportunity("EVERY-PART"), opportunity("SOON")).map(
      ([name, html]) => page(name, html),
    ),
    ...(await pagesOfSignIn(PICTURED_ORIGIN, PICTURED_NOW)).map(([name, response]) => page(name, textOf(response))),
    page("subscribe-to-what-one-follows", textOf(pageResponse(signedAddresses(), { hasSignIn: true, isMember: true }))),
  ]);
  const mails = await mailsOf(many.data);
  for (const site of [many, few, empty]) site.close();
  return [...pages, ...mails];
}

function signedAddresses() {
  const at = (kind: string) => `${PAGES}/feeds/${"WyJrZXkiLCIvZm9sbG93aW5nIl0".repeat(3)}.${kind}`;
  return subscribePage({ ics: at("ics"), csv: at("csv"), atom: at("atom") }, true, "what you follow");
}

async function signIn(path: string): Promise<string> {
  const sessions = { make: () => "", open: () => undefined };
  const { respond } = createSignIn({
    access: undefined as never,
    sessions,
    now: () => PICTURED_NOW,
    isSecure: true,
    admit: undefined as never,
  }); // A GET reads no key.
  return textOf(await respond(arrivalOf(new Request(PICTURED_ORIGIN + path))));
}

function jobs(): Response {
  const job = (name: string, result: "ok" | "failed", error: string | null) => ({
    name,
    every_ms: DAY,
    state: "waiting" as const,
    next_at: PICTURED_NOW + DAY / 2,
    started_at: PICTURED_NOW - DAY / 2,
    took_ms: 61_000,
    result,
    succeeded_at: PICTURED_NOW - DAY / 2,
    failed_at: error === null ? null : PICTURED_NOW - DAY / 2,
    error,
    failures: error === null ? 0 : 2,
  });
  return statusPage([job("pull", "ok", null), job("watch", "failed", "Cannot connect to mail.example.org")], PICTURED_NOW, true);
}

async function mailsOf(data: string): Promise<Pictured[]> {
  const catalog = openCatalog(data, PICTURED_NOW, { mode: "read" });
  const read = async (id: string) => {
    const [opportunity] = await readOpportunities(catalog, [idOf(id)], PICTURED_NOW);
    if (opportunity === undefined) throw new Error(`There is no ${id}`);
    const events = (await readHistory(catalog, opportunity.id)).filter(({ type }) => type !== "opportunity_added");
    return {
      opportunity: messageOpportunity({ opportunity, duplicates: [], due: dueOf(opportunity, PICTURED_NOW, []) }),
      events: events.map(messageEvent),
    };
  };
  const [every, cancelled, soon, long] = await Promise.all(["EVERY-PART", "CANCELLED", "SOON", "LONG"].map(read));
  await catalog.close();
  if (every === undefined || cancelled === undefined || soon === undefined || long === undefined) throw new Error("A record is missing");
  const changed = [every, cancelled].flatMap(({ opportunity, events }) =>
    events.map((event) => ({ kind: "changed" as const, event, at: null, opportunity })),
  );
  const messageOf = (type: Message["type"], data: Message["data"]): Message => ({ id: "message", type, timestamp: at(0), data });
  const mail = (name: string, type: Message["type"], data: Message["data"]): Pictured => {
    return {
      name,
      kind: "mail",
      html: mailOf([{ message: messageOf(type, data), zone: "America/New_York" }], name === "mail-test" ? undefined : PAGES).html,
    };
  };
  const none = { new: 0, changed: 0, due: 0, left: 0 };
  const everySection: Message["data"] = {
    watch: "coasts",
    note: "Ask Jordan before answering.",
    filter: { words: "coast", status: ["open"] },
    counts: { new: 12, changed: changed.length, due: 1, left: 1 },
    muted: 2,
    severities: Object.fromEntries([...Map.groupBy(changed, ({ event }) => event.severity)].map(([severity, of]) => [severity, of.length])),
    events: [
      { kind: "due", due_at: at(2), days: 3, opportunity: soon.opportunity },
      ...changed,
      { kind: "new", opportunity: long.opportunity },
      { kind: "left", opportunity: cancelled.opportunity },
    ],
  };
  const teams = teamsMessage(messageOf("watch.changes", everySection), "America/New_York").attachments[0]?.content.body ?? [];
  const ofMember = (title: string, watch: string, data: Partial<Message["data"]>): MailPart => ({
    message: messageOf("watch.changes", { watch, title, filter: { words: "coast" }, counts: none, events: [], ...data }),
    zone: "America/Chicago",
    links: { watch: `${PAGES}/watches/${watch}`, stop: `${PAGES}/unsubscribe/${"x4Zq".repeat(20)}` },
  });
  const combined = mailOf(
    [
      ofMember("Following", "f-many", { counts: { ...none, due: 1 }, events: everySection.events.slice(0, 1) }),
      ofMember("Quantum and sensing", "w-all", { counts: { ...none, changed: changed.length }, events: changed }),
    ],
    PAGES,
  );
  return [
    mail("mail-every-section", "watch.changes", everySection),
    { name: "mail-of-several-watches", kind: "mail", html: combined.html },
    { name: "mail-of-several-watches-as-text", kind: "text", html: asText(combined.text) },
    { name: "mail-with-a-link", kind: "mail", html: mailWithLink(PAGES) },
    { name: "teams-card-as-text", kind: "text", html: asText(teams.map(({ text }) => text).join("\n\n")) },
    mail("mail-of-one-change", "watch.changes", {
      watch: "coasts",
      filter: {},
      counts: { ...none, changed: 1 },
      events: changed.slice(0, 1),
    }),
    mail("mail-test", "watch.test", { watch: "coasts", filter: { words: "coast" }, counts: none, events: [] }),
  ];
}

/** A text as a mail program without HTML shows it. */
function asText(text: string): string {
  return `<!doctype html><html lang="en"><head><title>Text</title></head><body><pre style="white-space:pre-wrap;overflow-wrap:anywhere">${Bun.escapeHTML(text)}</pre></body></html>`;
}

/** The text of a style sheet or icon of the pages. */
export function fileOfPages(path: string): (typeof pageFiles)[number] | undefined {
  return pageFiles.find((file) => file.path === path);
}
