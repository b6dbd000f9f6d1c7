/** A draft: an opportunity as a format or a line of `import records` describes it. */
import type { Opportunity, Sidecar } from "../opportunities/opportunity.ts";

type Parts<T> = T extends readonly (infer Item)[] ? Parts<Item>[] : T extends object ? { [Name in keyof T]?: T[Name] | undefined } : T;

type Given = Omit<Opportunity, "id" | "source" | "title" | "status" | "value_estimate" | "created_at" | "updated_at"> &
  Omit<Sidecar, "attachments" | "due_dates">;

/** Fields of `Opportunity` and `Sidecar`, which describe them. Dates have the upstream's own offset (D-28). */
export type Draft = { [Name in keyof Given]?: Parts<Given[Name]> | undefined } & {
  source: { code: string; name?: string | null; opportunity_id: string; url?: string | null };
  title: string;
  /** If absent, the status follows from the dates (D-37). */
  status?: string | null | undefined;
  status_until?: string | null | undefined;
  archives_at?: string | null | undefined;
  /** The source's statement; `status` and `status_display` of a stored record are the current values. */
  stated?: { status: string | null; status_display: string | null };
  attachments?:
    | { name?: string | null; url?: string | null; kind?: string | null | undefined; size?: number | null | undefined }[]
    | undefined;
  due_dates?: { at: string; words?: string | null }[] | undefined;
  /** Stays the same across amendments. If absent, it is the upstream id (D-30). */
  lineage?: string;
  earlier_ids?: string[] | undefined;
};
