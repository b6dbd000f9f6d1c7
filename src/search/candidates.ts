/**
 * The records that may match a question best, without FTS5's `bm25()`, which reads every row that has any of the words. A mask for each row
 * shows which words of the question the row has, and which of them are in its title. The rows whose masks weigh most are the candidates;
 * `score.ts` compares them exactly. The work is bounded: if there are too many rows, only the newest are read. (E-65)
 */
import type { Database } from "bun:sqlite";
import { agencyTag } from "../filter/agency-words.ts";
import type { Condition } from "../filter/kinds.ts";
import { numberTag } from "../filter/question.ts";
import { demandOf, matchesOf, queryOf } from "../filter/words.ts";
import { stemOf } from "../text/words-of.ts";
import { ACCEPTING_TAG } from "./accepting.ts";
import { type Budget, SPAN_ROWS } from "./budget.ts";
import { anyOf, commonRowsOf, deletedRowsOf, lastCommonRow, lastRow, RANGE_ROWS, titleTag } from "./common-rows.ts";
import { ACCEPTING, GROUPS_MAX, isGroup, MATCH, Masks, MET, NONE, NOT_COUNTED, NUMBERED, OUT, STRICT } from "./masks.ts";
import type { Near, SpelledGroup, SpelledQuestion } from "./question.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Bounds of the work for one question, however much time it has. */
const WORK_MAX = {
  /** Most rows that are read for a word without stored bytes. */
  rows: 50_000,
  /** Most rows that are read for a phrase, for an excluded word, or for the filters. */
  strict: 200_000,
  /** Bytes of common words. */
  bytes: 12_000_000,
};

/** If more rows match, they are not kept. */
export const COUNTED_MAX = 10_000;

/** A row number of the index. `mask` has the bits of its groups, as far as they have their own bit. */
export type Candidate = { seq: number; weight: number; mask: number; isMatch: boolean };

type Candidates = {
  /** Matches come first. */
  best: Candidate[];
  /** For each row of the index whether it matches, or has only some of the words. */
  kinds: Uint8Array;
  /** Records that match, and further ones that have some of the words. These are minimums if `isAll` is false. */
  matching: number;
  partial: number;
  /** Whether all records were looked at, and not only the newest. */
  isAll: boolean;
  /** For each group of the question, its inverse document frequency. */
  idf: number[];
  /** For each group of the question, its bit in the masks; 0 if it has none of its own, or if also a word that was probably meant sets it. */
  bits: number[];
  /** The newest rows that meet the filters, whatever their words are; at most COUNTED_MAX. Undefined without filters. */
  meeting: number[] | undefined;
  /** False if the time was over before all spans were read. */
  isWhole: boolean;
};

/**
 * A query of FTS5, or a condition on the table `records`, with the bit that its rows have. `rows` and `titled` are those of a span, or all if
 * they `areFew`, in ascending order, and at most `left` more are read. `bytes` are those of its ranges, if `commonStem` has some.
 */
type Part = Rows & {
  query: string;
  /** Among the rows of `query`, finds those that have it in their title. */
  inTitle: string;
  condition?: Condition;
  commonStem?: string;
  /** FTS5 reads on from a span to the next match, however far: rows that cannot be many are read at once, and take a fifth of the time. */
  areFew: boolean;
  bit: number;
  left: number;
  /** Finds candidates but no matches: a guessed correction of a mistyped word. */
  isNear: boolean;
  /** The index of the group in `counts`; NOT_COUNTED if its bit shows that a row has it. */
  counted: number;
};

type Rows = { rows: number[]; titled: number[]; bytes: ReturnType<typeof commonRowsOf> };

const NO_ROWS: Rows = { rows: [], titled: [], bytes: new Map() };

/** The queries for a group: rows with any of its words, and rows of an agency that it names. */
type Sought = { parts: Part[]; bit: number; records: number; idf: number; hasNear: boolean };

type Wanted = {
  /** On the table `records`. */
  condition: Condition | undefined;
  /** How many candidates are wanted; 0 to only count. */
  most: number;
  /** False if no record has the phrase, so rows without it are wanted and nothing matches. */
  isDemanding?: boolean;
};

/** The `most` rows with the heaviest masks: matches first, then by weight, then the newest. */
export function candidatesFor(
  sqlite: Database,
  question: SpelledQuestion,
  { condition, most, isDemanding = true }: Wanted,
  budget: Budget,
): Candidates {
  const last = lastRow(sqlite);
  const shared = new Map<Near, Part>();
  const sought = question.groups.map((group) => soughtOf(sqlite, group, last, shared));
  const idf = sought.map((each) => each.idf);
  const ownBit = sought.filter(({ records }) => records > 0).toSorted((left, right) => left.records - right.records);
  ownBit.splice(GROUPS_MAX);
  ownBit.forEach((each, n) => {
    each.bit = 1 << n;
    for (const part of each.parts) part.bit |= each.bit; // Several groups may have the same synonym.
  });
  const counted = sought.filter(({ bit, hasNear }) => bit === 0 || hasNear);
  counted.forEach(({ parts }, n) => {
    for (const part of parts) if (!part.isNear) part.counted = n;
  });
  const { others, demanded } = othersOf(sqlite, question, sought, condition, isDemanding);

  const ofGroups = [...ownBit, ...counted.filter(({ bit }) => bit === 0)].flatMap((each) => each.parts);
  const parts = [...new Set(ofGroups), ...others];
  parts.sort((left, right) => left.counted - right.counted);
  for (const part of parts) if (part.areFew) readTitled(sqlite, part, 0, last);
  const readSpan = spanReader(sqlite);
  const whole = idf.reduce((sum, each) => sum + each, 0);
  const everyBit = ownBit.reduce((bits, { bit, hasNear }) => (hasNear ? bits : bits | bit), 0);
  const wanted = { weights: weightsOf(ownBit, whole), everyBit, counted: counted.length, demanded, canMatch: isDemanding };
  const heaviest = new Heaviest(most, last);
  const masks = new Masks(RANGE_ROWS, wanted);
  const deleted = deletedRowsOf(sqlite);
  const meeting: number[] = [];
  let [bytes, oldest, isAll, isWhole] = [0, 1, true, true];
  const newest = Math.floor(Math.max(0, last - 1) / RANGE_ROWS);
  for (let range = newest; range >= 0; range--) {
    if (range === newest || (range + 1) % SPAN_RANGES === 0) {
      if (range !== newest && budget.isSpent()) [isAll, isWhole] = [false, false];
      if (!isWhole) break;
      for (const part of parts) {
        readSpan(part, (range - (range % SPAN_RANGES)) * RANGE_ROWS, Math.min(last, (range + 1) * RANGE_ROWS));
        if (part.condition !== undefined) meeting.push(...part.rows.toReversed().slice(0, COUNTED_MAX - meeting.length));
        if (part.left > 0) continue;
        isAll = false;
        if (part.bit === OUT) oldest = part.rows[0] ?? oldest; // Older rows were not checked for excluded words.
      }
    }
    if (bytes > WORK_MAX.bytes) {
      isAll = false;
      break;
    }
    masks.begin(range * RANGE_ROWS + 1);
    masks.add(deleted.get(range) ?? [], OUT, NOT_COUNTED);
    for (const { bytes: ranges, rows, titled, bit, counted } of parts) {
      for (const each of [ranges.get(range), { rows, titled }]) {
        if (each === undefined) continue;
        masks.add(each.rows, bit, counted);
        masks.addTitled(each.titled, bit);
        if (each.rows instanceof Uint8Array) bytes += each.rows.length + each.titled.length;
      }
    }
    heaviest.add(masks, oldest);
  }
  const { matching, partial, kinds } = heaviest;
  return {
    best: heaviest.best(),
    kinds,
    matching,
    partial,
    isAll,
    idf,
    bits: sought.map(({ bit, hasNear }) => (hasNear ? 0 : bit)),
    meeting: condition && meeting,
    isWhole,
  };
}

const SPAN_RANGES = SPAN_ROWS / RANGE_ROWS;

/** Reads the rows of a part that are after `begin` and up to `end`. */
function spanReader(sqlite: Database): (part: Part, begin: number, end: number) => void {
  const commonUntil = lastCommonRow(sqlite);
  return (part, begin, end) => {
    const { query, condition, commonStem, left } = part;
    if (part.areFew) return;
    Object.assign(part, NO_ROWS);
    if (condition !== undefined) {
      const sql = `select seq from records where ${condition.sql} and seq > ? and seq <= ? order by seq desc limit ?`;
      const found = sqlite.query<unknown, (string | number)[]>(sql).values(...condition.values, begin, end, left) as [number][];
      part.rows = found.map(([row]) => row).reverse();
    } else if (query !== "") {
      if (commonStem !== undefined) part.bytes = commonRowsOf(sqlite, commonStem, begin / RANGE_ROWS, end / RANGE_ROWS);
      const after = commonStem === undefined ? begin : Math.max(begin, commonUntil);
      if (after >= end || left === 0) return;
      part.rows = newestRows(sqlite, part, after, end);
      readTitled(sqlite, part, after, end);
    }
    part.left -= part.rows.length;
  };
}

/** Rows that are read first: how many of them match tells how far back to read. */
const STEP_ROWS = 1 << 14;

/** The newest matching rows that are after `begin` and up to `end`, at most `left`. */
function newestRows(sqlite: Database, part: Part, begin: number, end: number): number[] {
  const { query, left } = part;
  let rows: number[] = [];
  // For a beginning, FTS5 would gather all words again for each step.
  let [from, width] = [end, part.commonStem !== undefined || query.includes('"*') ? SPAN_ROWS : STEP_ROWS];
  while (from > begin && rows.length < left) {
    const to = from;
    from = Math.max(begin, to - width);
    rows = [...rowsWith(sqlite, query, from, to, orderOf(part)), ...rows];
    width = Math.max(STEP_ROWS, Math.ceil(((left - rows.length) * (end - from)) / rows.length));
  }
  return rows.slice(-left);
}

type Order = "asc" | "desc";

/**
 * Forwards, because backwards FTS5 takes up to twice as long. But the rows of a common word that have no bytes yet are the last of many, and FTS5
 * finds the last row sooner than the first of them.
 */
function orderOf({ commonStem }: Part): Order {
  return commonStem === undefined ? "asc" : "desc";
}

/** The rows of a query that are after `begin` and up to `end`, in ascending order. */
function rowsWith(sqlite: Database, query: string, begin: number, end: number, read: Order): number[] {
  const matching = sqlite.query<unknown, [string, number, number]>(
    `select rowid from texts where texts match ? and rowid > ? and rowid <= ? order by rowid ${read}`,
  );
  const rows = (matching.values(query, begin, end) as [number][]).map(([row]) => row);
  return read === "desc" ? rows.reverse() : rows;
}

/** Finds which of the rows of a part have it in their title, if it is of a group with its own bit. */
function readTitled(sqlite: Database, part: Part, begin: number, end: number): void {
  if (!isGroup(part.bit) || part.rows.length === 0) return;
  const among = new Set(part.rows);
  part.titled = rowsWith(sqlite, part.inTitle, begin, end, orderOf(part)).filter((row) => among.has(row));
}

/** Counts the rows that match or have some of the words, and collects the heaviest of them. */
class Heaviest {
  matching = 0;
  partial = 0;
  readonly kinds: Uint8Array;
  readonly #most: number;
  /** The rows that were collected, with their weights and masks. Numbers in arrays of one kind take a tenth of the time of objects. */
  readonly #rows: Int32Array;
  readonly #masks: Int32Array;
  readonly #weights: Float64Array;
  #length = 0;
  /** The weight that a further row must exceed. */
  #least = 0;

  constructor(most: number, last: number) {
    this.#most = most;
    this.kinds = new Uint8Array(last + 1);
    const kept = Math.min(most * 8, last + 1);
    [this.#rows, this.#masks, this.#weights] = [new Int32Array(kept), new Int32Array(kept), new Float64Array(kept)];
  }

  /** Adds the rows of a range, but none before `oldest`. Ranges are added from the newest to the oldest. */
  add(masks: Masks, oldest: number): void {
    for (let place = RANGE_ROWS - 1; place >= Math.max(0, oldest - masks.first); place--) {
      const met = masks.met(place);
      if (met === NONE) continue;
      if (met === MATCH) this.matching++;
      else this.partial++;
      const row = masks.first + place;
      this.kinds[row] = met;
      const weight = masks.weight(place, met);
      if (weight > this.#least && this.#most > 0) this.#collect(row, weight, masks.words(place));
    }
  }

  #collect(row: number, weight: number, mask: number): void {
    if (this.#length === this.#rows.length) this.#choose();
    if (weight <= this.#least) return;
    this.#rows[this.#length] = row;
    this.#masks[this.#length] = mask;
    this.#weights[this.#length++] = weight;
  }

  /** Keeps the heaviest, and among equal weights those that came first. */
  #choose(): void {
    if (this.#length <= this.#most) return;
    const weights = this.#weights.slice(0, this.#length).sort();
    const least = weights.at(-this.#most) ?? 0;
    let equal = this.#most - (weights.length - weights.lastIndexOf(least) - 1);
    let kept = 0;
    for (let n = 0; n < this.#length; n++) {
      const weight = this.#weights[n] ?? 0;
      if (weight < least || (weight === least && equal-- <= 0)) continue;
      for (const column of [this.#rows, this.#masks, this.#weights]) column[kept] = column[n] ?? 0;
      kept++;
    }
    this.#length = kept;
    this.#least = least;
  }

  /** Sorted by weight, then the newest first. */
  best(): Candidate[] {
    this.#choose();
    const best = Array.from({ length: this.#length }, (_, n): Candidate => {
      const seq = this.#rows[n] ?? 0;
      return { seq, weight: this.#weights[n] ?? 0, mask: this.#masks[n] ?? 0, isMatch: this.kinds[seq] === MATCH };
    });
    return best.sort((left, right) => right.weight - left.weight || right.seq - left.seq);
  }
}

/** `shared` has the parts that stand for several groups. */
function soughtOf(sqlite: Database, group: SpelledGroup, last: number, shared: Map<Near, Part>): Sought {
  const parts = partsOf(sqlite, group, shared);
  const countOf = sqlite.query<{ records: number }, [string]>("select records from words where word = ?");
  const countAll = (spellings: readonly { word: string }[]) =>
    spellings.reduce((sum, { word }) => sum + (countOf.get(word)?.records ?? 0), 0);
  const guesses = group.near.filter(({ isGuess }) => isGuess).flatMap(({ spellings }) => spellings);
  const counted = countAll([...group.spellings, ...guesses]);
  // The vocabulary has no counts for phrases, for numbers that only one record has, or for words added since the index was built.
  const anyRow = sqlite.query<unknown, [string]>("select 1 from texts where texts match ? limit 1");
  const isThere = (part: Part) => {
    part.areFew ||= anyRow.get(part.query) === null; // None: so all are read.
    return !part.areFew || part.rows.length > 0;
  };
  const least = counted > 0 || !parts.some(isThere) ? 0 : 1;
  const inPhrases = group.phrases.map((words) => Math.min(...words.map((word) => countOf.get(word)?.records ?? 1)));
  const ofPhrases = least === 0 ? 0 : inPhrases.reduce((sum, each) => sum + Math.ceil(each / PHRASE_ONE_IN), 0);
  const ofAgencies = group.agencies.reduce((sum, agency) => sum + vocabularyOf(sqlite).recordsOf(agency), 0);
  const records = Math.min(last, Math.max(counted, least, ofPhrases) + ofAgencies);
  const idf = group.times * Math.log(1 + Math.max(0.5, last - records + 0.5) / (records + 0.5));
  return { parts, bit: 0, records, idf, hasNear: group.near.length > 0 };
}

/** One in this many records with the rarest word of a phrase is assumed to have the phrase. */
const PHRASE_ONE_IN = 4;

function partsOf(sqlite: Database, { terms, agencies, numbers, near }: SpelledGroup, shared: Map<Near, Part>): Part[] {
  const { withStem, records } = vocabularyOf(sqlite);
  const most = (phrases: readonly string[][]) => phrases.reduce((sum, words) => sum + Math.min(...words.map(records)), 0);
  const ofTerms = terms.map((term) => {
    if (term.kind === "word") return partOf(sqlite, anyOf([term.word, ...withStem(term.stem).map(({ word }) => word)]), term.stem);
    if (term.kind === "beginning") return partOf(sqlite, `"${term.words.join(" ")}"*`, undefined, Number.POSITIVE_INFINITY);
    return { ...partOf(sqlite, anyOf([term.words.join(" ")]), undefined, most([term.words])), inTitle: titledWith(term.words) };
  });
  const tags = [...agencies.map(agencyTag), ...numbers.map(numberTag)].map((tag) => partOf(sqlite, anyOf([tag]), tag));
  const others = near.map((each) => {
    const sought = [...each.spellings.map(({ word }) => [word]), ...each.phrases];
    const words = sought.map((phrase) => phrase.join(" "));
    const part = shared.getOrInsertComputed(each, () => ({ ...partOf(sqlite, anyOf(words), each.stem, most(sought)), isNear: true }));
    if (each.phrases.length > 0) part.inTitle = each.phrases.map(titledWith).join(" OR ");
    return part;
  });
  return [...ofTerms, ...tags, ...others];
}

/** The words of a phrase in a title, in any order: asked for the phrase itself, FTS5 reads the texts as well. */
function titledWith(phrase: readonly string[]): string {
  return `(${phrase.map((word) => anyOf([titleTag(stemOf(word))])).join(" AND ")})`;
}

/** `most`: how many rows it may have, if its stem is not common. */
function partOf(sqlite: Database, query: string, stem: string | undefined, most = 0): Part {
  const isCommon = stem !== undefined && sqlite.query("select 1 from common_stems where stem = ?").get(stem) !== null;
  const areFew = !isCommon && most <= WORK_MAX.rows;
  const rows = areFew ? rowsWith(sqlite, query, 0, Number.MAX_SAFE_INTEGER, "asc").slice(-WORK_MAX.rows) : [];
  return {
    ...NO_ROWS,
    rows,
    areFew,
    query,
    inTitle: isCommon ? anyOf([titleTag(stem)]) : `{title} : (${query})`,
    ...(isCommon && { commonStem: stem }),
    bit: 0,
    left: (isCommon ? RANGE_ROWS : WORK_MAX.rows) - rows.length,
    isNear: false,
    counted: NOT_COUNTED,
  };
}

/** The queries that are not words of the question, with the bits that a row must have. */
function othersOf(
  sqlite: Database,
  question: SpelledQuestion,
  sought: readonly Sought[],
  condition: Condition | undefined,
  isDemanding: boolean,
): { others: Part[]; demanded: number } {
  const none = { ...NO_ROWS, inTitle: "", areFew: false, left: WORK_MAX.strict, isNear: false, counted: NOT_COUNTED };
  const others: Part[] = [{ ...none, query: anyOf([ACCEPTING_TAG]), commonStem: ACCEPTING_TAG, bit: ACCEPTING }];
  const [demand, exclusion] = [demandOf(question), matchesOf(question).excluded];
  let demanded = 0;
  if (demand !== undefined && isDemanding) {
    const rows = rowsWithDemanded(question.groups, sought);
    others.push({ ...none, ...(rows === undefined ? { query: queryOf(sqlite, demand) } : { query: "", areFew: true, rows }), bit: STRICT });
    demanded |= STRICT;
  }
  if (exclusion !== undefined) others.push({ ...none, query: queryOf(sqlite, exclusion), bit: OUT });
  if (question.numbers.length > 0) others.push({ ...none, query: anyOf(question.numbers.map(numberTag)), bit: NUMBERED });
  if (condition !== undefined) {
    others.push({ ...none, query: "", condition, bit: MET });
    demanded |= MET;
  }
  return { others, demanded };
}

/** The rows with everything that is demanded, in ascending order; undefined if they were not all read. */
function rowsWithDemanded(groups: readonly SpelledGroup[], sought: readonly Sought[]): number[] | undefined {
  const own = sought.filter((_, n) => groups[n]?.isDemanded).map(({ parts }) => parts.filter(({ isNear }) => !isNear));
  if (own.flat().some(({ areFew }) => !areFew)) return undefined;
  const rows = own.map((parts) => new Set(parts.flatMap((part) => part.rows)));
  return [...(rows[0] ?? [])].filter((row) => rows.every((each) => each.has(row))).sort((left, right) => left - right);
}

/** The weight of each combination of words: the sum of their inverse document frequencies, times their share of the whole question. */
function weightsOf(ownBit: readonly Sought[], whole: number): Float64Array {
  const weights = new Float64Array(1 << ownBit.length);
  for (let mask = 1; mask < weights.length; mask++) {
    const sum = ownBit.reduce((total, { bit, idf }) => ((mask & bit) === 0 ? total : total + idf), 0);
    weights[mask] = sum * (sum / whole);
  }
  return weights;
}
