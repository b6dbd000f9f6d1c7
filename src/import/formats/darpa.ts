/** DARPA: the JSON feed of its opportunities page. */
import { opportunityId } from "../../opportunities/identity.ts";
import { dateInstant } from "../../text/eastern.ts";
import { type JsonObject, textOf } from "../../text/json-value.ts";
import { plainText, summaryOf } from "../../text/plain-text.ts";
import type { Draft, Format, FormatContext, Input, Item } from "../format.ts";
import { programType } from "../program-type.ts";
import { jsonObjects } from "../readers/json-elements.ts";
import { distinct, elementsOf, faultWithout, itemsOf, rejected } from "./items.ts";

const SOURCE = "DARPA";
const SITE = "https://www.darpa.mil";

export const darpa: Format = {
  name: "darpa",
  source: SOURCE,
  about: "DARPA: the JSON feed of its opportunities",
  entry: /\.json$/i,
  read,
};

type Survey = {
  /** The fullest row of each node, by file; of equals the last. */
  fullest: Map<Input, Map<string, { length: number; line: number }>>;
  /** The node of each opportunity number; "" if several have it. */
  nodes: Map<string, string>;
};

/** Each node comes twice in a feed, once without its body, which the full row replaces. */
async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  const survey = await surveyOf(inputs);
  yield* itemsOf(rowsOf(inputs), (row, { input, line }) => {
    const id = textOf(row.nid);
    if (id === "") return rejected("nid must not be blank");
    const superseded = line === survey.fullest.get(input)?.get(id)?.line ? {} : ({ isSuperseded: true } as const);
    return { kind: "record", ...superseded, record: toDraft(id, row, survey, context), partial: "omits" };
  });
}

function rowsOf(inputs: readonly Input[]) {
  return elementsOf(inputs, ({ bytes }) => jsonObjects(bytes(), "", { faultOf: faultWithout("nid") }));
}

async function surveyOf(inputs: readonly Input[]): Promise<Survey> {
  const survey: Survey = { fullest: new Map(inputs.map((input) => [input, new Map()])), nodes: new Map() };
  for await (const found of rowsOf(inputs)) {
    if (found.kind === "rejected") continue;
    const [id, number] = [textOf(found.raw.nid), textOf(found.raw.field_opportunity_number)];
    const { length } = bodyOf(found.raw);
    const fullest = survey.fullest.get(found.input);
    if (length >= (fullest?.get(id)?.length ?? 0)) fullest?.set(id, { length, line: found.line });
    const known = survey.nodes.get(number);
    survey.nodes.set(number, known === undefined || known === id ? id : "");
  }
  return survey;
}

/** The second field lacks some links, but is the only one with a text in some feeds. */
function bodyOf(row: JsonObject): string {
  return textOf(row.field_body_with_summary) || textOf(row.field_body_with_summary_1);
}

function toDraft(id: string, row: JsonObject, survey: Survey, context: FormatContext): Draft {
  const title = plainText(textOf(row.title));
  const number = textOf(row.field_opportunity_number);
  const { text, link } = splitBody(bodyOf(row));
  const parent = umbrellaOf(number, survey);
  const closes_at = dateInstant(textOf(row.field_close_date), "23:59:59", context.warn);
  return {
    source: { code: SOURCE, opportunity_id: id, url: absoluteUrl(textOf(row.field_external_url)) },
    title: title || number || "Untitled",
    summary: summaryOf(text),
    description: text || null,
    ...(/^future program:/i.test(title) ? { status: "forecast", status_display: "Future Program", status_until: closes_at } : {}),
    organization: {
      agency: "Defense Advanced Research Projects Agency (DARPA)",
      issuing_office: textOf(row.field_taxonomy_office) || null,
    },
    program: { type: typeOf(title), solicitation_id: number || null, solicitation_title: title || null },
    dates: { opens_at: dateInstant(textOf(row.field_open_date), "00:00:00", context.warn), closes_at },
    classifications: { keywords: distinct(textOf(row.field_research_topics).split("|").map(plainText)) },
    attachments: link === undefined ? [] : [link],
    // Left out if the feed lacks it: a closed umbrella leaves the feed before its topics do.
    ...(parent === undefined ? {} : { relationships: { parent_id: opportunityId(SOURCE, parent) } }),
  };
}

/** Under whose number it was issued: DARPA-PA-25-07 for DARPA-PA-25-07-06. */
function umbrellaOf(number: string, { nodes }: Survey): string | undefined {
  const [, prefix = ""] = /^(.+-\d+)-\d+$/.exec(number) ?? [];
  return (prefix && nodes.get(prefix)) || undefined;
}

function typeOf(title: string): string | null {
  if (/^(industry|proposers?'?) day:/i.test(title)) return "INDUSTRY_EVENT";
  if (/^rfi:/i.test(title)) return "RFI";
  const type = programType({ title });
  return type === "OTHER" ? null : type;
}

/** Many end with a link: ` | <a href="/research/programs/shine">See Program</a>`. */
function splitBody(body: string): { text: string; link?: { name: string; url: string } } {
  const bar = body.lastIndexOf("|");
  const [, attributes = "", name = "", after = ""] =
    bar === -1 ? [] : (/^\|\s*<a\s([^<>]*)>([^<>]*)<\/a>(.*)$/s.exec(body.slice(bar)) ?? []);
  const [, address = ""] = /\bhref="([^"]*)"/.exec(attributes) ?? [];
  const url = absoluteUrl(address);
  const text = url === null ? body : body.slice(0, bar).replace(BLANKS_AT_END, "") + after;
  return { text: text.replaceAll('href="/', `href="${SITE}/`), ...(url === null ? {} : { link: { name: plainText(name) || url, url } }) };
}

const BLANKS_AT_END = /(?<!\s|&nbsp;)(?:\s|&nbsp;)+$/;

function absoluteUrl(address: string): string | null {
  return address === "" ? null : (URL.parse(address, SITE)?.href ?? address);
}
