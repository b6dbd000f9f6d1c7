/** SBIR.gov: its public API, or the CSV export of its topic search. Each topic of a solicitation is an opportunity. */

import { resolveAgency } from "../../agencies/resolve.ts";
import { type Agency, agencyByCode, isWithin } from "../../agencies/table.ts";
import { dateInstant } from "../../text/eastern.ts";
import { type JsonObject, objectsOf, textOf } from "../../text/json-value.ts";
import { plainText, summaryOf } from "../../text/plain-text.ts";
import type { Draft, Format, FormatContext, Input, Item, Version } from "../format.ts";
import { programType } from "../program-type.ts";
import { csvRows } from "../readers/csv-rows.ts";
import { firstCharacter, jsonObjects } from "../readers/json-elements.ts";
import { sameOrganization } from "./grants-gov/same.ts";
import { dueDates, elementsOf, type FoundElement, joined, renamed, saysTheSame } from "./items.ts";

const SOURCE = "SBIR_GOV";

export const sbirGov: Format = {
  name: "sbir-gov",
  source: SOURCE,
  about: "SBIR.gov: solicitations of the public API as JSON, or the topic search's CSV export",
  versions: { in: versionsIn },
  read,
};

const DEFENSE = "DOD";

const SOLICITATION_COLUMNS = {
  Phase: "phase",
  Program: "program",
  Agency: "agency",
  "Close Date": "close_date",
  "Release Date": "release_date",
  "Open Date": "open_date",
  "Solicitation Agency URL": "solicitation_agency_url",
  "Solicitation Status": "current_status",
  "Solicitation Year": "solicitation_year",
} as const;

const TOPIC_COLUMNS = {
  "Topic Title": "topic_title",
  "Topic Description": "topic_description",
  "Topic Number": "topic_number",
  Branch: "branch",
  SBIRTopicLink: "sbir_topic_link",
} as const;

/** Most characters besides the topics, because each topic's record repeats them. Real ones have a few thousand. */
const SOLICITATION_MAX = 100_000;

async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  for await (const found of elementsOf(inputs, solicitationsIn)) {
    if (found.kind === "rejected") {
      yield found;
      continue;
    }
    const { input, line, raw } = found;
    for (const topic of topicsOf(raw)) {
      const version = versionOf(raw, topic);
      const record = toDraft(raw, topic, context);
      const reconcile = (stored: Draft) => reconciled(raw, record, stored);
      const item = { input, line, raw: { ...raw, solicitation_topics: [topic] }, record, reconcile };
      yield { kind: "record", ...item, partial: "omits", ...(version === undefined ? {} : { version }) };
    }
  }
}

async function* solicitationsIn(input: Input): AsyncIterable<FoundElement> {
  const first = await firstCharacter(input);
  if (first === "[" || first === "{") yield* jsonObjects(input.bytes(), "", { faultOf: solicitationFault });
  else {
    const columns = [...Object.keys(SOLICITATION_COLUMNS), ...Object.keys(TOPIC_COLUMNS)];
    for await (const { raw, ...found } of csvRows(input.bytes(), columns))
      yield { ...found, raw: { ...renamed(raw, SOLICITATION_COLUMNS), solicitation_topics: [renamed(raw, TOPIC_COLUMNS)] } };
  }
}

function solicitationFault({ solicitation_topics, ...solicitation }: JsonObject): string | undefined {
  if (textOf(solicitation.solicitation_number) + textOf(solicitation.solicitation_title) === "")
    return "is not a solicitation: it has neither solicitation_number nor solicitation_title";
  if (JSON.stringify(solicitation).length > SOLICITATION_MAX) return `has more than ${SOLICITATION_MAX} characters besides its topics`;
  return undefined;
}

function topicsOf(solicitation: JsonObject): JsonObject[] {
  const topics = objectsOf(solicitation.solicitation_topics);
  return topics.length === 0 ? [{}] : topics;
}

function toDraft(solicitation: JsonObject, topic: JsonObject, context: FormatContext): Draft {
  const number = textOf(solicitation.solicitation_number);
  const solicitationTitle = textOf(solicitation.solicitation_title);
  const title = textOf(topic.topic_title) || solicitationTitle || number;
  const [program, phase] = [textOf(solicitation.program), textOf(solicitation.phase)];
  const description = descriptionOf(topic);
  const opens = openingOf(topic.topic_open_date, context) ?? openingOf(solicitation.open_date, context);
  const status = sbirStatus(textOf(solicitation.current_status), opens, context);
  const { closes, ...due } = deadlinesOf(solicitation, topic, context);
  const lineage = versionOf(solicitation, topic)?.id ?? lineageOf(solicitation, topic, title);
  return {
    source: { code: SOURCE, opportunity_id: textOf(topic.topic_number) || number || lineage, url: urlOf(solicitation, topic) },
    lineage,
    title,
    summary: summaryOf(description),
    description,
    status,
    organization: {
      agency: agencyOf(solicitation, context),
      sub_agency: branchOf(topic) ?? branchOf(solicitation),
    },
    program: {
      type: programType({ program, title, number }),
      ...("solicitation_number" in solicitation ? { solicitation_id: number || null } : {}),
      ...("solicitation_title" in solicitation ? { solicitation_title: solicitationTitle || null } : {}),
      contract_class: phase.toUpperCase() === "BOTH" ? "Phase I, Phase II" : phase || null,
    },
    dates: { posted_at: openingOf(solicitation.release_date, context), opens_at: opens, closes_at: closes, response_at: closes },
    ...due,
    classifications: { keywords: program.toUpperCase() === "BOTH" ? ["STTR"] : [] },
    attachments: linkOf(solicitation.solicitation_agency_url),
  };
}

/** The API truncates texts at 6,000 characters, and the export has no due dates. */
function reconciled(solicitation: JsonObject, draft: Draft, stored: Draft): Draft {
  const { summary = null, description, dates = {}, due_dates = [] } = stored;
  const { closes_at = null } = draft.dates ?? {};
  const lacksDueDates = !("application_due_date" in solicitation) && due_dates.length > 0 && closes_at !== null;
  return {
    ...draft,
    organization: sameOrganization(draft.organization ?? {}, stored.organization),
    ...(saysTheSame(draft.description?.replace(/\.\.\.$/, ""), description, true) ? { summary, description } : {}),
    ...(lacksDueDates ? { dates: { ...draft.dates, closes_at: dates.closes_at ?? null }, expires_at: closes_at } : {}),
  };
}

/**
 * A topic is identified by its page: only the API has its solicitation's number, which can change. One of the Department of Defense by its
 * code, as in the DoD portal.
 */
function versionOf(solicitation: JsonObject, topic: JsonObject): Version | undefined {
  const page = /sbir\.gov\/(\w+\/\w+)\/?$/.exec(textOf(topic.sbir_topic_link))?.[1];
  return page === undefined || codeOf(solicitation, topic) !== "" ? undefined : { source: SOURCE, id: page };
}

async function* versionsIn(inputs: readonly Input[]): AsyncIterable<Version> {
  for await (const found of elementsOf(inputs, solicitationsIn)) {
    if (found.kind === "rejected") continue;
    for (const version of topicsOf(found.raw).map((topic) => versionOf(found.raw, topic))) if (version !== undefined) yield version;
  }
}

function lineageOf(solicitation: JsonObject, topic: JsonObject, title: string): string {
  const number = textOf(solicitation.solicitation_number);
  const topicNumber = textOf(topic.topic_number);
  const named = topicNumber || plainText(title).toLowerCase();
  if (number === "" || codeOf(solicitation, topic) !== "") return named;
  return Object.keys(topic).length === 0 ? number : `${number}|${named}`;
}

function codeOf(solicitation: JsonObject, topic: JsonObject): string {
  const { agency } = agencyIn(solicitation);
  return agency !== undefined && isWithin(agency.code, DEFENSE) ? textOf(topic.topic_number) : "";
}

function agencyIn(solicitation: JsonObject): { text: string; agency: Agency | undefined } {
  const text = textOf(solicitation.agency);
  const code = resolveAgency({ codes: [], agency: text, sub_agency: null, issuing_office: null });
  return { text, agency: code === null ? undefined : agencyByCode(code) };
}

function agencyOf(solicitation: JsonObject, context: FormatContext): string | null {
  const { text, agency } = agencyIn(solicitation);
  if (agency === undefined && text !== "") context.warn(`unknown agency "${text}"`);
  return agency?.name ?? (text || null);
}

/** In 2023, "N/A" means that none is stated. */
function branchOf({ branch }: JsonObject): string | null {
  const text = textOf(branch);
  return text === "" || text === "N/A" ? null : text;
}

function sbirStatus(status: string, opens: string | null, context: FormatContext): string | null {
  const word = status.toLowerCase();
  if (word === "closed") return "closed";
  if (word === "future") return opens === null ? "pre_release" : null;
  if (word !== "open") context.warn(`unknown status "${status}"`);
  return null;
}

/** There may be several due dates before it expires. Between the last and that day nothing can be submitted. */
function deadlinesOf(solicitation: JsonObject, topic: JsonObject, context: FormatContext) {
  const expires = closingOf(topic.topic_closed_date, context) ?? closingOf(solicitation.close_date, context);
  if (!("application_due_date" in solicitation)) return { closes: expires }; // The export has only the day on which it expires.
  const { due_dates, closes_at } = dueDates([solicitation.application_due_date].flat().map((date) => closingOf(date, context)));
  return { closes: closes_at ?? expires, due_dates, expires_at: closes_at === null ? null : expires };
}

function descriptionOf(topic: JsonObject): string | null {
  const subtopics = objectsOf(topic.subtopics).map(({ subtopic_number, subtopic_title, subtopic_description }) => {
    const heading = joined([subtopic_number, subtopic_title].map(textOf), ": ") ?? "";
    return joined([heading, textOf(subtopic_description)], "\n") ?? "";
  });
  return joined([textOf(topic.topic_description), ...subtopics], "\n\n");
}

function urlOf(solicitation: JsonObject, topic: JsonObject): string | null {
  const links = [topic.sbir_topic_link, solicitation.sbir_solicitation_link, solicitation.solicitation_agency_url];
  return links.map(addressOf).find((address) => address !== "") ?? null;
}

function linkOf(address: unknown): NonNullable<Draft["attachments"]> {
  const url = addressOf(address);
  return url === "" ? [] : [{ name: "Agency's announcement", url }];
}

/** The original address: many links lead to a copy in the web archive. */
function addressOf(link: unknown): string {
  return textOf(link).replace(/^https?:\/\/web\.archive\.org\/web\/\w+\//, "");
}

function openingOf(date: unknown, { warn }: FormatContext): string | null {
  return dateInstant(textOf(date), "00:00:00", warn);
}

function closingOf(date: unknown, { warn }: FormatContext): string | null {
  return dateInstant(textOf(date), "23:59:59", warn);
}
