/** Builders for tests of change detection, which compares the validated content of two records. */
import type { Content } from "../../src/changes/content.ts";
import type { Draft } from "../../src/import/format.ts";
import { validateRecord } from "../../src/import/validate.ts";
import { anOpportunity } from "./records.ts";

/** Returns the content of a small valid record. The given fields replace whole fields of it. */
export function aContent(fields: Partial<Draft> = {}): Content {
  return validateRecord(anOpportunity(fields), new Map()).content;
}
