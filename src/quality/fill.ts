/** Which fields of a record are filled. */
import type { Content } from "../changes/content.ts";
import { comparedFields, valueAt } from "../changes/detect.ts";

/** Always filled, or meant if not. */
const UNMEASURED = [
  "source.name",
  "source.opportunity_id",
  "status",
  "funding.currency",
  "relationships.parent_id",
  "relationships.canonical_id",
];

const compared = comparedFields.filter((field) => !UNMEASURED.includes(field));

/** In the resource's order. Changes of the first become events, so that their earlier fill is known. */
export const measuredFields: readonly string[] = [...compared, "applicant_types", "place", "award"];

const paths = measuredFields.map((field) => field.split("."));

/** For each measured field; an empty text or list is no value. */
export function filledFields(content: Content): boolean[] {
  return paths.map((path) => {
    const value = valueAt(content, path);
    return Array.isArray(value) || typeof value === "string" ? value.length > 0 : value !== null && value !== undefined;
  });
}
