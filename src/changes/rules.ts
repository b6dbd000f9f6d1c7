/** The event table of the contract as data: the type and severity of each change. The first rule that applies decides. */
import { Failure } from "../../db/reason.ts";
import type { Change, EventType, Severity } from "../events/event.ts";
import { cancellationIn } from "../opportunities/status.ts";
import { compareDecimals, numbersIn, withoutNumbers } from "../text/decimal.ts";
import { compareInstants, minuteOf, parseInstant, parseInstantMs } from "../text/instant.ts";
import { isSameWording } from "../text/plain-text.ts";
import { hasSameItems } from "../text/same-items.ts";

export type Rule = {
  type: EventType;
  severity: Severity;
  /** Dotted paths; `*` stands for any characters. Empty for a rule about the whole record. */
  fields: readonly string[];
  when: string;
  applies: ((change: Change, cause: Cause | undefined) => boolean) | undefined;
};

/** Why a field changes without its source: time passed, due dates are listed now, or it is read for the first time. */
export type Cause = "foreseen" | "listed" | "first read";

export const added = rule("opportunity_added", "informational", [], "a new record");
export const removed = rule(
  "opportunity_removed",
  "critical",
  ["status", "status_display"],
  "gone from a snapshot; the change of its status is part of this event",
);

const DEADLINES = ["dates.closes_at", "dates.response_at"];
const [REORDERED, REWORDED] = ["only the order differs", "only white space, letter case, punctuation, mark-up or entities differ"];
const [SAYS_CANCELLED, ANY_OTHER] = ["it says cancelled, rescinded or withdrawn, and did not", "any other change"];

const fieldRules = [
  rule("qanda_updated", "noise", ["questions"], REORDERED, isReordered),
  rule("attachments_changed", "noise", ["attachments"], REORDERED, isReordered),
  rule("field_updated", "noise", ["contacts", "classifications.*"], REORDERED, isReordered),
  rule("status_changed", "informational", ["status"], "foreseen: a date that was known has passed", isCause("foreseen")),
  rule("status_changed", "critical", ["status"], "it becomes cancelled", ({ current }) => current === "cancelled"),
  rule(
    "status_changed",
    "critical",
    ["status"],
    "it leaves closed, archived or cancelled for open or closing_soon",
    moves(["closed", "archived", "cancelled"], ["open", "closing_soon"]),
  ),
  rule("status_changed", "informational", ["status"], "open becomes closing_soon", moves(["open"], ["closing_soon"])),
  rule("status_changed", "informational", ["status"], "closed becomes archived", moves(["closed"], ["archived"])),
  rule("status_changed", "material", ["status"], ANY_OTHER),
  rule(
    "date_changed",
    "informational",
    ["dates.response_at"],
    "foreseen: one of several due dates has passed, and the next one comes",
    isCause("foreseen"),
  ),
  rule("date_changed", "cosmetic", ["dates.*"], "only its seconds differ", isSameMinute),
  rule("date_changed", "material", DEADLINES, "due dates are listed where only the expiry was known", isCause("listed")),
  rule("date_changed", "critical", DEADLINES, "the new instant is earlier", isEarlier),
  rule("date_changed", "material", DEADLINES, "later, newly set or cleared"),
  rule("date_changed", "informational", ["dates.posted_at", "dates.opens_at"], "any change"),
  rule("date_changed", "cosmetic", ["deadline_note"], REWORDED, isReworded),
  rule("date_changed", "material", ["deadline_note"], "it names a date, or says archived, extended or anytime", namesADate),
  rule("date_changed", "informational", ["deadline_note"], ANY_OTHER),
  rule("funding_changed", "cosmetic", ["funding.display"], "its words and figures stay the same", namesTheSameMoney),
  rule("funding_changed", "material", ["funding", "funding.*"], "any other change, or to or from null"),
  rule("description_changed", "cosmetic", ["title", "summary", "description"], REWORDED, isReworded),
  rule("description_changed", "critical", ["title"], SAYS_CANCELLED, saysCancelled),
  rule("description_changed", "material", ["summary", "description"], SAYS_CANCELLED, saysCancelled),
  rule("description_changed", "informational", ["title", "summary", "description"], ANY_OTHER),
  rule("qanda_updated", "cosmetic", ["questions"], "no file had them so far, because its layout lacks them", isCause("first read")),
  rule("qanda_updated", "informational", ["questions"], ANY_OTHER),
  rule("attachments_changed", "material", ["attachments"], ANY_OTHER),
  rule(
    "field_updated",
    "cosmetic",
    ["classifications.set_aside_types"],
    "the first codes, for words that stay the same",
    isCause("first read"),
  ),
  rule("field_updated", "material", ["eligibility.*", "classifications.set_aside_types"], ANY_OTHER),
  rule("field_updated", "cosmetic", ["*_display", "source.name", "source.url"], "any change"),
  rule("field_updated", "informational", ["*"], "any other field"),
];

export const rules: readonly Rule[] = [added, removed, ...fieldRules];

function rule(type: EventType, severity: Severity, fields: readonly string[], when: string, applies?: Rule["applies"]): Rule {
  return { type, severity, fields, when, applies };
}

export function ruleFor(change: Change, cause?: Cause): Rule {
  const rule = fieldRules.find(
    ({ fields, applies }) => fields.some((field) => matches(field, change.field)) && (applies?.(change, cause) ?? true),
  );
  if (rule === undefined) throw new Failure(`Cannot classify a change of ${change.field}: no rule applies`); // Unreachable.
  return rule;
}

function matches(pattern: string, field: string): boolean {
  const [head = "", tail] = pattern.split("*");
  return tail === undefined ? pattern === field : field.startsWith(head) && field.endsWith(tail);
}

function moves(from: readonly string[], to: readonly string[]): (change: Change) => boolean {
  return ({ previous, current }) => from.includes(String(previous)) && to.includes(String(current));
}

function isCause(wanted: Cause): Rule["applies"] {
  return (_, cause) => cause === wanted;
}

function isReworded({ previous, current }: Change): boolean {
  return isSameWording(String(previous ?? ""), String(current ?? ""));
}

function namesADate({ previous, current }: Change): boolean {
  return [previous, current].some((note) => NAMES_A_DATE.test(String(note ?? "")));
}

const NAMES_A_DATE =
  /\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?\s+\d|\b\d{1,2}[/-]\d{1,2}\b|\b20\d\d\b|archived|extended|any\s?time/i;

/** Two empty lists are not a reordering: they are redacted contacts. */
function isReordered({ previous, current }: Change): boolean {
  return Array.isArray(previous) && Array.isArray(current) && current.length > 0 && hasSameItems(previous, current);
}

/** SAM.gov's CSV and API have no other way to say it. The status must not be guessed from words. */
function saysCancelled({ previous, current }: Change): boolean {
  return cancellationIn(String(current ?? "")) !== undefined && cancellationIn(String(previous ?? "")) === undefined;
}

function isSameMinute({ previous, current }: Change): boolean {
  if (typeof previous !== "string" || typeof current !== "string") return false;
  const [before, after] = [parseInstantMs(previous), parseInstantMs(current)];
  return before !== undefined && after !== undefined && minuteOf(before) === minuteOf(after);
}

function isEarlier({ previous, current }: Change): boolean {
  if (typeof previous !== "string" || typeof current !== "string") return false;
  const [before, after] = [parseInstant(previous), parseInstant(current)];
  return before !== undefined && after !== undefined && compareInstants(after, before) < 0;
}

/** The same numbers ("$1,000.00" is "$1000") and otherwise the same wording. */
function namesTheSameMoney({ previous, current }: Change): boolean {
  const [before, after] = [String(previous ?? ""), String(current ?? "")];
  const [earlier, later] = [numbersIn(before), numbersIn(after)];
  return (
    earlier.length === later.length &&
    earlier.every((number, n) => compareDecimals(number, later[n] ?? "") === 0) &&
    isSameWording(withoutNumbers(before), withoutNumbers(after))
  );
}
