/** NASA ROSES: the page of a year's programs and due dates (Table 3). parse5 reads its damaged HTML, and is loaded only here. */

import type { DefaultTreeAdapterMap } from "parse5";
import { dateInstant } from "../../text/eastern.ts";
import type { Draft, Format, FormatContext, Input, Item, RecordItem, RejectedItem } from "../format.ts";
import { encodingOf, textOfBytes } from "../readers/csv-rows.ts";
import { wholeText } from "../readers/input.ts";
import { elementsOf, joined, rejected } from "./items.ts";

const SOURCE = "NASA_ROSES";

type Node = DefaultTreeAdapterMap["node"];
type Element = DefaultTreeAdapterMap["element"];

type TableRow = { appendix: string; title: string; url: string; step1: string; due: string };

/** The page: its year, such as "2025", its rows, and its notes by number. */
type Page = { year: string; rows: TableRow[]; notes: Map<string, string> };

export const nasaRoses: Format = {
  name: "nasa-roses",
  source: SOURCE,
  about: "NASA ROSES: the page of a year's programs and due dates (Table 3) as HTML",
  entry: /\.html?$/i,
  read: (inputs, context) => elementsOf(inputs, (input) => itemsIn(input, context)),
};

async function* itemsIn(input: Input, context: FormatContext): AsyncIterable<Item> {
  const page = await pageOf(input);
  const seen = new Set<string>();
  for (const [index, row] of page.rows.entries()) {
    const id = idOf(row, page.year, seen);
    seen.add(id);
    yield { input, line: index + 1, raw: row, ...readRow(id, row, page, context) };
  }
}

/* The page */

async function pageOf({ bytes }: Input): Promise<Page> {
  const text = await wholeText(textOfBytes(bytes(), await encodingOf(bytes())));
  const { parse } = await import("parse5");
  const all = [...descendantsOf(parse(text, { sourceCodeLocationInfo: true }))];
  const words = contentOf(all);
  const [, year] = /\bROSES-(20\d\d)\b/.exec(words) ?? [];
  if (year === undefined) throw new Error("it names no ROSES year, such as ROSES-2025");
  const rows = all.filter((node) => isElement(node, "tr")).flatMap(rowOf);
  if (rows[0] === undefined || !/^appendix$/i.test(rows[0].appendix)) throw new Error("it has no table that begins with APPENDIX");
  const unclosed = ["table", "html"].find((name) => all.some((node) => isElement(node, name) && isUnclosed(node)));
  if (unclosed !== undefined) throw new Error(`it ends inside <${unclosed}>, so it may be truncated`);
  return { year, rows: rows.slice(1), notes: notesOf(words) };
}

function rowOf(tr: Element): TableRow[] {
  const [appendix, program, step1, due = step1] = tr.childNodes.filter((node) => isElement(node, "td") || isElement(node, "th"));
  if (appendix === undefined || program === undefined) return [];
  const link = [...descendantsOf(program)].find((node) => isElement(node, "a"));
  const url = link?.attrs.find(({ name }) => name === "href")?.value.trim() ?? "";
  return [{ appendix: textIn(appendix), title: textIn(program), url, step1: textIn(step1), due: textIn(due) }];
}

/** parse5 adds missing elements, and closes all of them. */
function isUnclosed({ sourceCodeLocation }: Element): boolean {
  return sourceCodeLocation?.startTag !== undefined && sourceCodeLocation.endTag === undefined;
}

function isElement(node: Node, name: string): node is Element {
  return node.nodeName === name;
}

/** Not recursive, because damaged pages may be nested thousands deep. */
function* descendantsOf(root: Node): Iterable<Node> {
  const open: Node[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node !== root) yield node;
    if ("childNodes" in node) for (let n = node.childNodes.length - 1; n >= 0; n--) open.push(node.childNodes[n] as Node);
  }
}

function textIn(node: Node | undefined): string {
  return node === undefined ? "" : contentOf(descendantsOf(node));
}

/** On one line. A date may be split by tags, so only line breaks separate words. */
function contentOf(nodes: Iterable<Node>): string {
  let text = "";
  for (const node of nodes) {
    if (node.nodeName === "br") text += " ";
    else if ("value" in node && node.nodeName === "#text") text += node.value;
  }
  return text.replace(/\s+/g, " ").trim();
}

/** The notes below the table: `[3] Proposals for … may be submitted at any time up to …`. */
function notesOf(words: string): Map<string, string> {
  const notes = words.slice(words.lastIndexOf("Notes:"));
  return new Map([...notes.matchAll(/\[(\d+)\] (.*?)(?=\[\d+\] |$)/g)].map(([, number = "", note = ""]) => [number, note.trim()]));
}

/* The opportunity */

function idOf({ appendix, title }: TableRow, year: string, seen: ReadonlySet<string>): string {
  const id = `ROSES-${year}-${appendix}`;
  return seen.has(id) ? `${id}-${title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}` : id;
}

function readRow(id: string, row: TableRow, page: Page, context: FormatContext): RecordItem | RejectedItem {
  const appendix = JSON.stringify(row.appendix.slice(0, 100));
  if (!/^[A-Z]\.\d+[A-Z]?$/.test(row.appendix))
    return { ...rejected(`the first cell must be an appendix such as A.2, not ${appendix}`), source: SOURCE };
  if (row.title === "") return { ...rejected("the second cell must have a title"), source: SOURCE, lineage: id };
  return { kind: "record", record: toDraft(id, row, page, context) };
}

function toDraft(id: string, row: TableRow, { year, notes }: Page, context: FormatContext): Draft {
  const note = notes.get(/\[(\d+)\]/.exec(row.due)?.[1] ?? "") ?? null;
  return {
    source: { code: SOURCE, opportunity_id: id, url: urlOf(row) },
    title: `${row.appendix} ${row.title}`,
    summary: note,
    description: note,
    ...rosesStatus(row.due, context),
    organization: { agency: "National Aeronautics and Space Administration" },
    program: {
      type: "BAA", // ROSES is a NASA Research Announcement, a form of broad agency announcement (NASA FAR Supplement 1835.016-71).
      solicitation_id: /\bNNH[\w-]+/.exec(row.url)?.[0] ?? null,
      solicitation_title: `ROSES-${year}`,
      contract_class: "NASA Research Announcement",
    },
    ...deadlinesOf(row, note, context),
    eligibility: { requirements: requirementsOf(row) },
  };
}

/** A relative address is of NSPIRES, which serves the page. */
function urlOf({ url }: TableRow): string | null {
  if (url === "" || URL.canParse(url)) return url || null;
  return URL.parse(url, "https://nspires.nasaprs.com/external/solicitations/")?.href ?? url;
}

function rosesStatus(due: string, { warn }: FormatContext): Pick<Draft, "status" | "status_display"> {
  if (due === "N/A" || /^not solicited/i.test(due)) return { status: "closed", status_display: due };
  if (due === "TBD") return { status: "forecast", status_display: due };
  if (DATE.test(due) || /^(no due date|follow link)/i.test(due)) return {};
  warn(`unknown due date "${due}": the program counts as open`);
  return {};
}

const DATE = /\b\d{1,2}\/\d{1,2}\/\d{4}\b/;

/** The first due date, of a notice of intent or a first step, and that of the proposal, each with its words. */
function deadlinesOf({ appendix, step1, due }: TableRow, note: string | null, context: FormatContext): Pick<Draft, "dates" | "due_dates"> {
  const anyTime = /^no due date/i.test(due) ? lastDayIn(note ?? "", context) : null;
  if (/^no due date/i.test(due) && anyTime === null)
    context.warn(`${appendix} has no due date, and no note says until when proposals may be submitted: the program stays open`);
  const closes_at = anyTime ?? dueDate(due, context);
  const first = dueDate(step1, context);
  const due_dates = [
    { at: first, words: wordsIn(step1) || "First due date" },
    { at: closes_at, words: anyTime === null ? wordsIn(due) : "At any time" },
  ].flatMap(({ at, words }) => (at === null ? [] : [{ at, words: words || null }]));
  return closes_at === null ? { dates: { response_at: first } } : { dates: { closes_at }, due_dates };
}

/** "Proposals for A.10 INNOVATE may be submitted at any time up to August 31, 2026". */
function lastDayIn(note: string, { warn }: FormatContext): string | null {
  return dateInstant(/\bup to ([A-Z][a-z]{2,8} \d{1,2}, 20\d\d)\b/.exec(note)?.[1] ?? "", "23:59:59", warn);
}

function dueDate(cell: string, { warn }: FormatContext): string | null {
  return dateInstant(DATE.exec(cell)?.[0] ?? "", "23:59:59", warn);
}

function requirementsOf({ step1, due }: TableRow): string | null {
  const [first, proposal] = [step1, due].map(wordsIn);
  const parts = [
    DATE.test(step1) && `First due date: ${first || "NOI or Step-1"}`,
    DATE.test(due) && proposal && `Proposal: ${proposal}`,
    /^follow link/i.test(due) && due,
  ];
  return joined(parts, "\n");
}

function wordsIn(cell: string): string {
  return /\(([^()]*)\)/.exec(cell)?.[1]?.trim() ?? "";
}
