/** What change detection compares, from records as an import takes them. */
import type { Content } from "../../src/changes/content.ts";
import type { Draft } from "../../src/import/record.ts";
import { judgeRecord } from "../../src/import/validate.ts";
import { anOpportunity } from "./records.ts";

/** The content of a small record; whole fields are replaced by those given. */
export function aContent(fields: Partial<Draft> = {}): Content {
  return judgeRecord(anOpportunity(fields), new Map()).content;
}
