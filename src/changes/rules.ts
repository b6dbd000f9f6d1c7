/** The event table of the contract as data: the type and severity of each change. The first rule that applies decides. */
import { Failure } from "../../db/reason.ts";
import type { Change, EventType, Severity } from "../events/event.ts";
import { cancellationIn } from "../opportunities/status.ts";
import { compareDecimals, figuresIn, withoutFigures } from "../text/decimal.ts";
import { compareInstants, minuteOf, parseInstant, parseInstantMs } from "../text/instant.ts";
import { isSameWording } from "../text/plain-text.ts";

/** Which type and severity a change gets. */
export type Rule = {
  type: EventType;
  severity: Severity;
  /** Dotted paths; `*` stands for any characters. Empty for a rule about the whole record. */
  fields: readonly string[];
  /** When the rule applies, for the documentation. */
  when: string;
  applies?: (change: Change, cause: Cause | undefined) => boolean;
};

/**
 * Why a field changes, if no source changed it: the clock alone changes it so, due dates are listed where only the expiry was known, or the
 * field is read for the first time.
 */
export type Cause = "foreseen" | "listed" | "first read";

/** The rule for a new record. */
export const added: Rule = { type: "opportunity_added", severity: "informational", fields: [], when: "a new record" };
/** The rule for a record that is missing from a snapshot. */
export const removed: Rule = {
  type: "opportunity_removed",
  severity: "critical",
  fields: ["status", "status_display"],
  when: "gone from a snapshot; the change of its status is part of this event",
};

/** The rules for changed fields, in order. The last one applies to every field. */
export const fieldRules: readonly Rule[] = [
  { type: "qanda_updated", severity: "noise", fields: ["questions"], when: "only the order differs", applies: isReordered },
  { type: "attachments_changed", severity: "noise", fields: ["attachments"], when: "only the order differs", applies: isReordered },
  {
    type: "field_updated",
    severity: "noise",
    fields: ["contacts", "classifications.*"],
    when: "only the order differs",
    applies: isReordered,
  },
  {
    type: "status_changed",
    severity: "informational",
    fields: ["status"],
    when: "foreseen: a date that was known has passed",
    applies: (_, cause) => cause === "foreseen",
  },
  {
    type: "status_changed",
    severity: "critical",
    fields: ["status"],
    when: "it becomes cancelled",
    applies: ({ current }) => current === "cancelled",
  },
  {
    type: "status_changed",
    severity: "critical",
    fields: ["status"],
    when: "it leaves closed, archived or cancelled for open or closing_soon",
    applies: moves(["closed", "archived", "cancelled"], ["open", "closing_soon"]),
  },
  {
    type: "status_changed",
    severity: "informational",
    fields: ["status"],
    when: "open becomes closing_soon",
    applies: moves(["open"], ["closing_soon"]),
  },
  {
    type: "status_changed",
    severity: "informational",
    fields: ["status"],
    when: "closed becomes archived",
    applies: moves(["closed"], ["archived"]),
  },
  { type: "status_changed", severity: "material", fields: ["status"], when: "any other change" },
  {
    type: "date_changed",
    severity: "informational",
    fields: ["dates.response_at"],
    when: "foreseen: one of several due dates has passed, and the next one comes",
    applies: (_, cause) => cause === "foreseen",
  },
  { type: "date_changed", severity: "cosmetic", fields: ["dates.*"], when: "only its seconds differ", applies: isSameMinute },
  {
    type: "date_changed",
    severity: "material",
    fields: ["dates.closes_at", "dates.response_at"],
    when: "due dates are listed where only the expiry was known",
    applies: (_, cause) => cause === "listed",
  },
  {
    type: "date_changed",
    severity: "critical",
    fields: ["dates.closes_at", "dates.response_at"],
    when: "the new instant is earlier",
    applies: isEarlier,
  },
  { type: "date_changed", severity: "material", fields: ["dates.closes_at", "dates.response_at"], when: "later, newly set or cleared" },
  { type: "date_changed", severity: "informational", fields: ["dates.posted_at", "dates.opens_at"], when: "any change" },
  {
    type: "date_changed",
    severity: "cosmetic",
    fields: ["deadline_note"],
    when: "only white space, letter case, punctuation, mark-up or entities differ",
    applies: isReworded,
  },
  {
    type: "date_changed",
    severity: "material",
    fields: ["deadline_note"],
    when: "it names a date, or says archived, extended or anytime",
    applies: ({ previous, current }) => [previous, current].some((note) => NAMES_A_DATE.test(String(note ?? ""))),
  },
  { type: "date_changed", severity: "informational", fields: ["deadline_note"], when: "any other change" },
  {
    type: "funding_changed",
    severity: "cosmetic",
    fields: ["funding.display"],
    when: "its words and figures stay the same",
    applies: namesTheSameMoney,
  },
  { type: "funding_changed", severity: "material", fields: ["funding", "funding.*"], when: "any other change, or to or from null" },
  {
    type: "description_changed",
    severity: "cosmetic",
    fields: ["title", "summary", "description"],
    when: "only white space, letter case, punctuation, mark-up or entities differ",
    applies: isReworded,
  },
  {
    type: "description_changed",
    severity: "critical",
    fields: ["title"],
    when: "it says cancelled, rescinded or withdrawn, and did not",
    applies: saysCancelled,
  },
  {
    type: "description_changed",
    severity: "material",
    fields: ["summary", "description"],
    when: "it says cancelled, rescinded or withdrawn, and did not",
    applies: saysCancelled,
  },
  { type: "description_changed", severity: "informational", fields: ["title", "summary", "description"], when: "any other change" },
  {
    type: "qanda_updated",
    severity: "cosmetic",
    fields: ["questions"],
    when: "the first ones of what was closed, and is closed",
    applies: (_, cause) => cause === "first read",
  },
  { type: "qanda_updated", severity: "informational", fields: ["questions"], when: "any other change" },
  { type: "attachments_changed", severity: "material", fields: ["attachments"], when: "any other change" },
  {
    type: "field_updated",
    severity: "cosmetic",
    fields: ["classifications.set_aside_types"],
    when: "the first codes, for words that stay the same",
    applies: (_, cause) => cause === "first read",
  },
  { type: "field_updated", severity: "material", fields: ["eligibility.*", "classifications.set_aside_types"], when: "any other change" },
  { type: "field_updated", severity: "cosmetic", fields: ["*_display", "source.name", "source.url"], when: "any change" },
  { type: "field_updated", severity: "informational", fields: ["*"], when: "any other field" },
];

/** Every rule, for the documentation. */
export const rules: readonly Rule[] = [added, removed, ...fieldRules];

/** The first rule that applies to a change. */
export function ruleFor(change: Change, cause?: Cause): Rule {
  const rule = fieldRules.find(
    ({ fields, applies }) => fields.some((field) => matches(field, change.field)) && (applies?.(change, cause) ?? true),
  );
  if (rule === undefined) throw new Failure(`Cannot classify a change of ${change.field}: no rule applies`); // Unreachable: the last rule takes every field.
  return rule;
}

function matches(pattern: string, field: string): boolean {
  const [head = "", tail] = pattern.split("*");
  return tail === undefined ? pattern === field : field.startsWith(head) && field.endsWith(tail);
}

function moves(from: readonly string[], to: readonly string[]): (change: Change) => boolean {
  return ({ previous, current }) => from.includes(String(previous)) && to.includes(String(current));
}

function isReworded({ previous, current }: Change): boolean {
  return isSameWording(String(previous ?? ""), String(current ?? ""));
}

const NAMES_A_DATE =
  /\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?\s+\d|\b\d{1,2}[/-]\d{1,2}\b|\b20\d\d\b|archived|extended|any\s?time/i;

function isReordered({ previous, current }: Change): boolean {
  if (!Array.isArray(previous) || !Array.isArray(current) || previous.length !== current.length) return false;
  if (current.length === 0) return false; // Redacted contacts: two empty lists are no reordering.
  const sorted = (items: unknown[]) => items.map((item) => JSON.stringify(item)).sort();
  const after = sorted(current);
  return sorted(previous).every((item, index) => item === after[index]);
}

/** SAM.gov's CSV and API have no other way to say it. The status stays the source's: it must not be guessed from words. */
function saysCancelled({ previous, current }: Change): boolean {
  return cancellationIn(String(current ?? "")) !== undefined && cancellationIn(String(previous ?? "")) === undefined;
}

/** Upstreams write the end of a day as 11:59 PM or as 11:59:59 PM. */
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

/** Whether two texts have the same figures ("$1,000.00" is "$1000") and, apart from them, the same wording. */
function namesTheSameMoney({ previous, current }: Change): boolean {
  const [before, after] = [String(previous ?? ""), String(current ?? "")];
  const [earlier, later] = [figuresIn(before), figuresIn(after)];
  return (
    earlier.length === later.length &&
    earlier.every((figure, n) => compareDecimals(figure, later[n] ?? "") === 0) &&
    isSameWording(withoutFigures(before), withoutFigures(after))
  );
}
