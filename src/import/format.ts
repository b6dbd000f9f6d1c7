/** What an upstream format is: it turns files into drafts, knows its upstream and nothing else of this program. */
import type { Draft } from "./record.ts";

/** One file to import. `bytes` starts at the beginning each time it is called, already unpacked (`input.ts`); a chunk is good until the next. */
export type Input = {
  /** As the operator named it; standard input is `-`. */
  name: string;
  bytes: () => AsyncIterable<Uint8Array>;
};

export type FormatContext = {
  /** The instant of the import (`--as-of`, else now), milliseconds since 1970 UTC: archive dates are judged by it. */
  now: number;
  /** Tells the operator of something odd that was let through, such as an unknown code. Repeats are folded. */
  warn: (message: string) => void;
};

/** One entry of a file, and where it stands. */
export type Item = SourceLine & (RecordItem | LazyItem | RejectedItem);

/** Where an item stands in a file. */
export type SourceLine = {
  input: Input;
  /** Counted from 1: a line of text, otherwise an element or a row. */
  line: number;
  raw: unknown;
  /** The exact JSON of `raw` if it is on one line. Parsed numbers lose digits. */
  json?: string;
  /** Another item of these files replaces this one, which is only counted. */
  isSuperseded?: true;
};

/** A record that the format has read. */
export type RecordItem = {
  kind: "record";
  record: Draft | { [field: string]: unknown };
  /** The record has only some of the fields. Missing ones keep their stored values; with "adds", lists keep their stored items, too. */
  partial?: "omits" | "adds";
  /** For a partial record: returns it with those stored values that say the same more exactly, as another layout may. */
  reconcile?: (stored: Draft) => Draft;
  /** The upstream's own history of the record, the oldest revision first and the present one last. */
  revisions?: readonly Revision[];
  /** Which version this record is, if the format has `versions`. */
  version?: Pick<Version, "source" | "id">;
};

/**
 * A record that is read only if `digested` differs from the last import. It must follow from `digested`, this program and the operator's
 * settings alone. `id` is its upstream id and its lineage.
 */
export type LazyItem = {
  kind: "lazy";
  source: string;
  id: string;
  /** The text whose SHA-256 is the source digest. */
  digested: string;
  read: () => Draft | { [field: string]: unknown };
};

/** An entry that the format rejects. If its source and lineage are known, a snapshot counts the record as present (D-34). */
export type RejectedItem = { kind: "rejected"; reason: string; source?: string; lineage?: string };

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
  read: (inputs: readonly Input[], context: FormatContext) => AsyncIterable<Item>;
};
