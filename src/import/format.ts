/** A format turns the files of one source into drafts. It knows nothing of databases, imports or HTTP. */
import type { Opportunity, Sidecar } from "../opportunities/opportunity.ts";
import type { EpochMs } from "../text/instant.ts";

/** Each call of `bytes` reads the file from its start, unpacked. A chunk is overwritten by the next. */
export type Input = {
  /** The path as the operator gave it; `-` is standard input. */
  name: string;
  bytes: () => AsyncIterable<Uint8Array>;
};

export type FormatContext = {
  warn: (message: string) => void;
  /** Warns that the files hold only a part of the upstream's records. They are refused as a snapshot. */
  incomplete: (message: string) => void;
  /** Declares which records files like these never contain. A snapshot does not remove those (D-34). */
  neverHas: (isOther: (record: LiveRecord) => boolean) => void;
};

export type LiveRecord = { lineage: string; status: string };

export type Item = SourceLine & (RecordItem | LazyItem | VersionItem | RejectedItem);

export type SourceLine = {
  input: Input;
  /** Counted from 1: a line of text, otherwise an element or a row. */
  line: number;
  /** The entry as in the file, or a function that makes it: use `rawOf`. */
  raw: unknown;
  /** The exact JSON of `raw` if it is on one line. Parsed numbers lose digits. */
  json?: string;
  /** Another item of these files replaces this one, which is only counted. */
  isSuperseded?: true;
};

export function rawOf({ raw }: Pick<SourceLine, "raw">): unknown {
  return typeof raw === "function" ? raw() : raw;
}

export type RecordItem = {
  kind: "record";
  record: Draft | { [field: string]: unknown };
  /** Only some of the fields: others keep their stored values, and with "adds" lists keep their stored items. */
  partial?: "omits" | "adds";
  /** The record with stored values that are equal but more exact, or that this layout lacks. (E-9) */
  reconcile?: (stored: Draft) => Draft;
  /** The upstream's own history of the record, the oldest revision first and the present one last. */
  revisions?: readonly Revision[];
  version?: Pick<Version, "source" | "id">;
};

/**
 * Read only if `digested` differs from the last import. Depends on nothing but that, program, settings and, in `reconcile`, the stored
 * record. `id` is also its lineage.
 */
export type LazyItem = {
  kind: "lazy";
  source: string;
  id: string;
  digested: string;
  read: () => Draft | { [field: string]: unknown };
  reconcile?: (record: Draft, stored: Draft) => Draft;
};

export type VersionItem = { kind: "version"; source: string; id: string; read: () => RecordItem };

/** If its source and lineage are known, a snapshot counts the record as present (D-34). */
export type RejectedItem = { kind: "rejected"; reason: string; source?: string; lineage?: string };

/** A version of an opportunity, if each has its own id (D-30). `versions/placing.ts` finds its record. */
export type Version = {
  source: string;
  id: string;
  facts?: Facts;
  others?: readonly string[];
};

type Facts = {
  /** Shared by all revisions; the lineage of the first record with it. If equal to `series`, another layout may have a better one. */
  key: string;
  /** Shared by all phases of one acquisition. */
  series: string;
  title: string;
  /** When it was posted, and by when to respond: RFC 3339, or an Eastern date; `null` if unknown. */
  posted: string | null;
  due?: string | null;
};

export type UnreadVersion = Pick<Version, "source" | "id"> & { digested: string; read: () => Version };

/** For an upstream whose records change their ids. */
export type Versions = {
  /** The version of each record that `read` yields. If some are unread: one for each item, undefined for none. */
  in: (inputs: readonly Input[]) => AsyncIterable<Version | UnreadVersion | undefined>;
  /** The part of a key, such as an award number, whose versions are one opportunity whatever they are called; "" for none. */
  partOf?: (key: string) => string;
  /** Lineages of the earlier phases of a version with this key, nearest first. */
  parentsOf?: (key: string) => readonly string[];
  /** The same for other keys of its series whose versions have a similar title. */
  parentsAmong?: (key: string, others: readonly string[]) => readonly string[];
};

/** A whole record as of `since` (0 if that is unknown for the first one). */
export type Revision = { record: Draft; since: EpochMs };

export type Format = {
  name: string;
  about: string;
  /** The source code of its records, if they share one. */
  source?: string;
  /** Matches the entry of a zip archive to read. If undefined, the archive must have one entry. */
  entry?: RegExp;
  versions?: Versions;
  /** Throws if a file as a whole is not of this format. Nothing is imported then. */
  read: (inputs: readonly Input[], context: FormatContext) => AsyncIterable<Item>;
};

type Parts<T> = T extends readonly (infer Item)[] ? Parts<Item>[] : T extends object ? { [Name in keyof T]?: T[Name] | undefined } : T;

type Given = Omit<Opportunity, "id" | "source" | "title" | "status" | "value_estimate" | "created_at" | "updated_at"> &
  Omit<Sidecar, "attachments" | "due_dates">;

/** An opportunity as a format or a line of `import records` describes it, by the fields of `Opportunity` and `Sidecar`. Dates have the upstream's own offset (D-28). */
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
