/** Detects the differences between two versions of a record, and applies them. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import type { Change } from "../events/event.ts";
import { Opportunity } from "../opportunities/opportunity.ts";
import { compareInstants, parseInstant } from "../text/instant.ts";
import type { Content } from "./content.ts";

const NOT_COMPARED = ["id", "source.code", "value_estimate", "created_at", "updated_at"];

/** Paths of the compared fields, in the resource's order. A `funding` that appears or disappears is compared as a whole. */
export const comparedFields: readonly string[] = [...leaves(Opportunity, ""), "attachments", "questions", "deadline_note"].filter(
  (field) => !NOT_COMPARED.includes(field),
);

const comparedPaths = comparedFields.map((field) => ({ field, path: field.split(".") }));

/** The changes, in the resource's order. A date with another offset but the same instant is not a change. */
export function detect(previous: Content, current: Content): Change[] {
  const changes: Change[] = [];
  for (const { field, path } of comparedPaths) {
    const difference = { field, previous: valueAt(previous, path), current: valueAt(current, path) };
    const change = field.startsWith("funding.") ? fundingChange(difference, previous, current) : difference;
    if (change !== undefined && !isSame(change)) changes.push(change);
  }
  return changes;
}

/** Applies the changes to `previous`. The result is what is stored, so replaying a history always gives its record. */
export function apply(previous: Content, changes: readonly Change[]): Content {
  return changes.reduce((content, { field, current }) => withValueAt(content, field.split("."), current), previous);
}

/** `current` with the changes undone. */
export function unapply(current: Content, changes: readonly Change[]): Content {
  const reversed = changes.map(({ field, previous }) => ({ field, previous: undefined, current: previous }));
  return apply(current, reversed);
}

/** The value at a path; `undefined` below a null. */
export function valueAt(content: Content, path: readonly string[]): unknown {
  let value: unknown = content;
  for (const name of path) value = (value as Record<string, unknown> | null)?.[name];
  return value;
}

function withValueAt<T extends object>(holder: T, [name = "", ...rest]: readonly string[], value: unknown): T {
  const inner = holder[name as keyof T];
  return { ...holder, [name]: rest.length === 0 ? value : withValueAt(inner as object, rest, value) };
}

/** One change of the whole field, in place of its currency. */
function fundingChange(difference: Change, previous: Content, current: Content): Change | undefined {
  if ((previous.funding === null) === (current.funding === null)) return difference;
  return difference.field === "funding.currency" ? { field: "funding", previous: previous.funding, current: current.funding } : undefined;
}

function isSame({ field, previous, current }: Change): boolean {
  if (previous === current) return true;
  if (field.startsWith("dates.") && typeof previous === "string" && typeof current === "string") {
    const [before, after] = [parseInstant(previous), parseInstant(current)];
    return before !== undefined && after !== undefined && compareInstants(before, after) === 0;
  }
  return typeof previous === "object" && typeof current === "object" && JSON.stringify(previous) === JSON.stringify(current);
}

/** Dotted paths of a schema's fields that are not objects. `KindGuard`, because `TypeGuard` also checks all that is below, which takes longer. */
function leaves(schema: TSchema, path: string): string[] {
  const inner = KindGuard.IsUnion(schema) ? (schema.anyOf.find(KindGuard.IsObject) ?? schema) : schema;
  if (!KindGuard.IsObject(inner)) return [path];
  return Object.entries(inner.properties).flatMap(([name, property]) => leaves(property, path === "" ? name : `${path}.${name}`));
}
