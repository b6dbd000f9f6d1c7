/** NSF: the CSV export of its funding search. Each program and each Dear Colleague Letter is an opportunity. */
import { ANYTIME_NOTE, LETTER } from "../../opportunities/opportunity.ts";
import { dateInstant } from "../../text/eastern.ts";
import { plainText, summaryOf, withoutC1Controls } from "../../text/plain-text.ts";
import type { Draft, Format, FormatContext, Input, Item } from "../format.ts";
import { programType } from "../program-type.ts";
import { type CsvRow, csvRows } from "../readers/csv-rows.ts";
import { distinct, dueDates, elementsOf, itemsOf, rejected } from "./items.ts";

const SOURCE = "NSF";

export const nsf: Format = {
  name: "nsf",
  source: SOURCE,
  about: "NSF: the CSV export of its funding search",
  entry: /\.csv$/i,
  read,
};

const COLUMNS = [
  "Title",
  "Synopsis",
  "Award Type",
  "Next due date (Y-m-d)",
  ANYTIME_NOTE,
  "Program ID",
  "NSF/PD Num",
  "Status",
  "Posted date (Y-m-d)",
  "URL",
  "Type",
  "Solicitation URL",
] as const;

type Column = (typeof COLUMNS)[number];
type Text = (column: Column) => string;

/** A program may have a row for each of its solicitations: the newest replaces the others. */
async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  const newest = await newestPostings(inputs);
  yield* itemsOf(rowsOf(inputs), (row) => {
    const text = textIn(row);
    const id = idOf(text);
    if (id === "") return rejected("Program ID and URL must not both be blank");
    const isSuperseded = text("Posted date (Y-m-d)") < (newest.get(id) ?? "");
    return { ...(isSuperseded && { isSuperseded }), kind: "record", record: toDraft(id, text, context) };
  });
}

function rowsOf(inputs: readonly Input[]) {
  return elementsOf(inputs, ({ bytes }) => csvRows(bytes(), COLUMNS));
}

async function newestPostings(inputs: readonly Input[]): Promise<Map<string, string>> {
  const newest = new Map<string, string>();
  for await (const { raw } of rowsOf(inputs)) {
    const text = textIn(raw);
    const [id, posted] = [idOf(text), text("Posted date (Y-m-d)")];
    if (posted > (newest.get(id) ?? "")) newest.set(id, posted);
  }
  return newest;
}

function textIn(row: CsvRow): Text {
  return (column) => withoutC1Controls(row[column] ?? "").trim();
}

/** Dear Colleague Letters have no program id. Programs of one solicitation share its number, which changes with it. */
function idOf(text: Text): string {
  return text("Program ID") || text("URL");
}

function toDraft(id: string, text: Text, context: FormatContext): Draft {
  const title = plainText(text("Title"));
  const number = /\d/.test(text("NSF/PD Num")) ? text("NSF/PD Num") : "";
  const awardTypes = splitList(text("Award Type"));
  const type = programType({ title, instruments: awardTypes.flatMap((word) => AWARD_TYPES[word]?.instrument ?? []) });
  const due = splitList(text("Next due date (Y-m-d)")).map((date) => dateInstant(date, "23:59:59", context.warn));
  const { due_dates, closes_at } = dueDates(due);
  return {
    source: { code: SOURCE, opportunity_id: id, url: text("URL") || null },
    ...(number === "" || number === id ? {} : { earlier_ids: [number] }),
    title: title || "Untitled",
    summary: summaryOf(text("Synopsis")),
    description: text("Synopsis") || null,
    ...(LETTERS.test(text("Type")) ? { status_display: LETTER } : {}),
    ...nsfStatus(text("Status"), context),
    organization: { agency: "National Science Foundation" },
    program: {
      type: type === "OTHER" && awardTypes.length === 0 ? null : type, // Without an award type, the type is unknown.
      solicitation_id: number || null,
      solicitation_title: title || null,
      contract_class: awardTypes.map((word) => labelOf(word, context)).join("; ") || null,
    },
    dates: { posted_at: dateInstant(text("Posted date (Y-m-d)"), "00:00:00", context.warn), closes_at },
    due_dates,
    classifications: { keywords: distinct([text("Type")]) },
    ...(text(ANYTIME_NOTE) === "1" ? { deadline_note: ANYTIME_NOTE } : {}),
    attachments: distinct([text("Solicitation URL")]).map((url) => ({ name: "Solicitation", url })),
  };
}

const LETTERS = /^dear colleague letter$/i;

/** Award types, and the code of the same funding instrument at Grants.gov. */
const AWARD_TYPES: Readonly<Record<string, { label: string; instrument?: string } | undefined>> = Object.assign(Object.create(null), {
  standard: { label: "Standard Grant", instrument: "G" },
  continuing: { label: "Continuing Grant", instrument: "G" },
  coop: { label: "Cooperative Agreement", instrument: "CA" },
  supplemental: { label: "Supplement", instrument: "G" },
  fellow: { label: "Fellowship", instrument: "G" },
  other: { label: "Other" },
});

function labelOf(word: string, { warn }: FormatContext): string {
  const label = AWARD_TYPES[word]?.label;
  if (label === undefined) warn(`unknown award type "${word}" is kept as it is`);
  return label ?? word;
}

/** No proposals are accepted then. Otherwise the dates decide. */
const CLOSED = new Set(["Waiting for new publication", "Current but no longer receiving proposals"]);

function nsfStatus(status: string, { warn }: FormatContext): Pick<Draft, "status" | "status_display"> {
  if (CLOSED.has(status)) return { status: "closed", status_display: status };
  if (status !== "Cleared" && status !== "") warn(`unknown status "${status}": the dates decide`);
  return {};
}

function splitList(text: string): string[] {
  return distinct(text.split(",").map((word) => word.trim()));
}
