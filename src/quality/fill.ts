/** Which fields of a record are filled. */
import type { Content } from "../changes/content.ts";
import { comparedFields, valueAt } from "../changes/detect.ts";

/** Always filled, or with a meaning of their own when they are not. */
const UNMEASURED = [
  "source.name",
  "source.opportunity_id",
  "status",
  "funding.currency",
  "relationships.parent_id",
  "relationships.canonical_id",
];

/** Fields whose changes become events, so that their earlier fill is known. */
const compared = comparedFields.filter((field) => !UNMEASURED.includes(field));

/** Dotted paths of the measured fields, in the resource's order. */
export const measuredFields: readonly string[] = [...compared, "applicant_types", "place", "award"];

const paths = measuredFields.map((field) => field.split("."));

/** For each measured field, whether the record has a value. An empty text or list is none. */
export function filledFields(content: Content): boolean[] {
  return paths.map((path) => {
    const value = valueAt(content, path);
    return Array.isArray(value) || typeof value === "string" ? value.length > 0 : value !== null && value !== undefined;
  });
}
