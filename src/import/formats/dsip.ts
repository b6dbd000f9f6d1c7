/**
 * Topics of the DoD SBIR/STTR portal (dodsbirsttr.mil): responses of its topic search, and of its details and questions calls, which are
 * joined to their topic. Two third parties' layouts with the same fields are also read: an export as CSV and an enriched JSON.
 *
 * A file of questions does not name its topic. It belongs to the topic of the details before it, which may also have `questions` themselves.
 */
import { dateInstant, easternAt, easternDate } from "../../text/eastern.ts";
import { parseInstantMs } from "../../text/instant.ts";
import { type JsonObject, objectOf, objectsOf, parseJson, textOf } from "../../text/json-value.ts";
import { plainText, summaryOf } from "../../text/plain-text.ts";
import type { Draft, Format, FormatContext, Input, Item } from "../format.ts";
import { programType } from "../program-type.ts";
import { csvRows } from "../readers/csv-rows.ts";
import { InvalidInput } from "../readers/input.ts";
import { type Around, beginningOf, firstCharacter, jsonObjects } from "../readers/json-elements.ts";
import { distinct, elementsOf, type FoundElement, itemsOf, joined, orNull, rejected, renamed, saysTheSame } from "./items.ts";

const SOURCE = "DSIP";

export const dsip: Format = {
  name: "dsip",
  source: SOURCE,
  about: "DoD SBIR/STTR portal: topic search responses, joined with details and questions responses",
  read,
};

const PORTAL = "https://www.dodsbirsttr.mil";

/** The export's columns with the portal's values. Its other columns are computed. */
const EXPORT_FIELDS: Readonly<Record<string, string>> = {
  topic_number_topiccode: "topicCode",
  topic_id_topicid: "topicId",
  title_topictitle: "topicTitle",
  component_component: "component",
  command_command: "command",
  program_program: "program",
  solicitation_solicitationtitle: "solicitationTitle",
  solicitation_number_solicitationnumber: "solicitationNumber",
  status_topicstatus: "topicStatus",
  open_date_topicstartdate_converted_to_mm_dd_yyyy: "topicStartDate",
  close_date_topicenddate_converted_to_mm_dd_yyyy: "topicEndDate",
  pre_release_start_topicprereleasestartdate: "topicPreReleaseStartDate",
  technology_areas_details_technologyareas_array_joined: "technologyAreas",
  modernization_priorities_details_focusareas_array_joined: "focusAreas",
  keywords_details_keywords: "keywords",
  itar_controlled_details_itar_boolean_to_yes_no: "itar",
  objective_details_objective_with_html_removed: "objective",
  description_details_description_with_html_removed: "description",
  phase_i_description_details_phase1description_with_html_removed: "phase1Description",
  phase_ii_description_details_phase2description_with_html_remove: "phase2Description",
  phase_iii_dual_use_details_phase3description_with_html_removed: "phase3Description",
  references_details_referencedocuments_array_formatted: "referenceDocuments",
  published_questions_noofpublishedquestions: "noOfPublishedQuestions",
  qanda_content_fetched_from_questions_endpoint_and_formatted: "questions",
};

const ENRICHED_FIELDS: Readonly<Record<string, string>> = {
  topic_id: "topicId",
  topic_code: "topicCode",
  title: "topicTitle",
  status: "topicStatus",
  program: "program",
  component: "component",
  solicitation_number: "solicitationNumber",
  start_date: "topicStartDate",
  deadline: "topicEndDate",
  phase: "phaseHierarchy",
  cmmc_level: "cmmcLevel",
  description: "description",
  objective: "objective",
  keywords: "keywords",
  technology_areas: "technologyAreas",
  focus_areas: "focusAreas",
  itar: "itar",
  qa_entries: "questions",
};

const SECTIONS = [
  ["Objective", "objective"],
  ["Description", "description"],
  ["Phase I", "phase1Description"],
  ["Phase II", "phase2Description"],
  ["Phase III dual use applications", "phase3Description"],
  ["References", "referenceDocuments"],
] as const;

async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  const survey = await surveyOf(inputs);
  if (survey.total > survey.topics.size)
    context.incomplete(`the portal's search found ${survey.total} topics; these files contain ${survey.topics.size} of them`);
  const counts = new Map<string, number>();
  yield* itemsOf(elementsOf(inputs, piecesIn), (raw) => {
    const topic = portalFields(raw);
    if (!("topicCode" in topic)) return undefined;
    const [id, code] = [textOf(topic.topicId), textOf(topic.topicCode)];
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    if (code === "") return rejected("topicCode must not be blank");
    if (id !== "" && count > TOPICS_OF_ID_MAX)
      return { ...rejected(`more than ${TOPICS_OF_ID_MAX} topics have its topicId`), source: SOURCE, lineage: code };
    const questions = survey.questions.get(id)?.all;
    const whole = { ...topic, ...(questions && { questions }), ...survey.details.get(id)?.value };
    const record = toDraft(whole, context);
    return { kind: "record", record, partial: "omits", reconcile: (stored) => reconciled(whole, record, stored) };
  });
  for (const [id, { input, line, raw }] of survey.details)
    if (!counts.has(id)) yield { input, line, raw, ...rejected(`no topic search response among the files has the topic ${id}`) };
}
/** Without a limit, a small file could become any number of large records. */
const TOPICS_OF_ID_MAX = 10;

/* The files */

/** What the files hold: the ids of topics, the details and questions to join to them by id, and how many topics the search found. */
type Survey = {
  topics: Set<string>;
  details: Map<string, { input: Input; line: number; raw: unknown; value: JsonObject }>;
  questions: Map<string, { input: Input; all: JsonObject[] }>;
  total: number;
};

async function surveyOf(inputs: readonly Input[]): Promise<Survey> {
  const survey: Survey = { topics: new Set(), details: new Map(), questions: new Map(), total: 0 };
  let after = "";
  const around = (document: unknown) => {
    survey.total = Math.max(survey.total, Number(textOf(objectOf(document).total)));
  };
  for await (const { input, ...piece } of elementsOf(inputs, (each) => piecesIn(each, around))) {
    if (piece.kind === "rejected") continue;
    const value = portalFields(piece.raw);
    const id = textOf(value.topicId);
    if ("topicCode" in value) survey.topics.add(id);
    else if (!("questionId" in value)) {
      survey.details.set(id, { ...piece, input, value });
      after = id;
    } else if (after !== "") {
      const known = survey.questions.get(after);
      if (known?.input === input) known.all.push(value);
      else survey.questions.set(after, { input, all: [value] }); // As of details, the last file counts.
    } else
      throw new InvalidInput(input.name, "it does not say which topic its questions are about; give that topic's details file before it");
  }
  return survey;
}

async function* piecesIn(input: Input, around?: Around): AsyncIterable<FoundElement> {
  const first = await firstCharacter(input);
  if (first === "[") yield* jsonObjects(input.bytes(), "", { faultOf });
  else if (first !== "{") yield* csvRows(input.bytes(), Object.keys(EXPORT_FIELDS));
  else {
    const [, member] = /"(data|topics)"\s*:\s*\[/.exec(await beginningOf(input.bytes())) ?? [];
    if (member === undefined) yield* jsonObjects(asArray(input.bytes()), "", { faultOf });
    else yield* jsonObjects(input.bytes(), member, { around, faultOf });
  }
}

function portalFields(raw: JsonObject): JsonObject {
  if ("topic_number_topiccode" in raw) {
    const { questions, ...topic } = renamed(raw, EXPORT_FIELDS);
    return textOf(questions) === "" ? topic : { ...topic, questions: questionsIn(textOf(questions)) };
  }
  return "topic_code" in raw ? renamed(raw, ENRICHED_FIELDS) : raw;
}

/** The export has "Q1 (09/08/2023): …", "A: …" on a line of its own, and a blank line between two of them. */
function questionsIn(text: string): JsonObject[] {
  return text.split(/(?:^|\n\n)Q\d{1,6} \([\d/]{0,20}\): /).flatMap((each) => {
    const [question = "", ...answer] = each.split(/\nA: /);
    return each.trim() === "" ? [] : [{ question, answer: answer.join("\nA: ") }];
  });
}

function faultOf(raw: JsonObject): string | undefined {
  const value = portalFields(raw);
  if ("topicCode" in value || "questionId" in value || "topicId" in value) return undefined;
  return "is neither a topic, nor a topic's details, nor a question";
}

async function* asArray(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield Buffer.from("[");
  yield* bytes;
  yield Buffer.from("]");
}

/* The draft */

/**
 * Search, details, questions, export and enriched topics have different fields. What no file has is undefined, so that stored values stay.
 */
function toDraft(topic: JsonObject, context: FormatContext): Draft {
  const code = textOf(topic.topicCode);
  const opens = instantOf(topic.topicStartDate, "00:00:00", context);
  const closes = instantOf(topic.topicEndDate, "23:59:59", context);
  const isDetailed = "objective" in topic;
  const textIfAny = (field: string) => (field in topic ? textOf(topic[field]) || null : undefined);
  return {
    source: { code: SOURCE, opportunity_id: code, url: `${PORTAL}/topics-app/` },
    title: plainText(textOf(topic.topicTitle)) || code,
    summary: isDetailed ? summaryOf(textOf(topic.objective) || textOf(topic.description)) : undefined,
    description: isDetailed ? descriptionOf(topic) : undefined,
    status: dsipStatus(textOf(topic.topicStatus), opens, context),
    organization: {
      agency: "Department of Defense",
      sub_agency: textOf(topic.component) || null,
      issuing_office: textIfAny("command"),
    },
    program: {
      type: programType({ program: textOf(topic.program), title: textOf(topic.solicitationTitle), number: code }),
      solicitation_id: textOf(topic.solicitationNumber) || null,
      solicitation_title: textIfAny("solicitationTitle"),
      contract_class: "phaseHierarchy" in topic ? phaseNames(topic.phaseHierarchy) : undefined,
    },
    dates: {
      posted_at: "topicPreReleaseStartDate" in topic ? instantOf(topic.topicPreReleaseStartDate, "00:00:00", context) : undefined,
      opens_at: opens,
      closes_at: closes,
      response_at: closes,
    },
    classifications: isDetailed
      ? {
          keywords: keywordsOf(topic.keywords),
          technology_areas: listOf(topic.technologyAreas, ","),
          tech_taxonomy: listOf(topic.focusAreas, "|").map((area) => `DSIP_FOCUS:${area}`),
        }
      : undefined,
    eligibility: isDetailed ? { requirements: requirementsOf(topic) } : undefined,
    contacts: "baaInstructions" in topic ? contactsOf(topic) : undefined,
    attachments: "baaInstructions" in topic ? attachmentsOf(topic) : undefined,
    questions: "questions" in topic ? objectsOf(topic.questions).map(questionOf) : undefined,
    questions_read: "questions" in topic || textOf(topic.noOfPublishedQuestions) === "0" ? true : undefined,
  };
}

/**
 * Keeps stored values that are equal or more complete. The export has days without hours, texts without mark-up, and neither phases nor CMMC
 * levels. Enriched topics lack the texts of the phases and the solicitation's title, which may name another type.
 */
function reconciled(topic: JsonObject, draft: Draft, stored: Draft): Draft {
  const exact = (name: "posted_at" | "opens_at" | "closes_at" | "response_at", given: unknown) => {
    const [at, kept] = [draft.dates?.[name], stored.dates?.[name]];
    return at != null && kept != null && isDay(given) && easternDayOf(at) === easternDayOf(kept) ? { [name]: kept } : {};
  };
  const level = /CMMC level: [^\n]{1,100}$/.exec(stored.eligibility?.requirements ?? "")?.[0];
  const requirements = joined([draft.eligibility?.requirements ?? "", "cmmcLevel" in topic ? "" : (level ?? "")], " ");
  const isSame = saysTheSame(draft.description, stored.description, !("phase1Description" in topic));
  return {
    ...draft,
    ...(isSame && { description: stored.description ?? null, summary: stored.summary ?? null }),
    program: { ...draft.program, type: "solicitationTitle" in topic ? draft.program?.type : (stored.program?.type ?? draft.program?.type) },
    dates: {
      ...draft.dates,
      ...exact("posted_at", topic.topicPreReleaseStartDate),
      ...exact("opens_at", topic.topicStartDate),
      ...exact("closes_at", topic.topicEndDate),
      ...exact("response_at", topic.topicEndDate),
    },
    eligibility: draft.eligibility && { ...draft.eligibility, requirements },
  };
}

function isDay(value: unknown): boolean {
  const text = textOf(value);
  return !/^-?\d{1,14}$/.test(text) && parseInstantMs(text) === undefined;
}

function easternDayOf(instant: string): string {
  return easternDate(parseInstantMs(instant) ?? 0);
}

/** The portal's status counts if the dates do not determine one (D-37). */
function dsipStatus(status: string, opens: string | null, context: FormatContext): string | null {
  if (status === "Closed") return "closed";
  if (status === "Pre-Release") return opens === null ? "pre_release" : null;
  if (status !== "Open") context.warn(`unknown topic status "${status}"`);
  return null;
}

function descriptionOf(topic: JsonObject): string | null {
  const texts: JsonObject = { ...topic, referenceDocuments: referencesOf(topic.referenceDocuments) };
  const sections = SECTIONS.map(([heading, field]) => textOf(texts[field]) && `<h3>${heading}</h3>\n${textOf(texts[field])}`);
  return joined(sections, "\n");
}

function referencesOf(references: unknown): string {
  if (!Array.isArray(references)) return textOf(references);
  const items = references.map(objectOf).map(({ referenceTitle, url }) => `${textOf(referenceTitle)} ${textOf(url)}`.trim());
  return items.length === 0 ? "" : `<ol>${items.map((item) => `<li>${item}</li>`).join("")}</ol>`;
}

/** JSON in a string: {"config": [{"displayValue": "I", "hasConfiguration": "Y"}]}. In old topics no phase is configured. */
function phaseNames(hierarchy: unknown): string | null {
  const phases = objectsOf(objectOf(parseJson(hierarchy)).config);
  const names = phases.filter((phase) => (phase.hasConfiguration ?? "Y") === "Y").map((phase) => textOf(phase.displayValue));
  const inWords = names.map((name) => (name === "SPII" ? "Sequential Phase II" : `Phase ${name}`));
  return joined(inWords, ", ");
}

function keywordsOf(keywords: unknown): string[] {
  const text = plainText(textOf(keywords));
  return distinct(listOf(Array.isArray(keywords) ? keywords : text, text.includes(";") ? ";" : ","));
}

function listOf(value: unknown, separator: string): string[] {
  const items = Array.isArray(value) ? value.map(textOf) : textOf(value).split(separator);
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

function requirementsOf(topic: JsonObject): string | null {
  const itar = topic.itar === true || topic.itar === "Yes" ? "Export controlled (ITAR)." : "";
  const level = textOf(topic.cmmcLevel);
  return joined([itar, level && `CMMC level: ${level}.`], " ");
}

function contactsOf(topic: JsonObject): NonNullable<Draft["contacts"]> {
  const managers = topic.showTpoc === false ? [] : objectsOf(topic.topicManagers);
  return managers.map(({ name, email, emailDisplay, phone, phoneDisplay, assignmentType }) =>
    orNull({
      name: textOf(name),
      email: emailDisplay === "N" ? "" : textOf(email),
      phone: phoneDisplay === "N" ? "" : textOf(phone),
      role: textOf(assignmentType),
    }),
  );
}

/** The announcement and the component's instructions. A new version has a new upload id. */
function attachmentsOf(topic: JsonObject): NonNullable<Draft["attachments"]> {
  const preface: JsonObject = { uploadId: topic.baaPrefaceUploadId, fileName: topic.baaPrefaceUploadTitle };
  const uploads = [preface, ...objectsOf(topic.baaInstructions)].filter(({ uploadId }) => textOf(uploadId) !== "");
  return uploads.map(({ uploadId, fileName, uploadTypeCode }) => ({
    name: textOf(fileName) || null,
    url: `${PORTAL}/submissions/api/public/download/${textOf(uploadId)}`,
    kind: textOf(uploadTypeCode) || undefined,
  }));
}

function questionOf({ question, answer, answers }: JsonObject): { question: string | null; answer: string | null } {
  const all = [answer, ...objectsOf(answers).map((each) => each.answer)];
  const texts = all.map((each) => textOf(objectOf(parseJson(each)).content) || textOf(each));
  return { question: textOf(question) || null, answer: joined(texts, "\n") };
}

function instantOf(value: unknown, timeOfDate: string, { warn }: FormatContext): string | null {
  const text = textOf(value);
  const ms = /^-?\d{1,14}$/.test(text) ? Number(text) : parseInstantMs(text);
  return ms === undefined ? dateInstant(text, timeOfDate, warn) : easternAt(ms);
}
