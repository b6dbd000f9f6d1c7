/** Events in words for people: what changed, from what to what. The texts are plain: escape them for wherever they are shown. */

import { amountInWords, cutMoney, fundingInWords, isAmount, moneyPartsOf, repeatsAmounts } from "../opportunities/funding.ts";
import { statusInWords } from "../opportunities/status.ts";
import { taxonomyInWords } from "../opportunities/taxonomy.ts";
import { clockTime, dateInWords, timeInWords } from "../text/date-in-words.ts";
import { compareDecimals, isDecimal } from "../text/decimal.ts";
import { counted, durationInWords } from "../text/in-words.ts";
import { minuteOf } from "../text/instant.ts";
import { arrayOf, isObject } from "../text/json-value.ts";
import { plainText } from "../text/plain-text.ts";
import { ellipsized } from "../text/quoted.ts";
import { hasSameItems } from "../text/same-items.ts";
import { type Change, CONTACT_FIELD, type OpportunityEvent } from "./event.ts";
import type { FeedEntry } from "./feed.ts";

/** Other fields are named by the last part of their path. */
const labels: Readonly<Record<string, string>> = {
  "dates.closes_at": "deadline",
  deadline_note: "deadline note",
  "dates.response_at": "response date",
  "dates.opens_at": "opening date",
  "dates.posted_at": "posting date",
  "funding.amount_min": "smallest award",
  "funding.amount_max": "largest award",
  "funding.display": "funding",
  status_display: "upstream status",
  "source.url": "address",
  "source.name": "source name",
  "source.opportunity_id": "upstream id",
  "organization.sub_agency": "sub-agency",
  "program.type": "program type",
  "program.solicitation_id": "solicitation number",
  "classifications.set_aside_types": "set-aside",
  "classifications.naics_codes": "NAICS codes",
  "classifications.tech_taxonomy": "classification codes",
  "eligibility.requirements": "eligibility",
  questions: "questions and answers",
  "relationships.canonical_id": "link to the same opportunity in another source",
  "relationships.parent_id": "link to a parent opportunity",
};

const TEXTS: readonly string[] = [
  "deadline_note",
  "title",
  "summary",
  "description",
  "eligibility.requirements",
  "program.solicitation_title",
];

/** An amended notice changes these, too, which is the least that matters. */
const IDS: readonly string[] = ["source.opportunity_id", "source.url"];

/** The end of a text that was cut, and the last item of a list that was. */
export const CUT = "…";

const SHORT = 80;
const NAMED = 3;

/** What an event changed, without texts that repeat values. Dates are in `zone` (IANA), or in the offset in which they were published. */
export function changesInWords({ type, summary, changed_fields, changes }: OpportunityEvent, zone?: string): string[] {
  if (type === "opportunity_added") return ["added"];
  if (type === "opportunity_removed") return ["no longer published by its source"];
  const others = changes.filter(({ field }) => !CONTACT_FIELD.test(field));
  const kept = others.filter((change) => !isRepetition(change, others));
  const idsLast = [...kept.filter(({ field }) => !IDS.includes(field)), ...kept.filter(({ field }) => IDS.includes(field))];
  const words = idsLast.map((change) => inWords(change, others, zone));
  const fields = [...changed_fields, ...changes.map(({ field }) => field)];
  if (fields.some((field) => CONTACT_FIELD.test(field))) return [...words, "contacts changed"]; // Other systems may name a person in the path.
  if (words.length > 0) return words;
  return [summary === null || CONTACT_FIELD.test(summary) ? type.replaceAll("_", " ") : summary];
}

/** What an event changed, and at which source if that is not the one of the row that is shown. */
export function entryInWords({ event, at }: Pick<FeedEntry, "event" | "at">, zone?: string): string[] {
  return changesInWords(event, zone).map((words) => (at === null ? words : `${words} (at ${at})`));
}

/** What people call a field, by its path: "deadline". */
export function fieldLabel(path: string): string {
  return labels[path] ?? (path.split(".").at(-1) ?? path).replaceAll("_", " ");
}

/** SAM.gov moves closing and response date together, and many sources state amounts a second time as text. */
function isRepetition({ field, previous, current }: Change, changes: readonly Change[]): boolean {
  const other = (name: string) => changes.find((each) => each.field === name);
  if (field === "funding.display") {
    const { removed, added } = moneyParts(previous, current, changes);
    return changes.some((each) => each.field.startsWith("funding.amount_")) && removed.length + added.length === 0;
  }
  const closing = other("dates.closes_at");
  return field === "dates.response_at" && closing !== undefined && closing.previous === previous && closing.current === current;
}

function inWords(change: Change, changes: readonly Change[], zone: string | undefined): string {
  const { field, previous, current } = change;
  if (field === "funding.display") return fieldLabel(field) + moneyTextInWords(change, changes);
  if (Array.isArray(previous ?? current)) return fieldLabel(field) + listInWords(arrayOf(previous), arrayOf(current));
  return `${fieldLabel(field)} ${valueChangeInWords(change, zone)}`;
}

function valueChangeInWords(change: Change, zone: string | undefined): string {
  const { field, previous, current } = change;
  const [before, after] = [valueInWords(field, previous, zone), valueInWords(field, current, zone)];
  if (before === null && after !== null) return after === undefined ? "added" : `set to ${after}`;
  if (after === null && before !== null) return before === undefined ? "removed" : `removed; it was ${before}`;
  const special = field.startsWith("dates.") ? moveInWords(change, zone) : amountChangeInWords(change);
  if (special !== undefined) return special;
  const shown = (text: string) => (TEXTS.includes(field) ? `“${text}”` : text);
  if (before && after) return `changed from ${shown(before)} to ${shown(after)}`;
  return after ? `changed to ${shown(after)}` : "changed";
}

/** The short form of a value; null if there is none, `undefined` if no line can show it. */
function valueInWords(field: string, value: unknown, zone: string | undefined): string | null | undefined {
  if (value === null || value === undefined || value === "") return null;
  if (field === "funding" && isObject(value)) return fundingInWords(value);
  if (typeof value !== "string" || value === CUT) return undefined;
  if (field.startsWith("relationships.")) return undefined; // A bare id.
  if (field.startsWith("dates.")) return dateInWords(value, zone);
  if (field.startsWith("funding.amount_") && isDecimal(value)) return amountInWords(value);
  if (field === "status") return statusInWords(value);
  const plain = value.length > 10 * SHORT ? value : plainText(value);
  return plain.length <= SHORT ? plain : undefined;
}

function amountChangeInWords({ field, previous, current }: Change): string | undefined {
  if (!field.startsWith("funding.amount_") || !isAmount(previous) || !isAmount(current)) return undefined;
  const order = compareDecimals(previous, current);
  if (order === 0) return `written as ${current} instead of ${previous}, the same amount`;
  const verb = order < 0 ? "raised" : "lowered";
  return `${verb} from ${amountInWords(previous)} to ${amountInWords(current)}`;
}

// ---- Money as text: what Grants.gov puts there in parts ("$500,000 total; 3 awards expected"), and the awards of SAM.gov.

function moneyTextInWords({ previous, current }: Change, changes: readonly Change[]): string {
  const { removed, added } = moneyParts(previous, current, changes);
  const [gone, come] = [removed, added].map((parts) => `“${cutMoney(parts)}”`);
  if (removed.length > 0 && added.length > 0) return ` changed from ${gone} to ${come}`;
  if (added.length > 0) return `: ${come} added`;
  return removed.length > 0 ? `: ${gone} removed` : " changed";
}

function moneyParts(previous: unknown, current: unknown, changes: readonly Change[]): { removed: string[]; added: string[] } {
  const [before, after] = [moneyPartsOf(previous), moneyPartsOf(current)];
  const amounts = changes.filter(({ field }) => field.startsWith("funding.amount_"));
  const [earlier, later] = [amounts.map((each) => each.previous).filter(isAmount), amounts.map((each) => each.current).filter(isAmount)];
  return {
    removed: before.filter((part) => !after.includes(part) && !(amounts.length > 0 && repeatsAmounts(part, earlier))),
    added: after.filter((part) => !before.includes(part) && !(amounts.length > 0 && repeatsAmounts(part, later))),
  };
}

/** Only days if the time of day is the same. `undefined` unless both values are timestamps. */
function moveInWords({ previous, current }: Change, zone: string | undefined): string | undefined {
  if (typeof previous !== "string" || typeof current !== "string") return undefined;
  const [before, after] = [clockTime(previous, zone), clockTime(current, zone)];
  if (before === undefined || after === undefined) return undefined;
  const [early, late] = [timeInWords(previous, zone), timeInWords(current, zone)];
  const distanceMs = minuteOf(after.ms) - minuteOf(before.ms);
  if (distanceMs === 0) return `restated within the same minute: ${late}`;

  const inBrackets = (distance: string) => `(${distance} ${distanceMs > 0 ? "later" : "earlier"})`;
  const days = after.dayNumber - before.dayNumber;
  const isSameZone = zone !== undefined || before.zone === after.zone;
  if (days !== 0 && isSameZone && before.clock === after.clock)
    return `moved from ${withoutYearOf(after.day, before.day)} to ${after.day} ${inBrackets(counted(Math.abs(days), "day"))}`;
  const exact = inBrackets(durationInWords(Math.abs(distanceMs)));
  if (days !== 0) return `moved from ${early} to ${late} ${exact}`;
  const start = before.zone === after.zone ? before.clock : `${before.clock} ${before.zone}`;
  return `moved from ${start} to ${after.clock} ${after.zone} on ${after.day} ${exact}`;
}

function withoutYearOf(other: string, day: string): string {
  const [, year = ""] = /(, \d+)$/.exec(other) ?? [];
  return year !== "" && day.endsWith(year) ? day.slice(0, -year.length) : day;
}

/** An item that only changed has the same name on both sides. */
function listInWords(previous: readonly unknown[], current: readonly unknown[]): string {
  if (previous.at(-1) === CUT || current.at(-1) === CUT) return " changed";
  const [earlier, later] = [new Set(previous.map(nameOf)), new Set(current.map(nameOf))];
  const [added, removed] = [[...later.difference(earlier)], [...earlier.difference(later)]];
  const parts = [added.length > 0 ? `${listed(added)} added` : "", removed.length > 0 ? `${listed(removed)} removed` : ""];
  if (added.length + removed.length > 0) return `: ${parts.filter((part) => part !== "").join("; ")}`;
  return hasSameItems(previous, current) ? " reordered" : " changed";
}

function nameOf(item: unknown): string {
  const name = isObject(item) ? (item.name ?? item.question ?? item.url) : item;
  return ellipsized(plainText(typeof name === "string" ? taxonomyInWords(name) : "without a name"), SHORT);
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return rest <= 1 ? names.join(", ") : `${names.slice(0, NAMED).join(", ")} and ${rest} more`;
}
