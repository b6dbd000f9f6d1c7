/** What an upstream format is: it turns files into drafts, knows its upstream and nothing else of this program. */
import type { Draft } from "./record.ts";

/** One file to import. `bytes` starts at the beginning each time it is called, already unpacked (`input.ts`); a chunk is good until the next. */
export type Input = {
  /** As the operator named it; standard input is `-`. */
  name: string;
  bytes: () => AsyncIterable<Uint8Array>;
};

export type Context = {
  /** The instant of the import (`--as-of`, else now), milliseconds since 1970 UTC: archive dates are judged by it. */
  now: number;
  /** Tells the operator of something odd that was let through, such as an unknown code. Repeats are folded. */
  warn: (message: string) => void;
};

/** One upstream record. */
export type Item = Place & (Mapped | Unread | Refused);

/** Where a record stands in a file, counted from 1: line for text, element or row otherwise. */
export type Place = {
  input: Input;
  line: number;
  raw: unknown;
  /** The JSON of `raw` to the letter, where it is on one line: parsed numbers lose digits. */
  json?: string;
  /** Another record of the files holds in its place: it is counted, and no more. */
  isSuperseded?: true;
};

export type Mapped = {
  record: Draft | { [field: string]: unknown };
  /** The upstream tells only a part here: fields that the record leaves out keep what is stored, with "adds" also the items of lists. */
  partial?: "omits" | "adds";
  /** Of a partial record, what it says beside what is stored: another layout may tell the same more exactly, and is not contradicted. */
  beside?: (stored: Draft) => Draft;
  /** The upstream's own history of the record, the oldest revision first and the present one last. */
  revisions?: readonly Revision[];
  /** The version that the record is, where the format has `versions`. */
  version?: Pick<Version, "source" | "id">;
};

/**
 * One of the versions that an upstream publishes of an opportunity, each under an id of its own (D-30). Which record it belongs to is
 * decided by what is stored, and not by what else is in the files (`placing.ts`).
 */
export type Version = {
  source: string;
  /** Of this version alone. */
  id: string;
  /**
   * What its record has as upstream id, where that is something else and need not be unique. A record that has it, and whose URL ends in
   * `id`, was stored without the id by an older program.
   */
  opportunity_id?: string;
  /** Without them, a version is known by its id alone. */
  facts?: Facts;
};

/** By what a version is found to be one of a known opportunity's. */
export type Facts = {
  /** What all revisions share. It is the lineage of the first opportunity that has it. */
  key: string;
  /** What all stages of one acquisition share. */
  series: string;
  title: string;
  /** When it was posted: RFC 3339, or a date in the eastern time zone; `null` where nothing is said. */
  posted: string | null;
};

/** Of an upstream whose records change their ids. */
export type Versions = {
  /** The version of each record that `read` yields. It is called first, so that the oldest of several are placed first. */
  in: (inputs: readonly Input[]) => AsyncIterable<Version>;
  /** Lineages of the earlier stages that a version of this key follows from, the nearest first. */
  parentsOf?: (series: string, key: string) => readonly string[];
};

/**
 * A record that follows from `text`, this program and what the operator has set alone: where the same was read before, it need not be
 * read again. `id` is its upstream id, and its lineage.
 */
export type Unread = { source: string; id: string; text: string; read: () => Draft | { [field: string]: unknown } };

/** Refused by the format. Source and lineage, where they could be read, keep it from looking removed (D-34). */
export type Refused = { reason: string; source?: string; lineage?: string };

/** A whole record as it would have been imported when this revision of it appeared, at `since` (milliseconds since 1970 UTC; 0 where the first one's is unknown). */
export type Revision = { record: Draft; since: number };

export type Format = {
  /** As on the command line. */
  name: string;
  /** One sentence for `--help`. */
  about: string;
  /** The source code that its records have, if they all have the same. */
  source?: string;
  /** Which entry of a zip archive is meant; without it, the only one. */
  entry?: RegExp;
  versions?: Versions;
  /** Throws an Error when a file as a whole is not what it should be: nothing is imported then. */
  read: (inputs: readonly Input[], context: Context) => AsyncIterable<Item>;
};
