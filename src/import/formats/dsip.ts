/**
 * Topics of the DoD SBIR/STTR portal (dodsbirsttr.mil): answers of its topic search, and of its details and questions calls, which
 * are joined to their topic. Two third parties' layouts of the same fields are read too: an export as CSV and an enriched JSON.
 *
 * A file of questions does not say whose they are: they belong to the topic whose id or code stands in the file's name, else to the
 * topic of the details file named before it. One file of many topics' details may instead hold `questions` in each of them.
 */
import { parseInstantMs } from "../../text/instant.ts";
import { arrayOf, type JsonObject, objectOf, parseJson, textOf } from "../../text/json-value.ts";
import { plainText, summaryOf } from "../../text/plain-text.ts";
import { csvRows } from "../csv-rows.ts";
import { easternInstant } from "../eastern.ts";
import type { Format, FormatContext, Input, Item } from "../format.ts";
import { naming } from "../input.ts";
import { type Around, beginningOf, type FoundObject, firstCharacter, jsonObjects } from "../json-elements.ts";
import { programType } from "../program-type.ts";
import type { Draft } from "../record.ts";

const SOURCE = "DSIP";

export const dsip: Format = {
  name: "dsip",
  source: SOURCE,
  about: "DoD SBIR/STTR portal: topic search answers, with details and questions answers beside them",
  read,
};

const PORTAL = "https://www.dodsbirsttr.mil";

/** A topic under the portal's own field names, whatever layout it came in. */
type Topic = JsonObject;

/** The export's columns that hold the portal's values; all its others are computed. */
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
    context.warn(`the portal's search found ${survey.total} topics, of which these files hold ${survey.topics.size}`);
  const questions = questionsByTopic(survey);

  const joined = new Map<string, number>();
  for await (const piece of piecesOf(inputs)) {
    if (piece.kind === "rejected") yield { ...piece, source: SOURCE };
    if (piece.kind === "rejected" || !isTopic(piece.value)) continue;
    const { input, line, raw, value } = piece;
    const [id, code] = [textOf(value.topicId), textOf(value.topicCode)];
    const count = (joined.get(id) ?? 0) + 1;
    joined.set(id, count);
    if (code === "") yield { kind: "rejected", input, line, raw, reason: "topicCode must not be blank", source: SOURCE };
    else if (id !== "" && count > TOPICS_OF_ID_MAX)
      yield {
        kind: "rejected",
        input,
        line,
        raw,
        reason: `more than ${TOPICS_OF_ID_MAX} topics have its topicId`,
        source: SOURCE,
        lineage: code,
      };
    else
      yield {
        kind: "record",
        input,
        line,
        raw,
        record: toDraft({ ...value, ...questions.get(id), ...survey.details.get(id)?.value }, context),
        partial: "omits",
      };
  }
  for (const [id, { input, line, raw }] of survey.details)
    if (!joined.has(id)) yield { kind: "rejected", input, line, raw, reason: `no topic search answer among the files has the topic ${id}` };
}

/** Topics that one topic's details are joined to: were there no end to it, a small file could become any number of large records. */
const TOPICS_OF_ID_MAX = 10;

/* The files */

/** An element of a file under the portal's field names. */
type Piece = { kind: "object"; input: Input; line: number; raw: unknown; value: JsonObject };
type Refused = { kind: "rejected"; input: Input; line: number; raw: unknown; reason: string };

/** What stands beside the topics, and which topics there are by id. */
type Survey = {
  topics: Map<string, string>;
  details: Map<string, Piece>;
  /** Questions by file, with the details file's topic before it. */
  asked: Map<Input, { after: string; questions: JsonObject[] }>;
  /** What the search says that it found. */
  total: number;
};

async function surveyOf(inputs: readonly Input[]): Promise<Survey> {
  const survey: Survey = { topics: new Map(), details: new Map(), asked: new Map(), total: 0 };
  let after = "";
  const around = (document: unknown) => {
    survey.total = Math.max(survey.total, Number(textOf(objectOf(document).total)));
  };
  for await (const piece of piecesOf(inputs, around)) {
    if (piece.kind === "rejected") continue;
    const { input, value } = piece;
    const id = textOf(value.topicId);
    if (isTopic(value)) survey.topics.set(id, textOf(value.topicCode));
    else if (isQuestion(value)) {
      const asked = survey.asked.get(input) ?? { after, questions: [] };
      asked.questions.push(value);
      survey.asked.set(input, asked);
    } else {
      survey.details.set(id, piece);
      after = id;
    }
  }
  return survey;
}

function questionsByTopic({ topics, asked }: Survey): Map<string, { questions: JsonObject[] }> {
  const byTopic = new Map<string, { questions: JsonObject[] }>();
  for (const [input, { after, questions }] of asked) {
    const named = [...topics].filter(([id, code]) => [id, code].some((name) => name !== "" && input.name.includes(name)));
    const [topic = after] = named.map(([id]) => id).toSorted((one, other) => other.length - one.length);
    if (topic === "")
      throw new Error(
        `Cannot import ${input.name}: it does not say which topic its questions are about; give that topic's details file before it, or name the file after the topic`,
      );
    byTopic.set(topic, { questions });
  }
  return byTopic;
}

async function* piecesOf(inputs: readonly Input[], around?: Around): AsyncIterable<Piece | Refused> {
  for (const input of inputs) for await (const piece of naming(input, piecesIn(input, around))) yield { input, ...piece };
}

async function* piecesIn(input: Input, around?: Around): AsyncIterable<Omit<Piece, "input"> | Omit<Refused, "input">> {
  const first = await firstCharacter(input.bytes());
  if (first !== "{" && first !== "[") {
    for await (const { line, row } of csvRows(input.bytes(), Object.keys(EXPORT_FIELDS)))
      yield { kind: "object", line, raw: row, value: renamed(row, EXPORT_FIELDS) };
    return;
  }
  for await (const found of elementsOf(input, first, around))
    yield found.kind === "rejected" ? found : { ...found, value: portalFields(found.raw) };
}

function portalFields(raw: JsonObject): JsonObject {
  return "topic_code" in raw ? renamed(raw, ENRICHED_FIELDS) : raw;
}

function pieceFault(raw: JsonObject): string | undefined {
  const value = portalFields(raw);
  if (isTopic(value) || isQuestion(value) || "topicId" in value) return undefined;
  return "is neither a topic, nor a topic's details, nor a question";
}

/** `{total, data: […]}` of the search, `{topics: […]}` of the enriched layout, an array of anything, or one topic's details. */
async function* elementsOf(input: Input, first: string, around?: Around): AsyncIterable<FoundObject> {
  const faultOf = pieceFault;
  if (first === "[") yield* jsonObjects(input.bytes(), "", { faultOf });
  else {
    const [, member] = /"(data|topics)"\s*:\s*\[/.exec(await beginningOf(input.bytes())) ?? [];
    if (member === undefined) yield* jsonObjects(asArray(input.bytes()), "", { faultOf });
    else yield* jsonObjects(input.bytes(), member, { around, faultOf });
  }
}

async function* asArray(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield Buffer.from("[");
  yield* bytes;
  yield Buffer.from("]");
}

function renamed(value: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(names).map(([theirs, portals]) => [portals, value[theirs]]));
}

function isTopic(value: JsonObject): boolean {
  return "topicCode" in value;
}

function isQuestion(value: JsonObject): boolean {
  return "questionId" in value;
}

/* The draft */

/** Search, details and questions tell different fields. What none of the files tells is left out: then what an earlier import stored holds. */
function toDraft(topic: Topic, context: FormatContext): Draft {
  const code = textOf(topic.topicCode);
  const opens = instantOf(topic.topicStartDate, "00:00:00");
  const closes = instantOf(topic.topicEndDate, "23:59:59");
  return {
    source: { code: SOURCE, opportunity_id: code, url: `${PORTAL}/topics-app/` },
    title: plainText(textOf(topic.topicTitle)) || code,
    status: statusOf(textOf(topic.topicStatus), opens, context),
    organization: {
      agency: "Department of Defense",
      sub_agency: textOf(topic.component) || null,
      issuing_office: textOf(topic.command) || null,
    },
    program: {
      type: programType({ program: textOf(topic.program), title: textOf(topic.solicitationTitle), number: code }),
      solicitation_id: textOf(topic.solicitationNumber) || null,
      solicitation_title: textOf(topic.solicitationTitle) || null,
      contract_class: phasesOf(topic.phaseHierarchy),
    },
    dates: { posted_at: instantOf(topic.topicPreReleaseStartDate, "00:00:00"), opens_at: opens, closes_at: closes, response_at: closes },
    ...("baaInstructions" in topic ? { contacts: contactsOf(topic), attachments: attachmentsOf(topic) } : {}),
    ...("objective" in topic ? detailsOf(topic) : {}),
    ...("questions" in topic ? { questions: arrayOf(topic.questions).map(objectOf).map(questionOf) } : {}),
  };
}

function detailsOf(topic: Topic) {
  return {
    summary: summaryOf(textOf(topic.objective) || textOf(topic.description)),
    description: descriptionOf(topic),
    classifications: {
      keywords: keywordsOf(topic.keywords),
      technology_areas: listOf(topic.technologyAreas, ","),
      tech_taxonomy: listOf(topic.focusAreas, "|").map((area) => `DSIP_FOCUS:${area}`),
    },
    eligibility: { requirements: requirementsOf(topic) },
  };
}

/** What follows from the dates is left to the clock (D-37); the portal's word counts where they do not tell. */
function statusOf(status: string, opens: string | null, context: FormatContext): string | null {
  if (status === "Closed") return "closed";
  if (status === "Pre-Release") return opens === null ? "pre_release" : null;
  if (status !== "Open") context.warn(`unknown topic status "${status}"`);
  return null;
}

function descriptionOf(topic: Topic): string | null {
  const texts: Topic = { ...topic, referenceDocuments: referencesOf(topic.referenceDocuments) };
  const sections = SECTIONS.map(([heading, field]) => [heading, textOf(texts[field])] as const).filter(([, text]) => text !== "");
  return sections.map(([heading, text]) => `<h3>${heading}</h3>\n${text}`).join("\n") || null;
}

function referencesOf(references: unknown): string {
  if (!Array.isArray(references)) return textOf(references);
  const items = references.map(objectOf).map(({ referenceTitle, url }) => `${textOf(referenceTitle)} ${textOf(url)}`.trim());
  return items.length === 0 ? "" : `<ol>${items.map((item) => `<li>${item}</li>`).join("")}</ol>`;
}

/** `phaseHierarchy` is JSON inside a string: {"config": [{"displayValue": "I", "hasConfiguration": "Y"}]}. Old topics have none that is set up. */
function phasesOf(hierarchy: unknown): string | null {
  const phases = arrayOf(objectOf(parseJson(hierarchy)).config).map(objectOf);
  const names = phases.filter((phase) => (phase.hasConfiguration ?? "Y") === "Y").map((phase) => textOf(phase.displayValue));
  return names.map((name) => (name === "SPII" ? "Sequential Phase II" : `Phase ${name}`)).join(", ") || null;
}

/** Separated by ";", in older topics by ",", and now and then a paragraph of HTML. */
function keywordsOf(keywords: unknown): string[] {
  const text = plainText(textOf(keywords));
  return [...new Set(listOf(Array.isArray(keywords) ? keywords : text, text.includes(";") ? ";" : ","))];
}

function listOf(value: unknown, separator: string): string[] {
  const items = Array.isArray(value) ? value.map(textOf) : textOf(value).split(separator);
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

function requirementsOf(topic: Topic): string | null {
  const itar = topic.itar === true || topic.itar === "Yes" ? "Export controlled (ITAR)." : "";
  const level = textOf(topic.cmmcLevel);
  return [itar, level && `CMMC level: ${level}.`].filter(Boolean).join(" ") || null;
}

/** The managers that the portal shows, without an address or telephone that it does not show. */
function contactsOf(topic: Topic): NonNullable<Draft["contacts"]> {
  const managers = topic.showTpoc === false ? [] : arrayOf(topic.topicManagers).map(objectOf);
  return managers.map((manager) => ({
    name: textOf(manager.name) || null,
    email: (manager.emailDisplay !== "N" && textOf(manager.email)) || null,
    phone: (manager.phoneDisplay !== "N" && textOf(manager.phone)) || null,
    role: textOf(manager.assignmentType) || null,
  }));
}

/** The announcement and the component's instructions. A new version of one has a new number. */
function attachmentsOf(topic: Topic): NonNullable<Draft["attachments"]> {
  const preface: JsonObject = { uploadId: topic.baaPrefaceUploadId, fileName: topic.baaPrefaceUploadTitle };
  const uploads = [preface, ...arrayOf(topic.baaInstructions).map(objectOf)].filter(({ uploadId }) => textOf(uploadId) !== "");
  return uploads.map(({ uploadId, fileName }) => ({
    name: textOf(fileName) || null,
    url: `${PORTAL}/submissions/api/public/download/${textOf(uploadId)}`,
  }));
}

/** An answer is JSON inside a string, {"content": "<p>…", "length": …}, of which the content counts; several are joined. */
function questionOf({ question, answer, answers }: JsonObject): { question: string | null; answer: string | null } {
  const texts = [answer, ...arrayOf(answers).map((each) => objectOf(each).answer)].map(
    (each) => textOf(objectOf(parseJson(each)).content) || textOf(each),
  );
  return { question: textOf(question) || null, answer: texts.filter((text) => text !== "").join("\n") || null };
}

/** Milliseconds since 1970, as a number or text; a timestamp; or, in the export, a date. */
function instantOf(value: unknown, timeOfDate: string): string | null {
  const text = textOf(value);
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return easternInstant(text, timeOfDate) ?? null;
  const ms = /^-?\d{1,14}$/.test(text) ? Number(text) : parseInstantMs(text);
  return ms === undefined ? null : easternAt(ms);
}

/** The instant as an eastern clock shows it: four hours behind UTC in summer, five in winter. */
function easternAt(ms: number): string {
  const [summer, winter] = [4, 5].map((hours) => {
    const wall = new Date(ms - hours * 3_600_000).toISOString();
    return easternInstant(wall.slice(0, 10), wall.slice(11, 19)) ?? "";
  });
  return (summer?.endsWith("-04:00") ? summer : winter) ?? "";
}
