/** A draft: an opportunity as a format or a line of `import records` describes it. Absent fields are left out. */
import type { Opportunity, Sidecar } from "../opportunities/opportunity.ts";

/** A value whose members may be left out, also those of the items of a list. */
type Parts<T> = T extends readonly (infer Item)[] ? Parts<Item>[] : T extends object ? { [Name in keyof T]?: T[Name] | undefined } : T;

type Given = Omit<Opportunity, "id" | "source" | "title" | "status" | "value_estimate" | "created_at" | "updated_at"> &
  Omit<Sidecar, "attachments" | "due_dates">;

/** Fields are those of `Opportunity` and `Sidecar`, which describe them. Dates have the upstream's own offset (D-28). */
export type Draft = { [Name in keyof Given]?: Parts<Given[Name]> | undefined } & {
  source: { code: string; name?: string | null; opportunity_id: string; url?: string | null };
  title: string;
  /** If absent, the status follows from the dates (D-37). */
  status?: string | null | undefined;
  /** Until when the status holds; afterwards it follows from the dates. If absent, it holds until an import states another one. */
  status_until?: string | null | undefined;
  /** From when on the record is archived. */
  archives_at?: string | null | undefined;
  /** The source's statement, for a stored record with one of these two fields. `status` and `status_display` are then the current values. */
  stated?: { status: string | null; status_display: string | null };
  /** `kind` is the upstream's word for what it is, `size` its bytes. */
  attachments?:
    | { name?: string | null; url?: string | null; kind?: string | null | undefined; size?: number | null | undefined }[]
    | undefined;
  due_dates?: { at: string; words?: string | null }[] | undefined;
  /** Stays the same across amendments. If absent, it is the upstream id (D-30). */
  lineage?: string;
  earlier_ids?: string[] | undefined;
};
