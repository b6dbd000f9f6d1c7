/**
 * The records that may match a question best, without FTS5's `bm25()`, which reads every row that has any of the words. For each row a mask
 * says which words of the question it has, and which of them in its title. The rows whose masks weigh most are the candidates; `score.ts`
 * compares them exactly. The work is bounded: of too many rows, only the newest are read. (E-65)
 */
import type { Database } from "bun:sqlite";
import type { Condition } from "../filter/kinds.ts";
import { ACCEPTING_FACTOR, ACCEPTING_TAG } from "./accepting.ts";
import { agencyTag } from "./agency-words.ts";
import { type Budget, SPAN_ROWS } from "./budget.ts";
import { anyOf, commonRowsOf, lastCommonRow, lastRow, markGaps, RANGE_ROWS } from "./common-rows.ts";
import type { Group, Question } from "./question.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Bounds of the work for one question, however much time it has. */
const WORK_MAX = {
  /** Rows that are read of a word without bytes. */
  rows: 50_000,
  /** Rows that are read of those with a phrase, with a word that must not occur, or that meet the filters. */
  strict: 200_000,
  /** Bytes of common words. */
  bytes: 12_000_000,
};

/** Of more matches, the rows are not kept. */
export const COUNTED_MAX = 10_000;

/** How much words in the title add to the weight of a row. */
const TITLED = 0.8;
/**
 * At most so many groups of the question get a bit of their own, the rarest first. The mask of a row:
 *
 *      bit  30         29      28   27   23 … 12       11 … 0
 *           ACCEPTING  STRICT  MET  OUT  group n       group n
 *                                        in the title  in the text
 *
 * ACCEPTING: the record may still be applied for. STRICT: it has all phrases. MET: it meets the filters. OUT: it has a word that must not occur.
 */
const TOLD_APART = 12;
const WORDS = (1 << TOLD_APART) - 1;
const [ACCEPTING, STRICT, MET, OUT] = [1 << 30, 1 << 29, 1 << 28, 1 << 27];

/** A row number of the index. `mask` has the bits of the groups that it has, of those that are told apart. */
export type Candidate = { seq: number; weight: number; mask: number };

type Candidates = {
  best: Candidate[];
  /** Records that have any of the words and meet everything that is strict. At least so many, if `isAll` is false. */
  any: number;
  /** Of these, the ones that have every word. */
  every: number;
  /** Whether all records were looked at, and not only the newest. */
  isAll: boolean;
  /** For each group of the question, how telling it is: its inverse document frequency. */
  telling: number[];
  /** The rows of all that match, if they are few enough to be counted by value; else null. */
  rows: number[] | null;
  /** For each group of the question, its bit in the masks; 0 if it is not told apart. */
  bits: number[];
  /** False if the time was over before all spans were read. */
  isWhole: boolean;
};

/**
 * A query of FTS5, or a condition on the table `records`, with the bit that its rows have. `rows` and `titled` are those of a span in
 * ascending order, and at most `left` more are read. `bytes` are those of its ranges, if `commonStem` has some.
 */
type Part = Rows & { query: string; condition?: Condition; commonStem?: string; bit: number; left: number };
type Rows = { rows: number[]; titled: number[]; bytes: ReturnType<typeof commonRowsOf> };

const NO_ROWS: Rows = { rows: [], titled: [], bytes: new Map() };

/** What is sought for a group: rows with any of its words, and those of an agency that it means. */
type Sought = { parts: Part[]; bit: number; records: number; telling: number };

/** The `most` rows with the heaviest masks, the heaviest first, of equal ones the newest. `condition` is on the table `records`. */
export function candidatesFor(
  sqlite: Database,
  question: Question,
  condition: Condition | undefined,
  most: number,
  budget: Budget,
): Candidates {
  const last = lastRow(sqlite);
  const sought = question.groups.map((group) => soughtOf(sqlite, group, last));
  const telling = sought.map((each) => each.telling);
  const toldApart = sought.filter(({ records }) => records > 0).toSorted((left, right) => left.records - right.records);
  toldApart.splice(TOLD_APART);
  toldApart.forEach((each, n) => {
    each.bit = 1 << n;
    for (const part of each.parts) part.bit = each.bit;
  });
  const required = question.groups.reduce((bits, { isRequired }, n) => (isRequired ? bits | (sought[n]?.bit ?? 0) : bits), 0);
  if (question.groups.some(({ isRequired }, n) => isRequired && sought[n]?.records === 0))
    return { best: [], any: 0, every: 0, isAll: true, telling, rows: [], bits: [], isWhole: true };
  const { others, demanded } = othersOf(question, condition);

  const parts = [...toldApart.flatMap((each) => each.parts), ...others];
  const readSpan = spanReader(sqlite);
  const allBits = toldApart.reduce((bits, { bit }) => bits | bit, 0);
  const whole = telling.reduce((sum, each) => sum + each, 0);
  const isToldApart = toldApart.length === question.groups.length || question.groups.length > TOLD_APART;
  const asked = { weights: weightsOf(toldApart, whole), everyWord: isToldApart ? allBits : -1, demanded, required };
  const heaviest = new Heaviest(asked, most);
  const masks = new Int32Array(RANGE_ROWS);
  let [bytes, oldest, isAll, isWhole, isEnd] = [0, 1, true, true, false];
  const newest = Math.floor(Math.max(0, last - 1) / RANGE_ROWS);
  for (let range = newest; range >= 0; range--) {
    if (range === newest || (range + 1) % SPAN_RANGES === 0) {
      if (isEnd) break;
      if (range !== newest && budget.isSpent()) [isAll, isWhole] = [false, false];
      if (!isWhole) break;
      for (const part of parts) {
        readSpan(part, (range - (range % SPAN_RANGES)) * RANGE_ROWS, (range + 1) * RANGE_ROWS);
        if (part.left > 0) continue;
        isAll = false;
        isEnd ||= (part.bit & (demanded | OUT)) !== 0;
        if (part.bit === OUT) oldest = part.rows[0] ?? oldest; // Older rows may have what must not occur.
      }
    }
    if (bytes > WORK_MAX.bytes) {
      isAll = false;
      break;
    }
    masks.fill(0);
    const first = range * RANGE_ROWS + 1;
    for (const each of parts) {
      const common = each.bytes.get(range);
      if (common !== undefined) {
        markGaps(common.rows, masks, each.bit);
        if ((each.bit & WORDS) !== 0) markGaps(common.titled, masks, each.bit << TOLD_APART);
        bytes += common.rows.length + common.titled.length;
      }
      markLast(each.rows, masks, first, each.bit);
      markLast(each.titled, masks, first, each.bit << TOLD_APART);
    }
    heaviest.add(masks, first, oldest);
  }
  const { any, every, rows } = heaviest;
  return {
    best: heaviest.best(),
    any,
    every,
    isAll,
    telling,
    rows: isAll && any <= COUNTED_MAX ? rows : null,
    bits: sought.map(({ bit }) => bit),
    isWhole,
  };
}

const SPAN_RANGES = SPAN_ROWS / RANGE_ROWS;

/** Reads the rows of a part that are after `begin` and up to `end`. */
function spanReader(sqlite: Database): (part: Part, begin: number, end: number) => void {
  const commonUntil = lastCommonRow(sqlite);
  const matching = sqlite.query<unknown, [string, number, number, number]>(
    "select rowid from texts where texts match ? and rowid > ? and rowid <= ? order by rowid desc limit ?",
  );
  const rowsOf = (found: unknown[][]) => (found as [number][]).map(([row]) => row).reverse();
  return (part, begin, end) => {
    const { query, condition, commonStem, left } = part;
    Object.assign(part, NO_ROWS);
    if (condition !== undefined) {
      const sql = `select seq from records where ${condition.sql} and seq > ? and seq <= ? order by seq desc limit ?`;
      part.rows = rowsOf(sqlite.query<unknown, (string | number)[]>(sql).values(...condition.values, begin, end, left));
    } else if (query !== "") {
      if (commonStem !== undefined) part.bytes = commonRowsOf(sqlite, commonStem, begin / RANGE_ROWS, end / RANGE_ROWS);
      const after = commonStem === undefined ? begin : Math.max(begin, commonUntil);
      if (after >= end) return;
      part.rows = rowsOf(matching.values(query, after, end, left));
      if ((part.bit & WORDS) !== 0) part.titled = rowsOf(matching.values(`{title} : (${query})`, after, end, left));
    }
    part.left -= part.rows.length;
  };
}

/** What a row must have to match, as bits of its mask, and what each combination of words weighs. */
type Asked = { weights: Float64Array; everyWord: number; demanded: number; required: number };

/** Counts the rows that match, and collects the heaviest of them. */
class Heaviest {
  any = 0;
  every = 0;
  /** The rows that match, but no more than are counted. */
  readonly rows: number[] = [];
  readonly #asked: Asked;
  readonly #most: number;
  #collected: Candidate[] = [];
  /** What a row must weigh more than. */
  #least = 0;

  constructor(asked: Asked, most: number) {
    this.#asked = asked;
    this.#most = most;
  }

  /** Adds the rows from `first` on, but none before `oldest`. Ranges are added from the newest to the oldest. */
  add(masks: Int32Array, first: number, oldest: number): void {
    const { weights, everyWord, demanded, required } = this.#asked;
    for (let place = masks.length - 1; place >= Math.max(0, oldest - first); place--) {
      const mask = masks[place] ?? 0;
      const words = mask & WORDS;
      if (words === 0 || (mask & OUT) !== 0 || (mask & demanded) !== demanded || (words & required) !== required) continue;
      if (++this.any <= COUNTED_MAX) this.rows.push(first + place);
      if (words === everyWord) this.every++;
      const titled = (mask >> TOLD_APART) & WORDS;
      const weight = ((weights[words] ?? 0) + TITLED * (weights[titled] ?? 0)) * ((mask & ACCEPTING) === 0 ? 1 : ACCEPTING_FACTOR);
      if (weight > this.#least) this.#collect({ seq: first + place, weight, mask: words });
    }
  }

  #collect(candidate: Candidate): void {
    this.#collected.push(candidate);
    if (this.#collected.length >= this.#most * 8) this.#choose();
  }

  /** Leaves the heaviest, of equal ones those that came first. Sorting numbers takes a tenth of sorting candidates. */
  #choose(): void {
    if (this.#collected.length <= this.#most) return;
    const weights = new Float64Array(this.#collected.map(({ weight }) => weight)).sort();
    const least = weights.at(-this.#most) ?? 0;
    let equal = this.#most - (weights.length - weights.lastIndexOf(least) - 1);
    this.#collected = this.#collected.filter(({ weight }) => weight > least || (weight === least && equal-- > 0));
    this.#least = least;
  }

  /** The heaviest first, of equal ones the newest. */
  best(): Candidate[] {
    this.#choose();
    return this.#collected.sort((left, right) => right.weight - left.weight || right.seq - left.seq);
  }
}

function soughtOf(sqlite: Database, { spellings, stem, agency, times }: Group, last: number): Sought {
  const countOf = sqlite.query<{ records: number }, [string]>("select records from words where word = ?");
  const counted = spellings.reduce((sum, { word }) => sum + (countOf.get(word)?.records ?? 0), 0);
  const query = anyOf(spellings.map(({ word }) => word));
  // A word that was added since the index was built, or a number that only one record has, is not counted.
  const isThere = counted === 0 && query !== "" && sqlite.query("select 1 from texts where texts match ? limit 1").get(query) !== null;
  const ofAgency = agency === undefined ? 0 : vocabularyOf(sqlite).recordsOf(agency);
  const records = Math.min(last, Math.max(counted, isThere ? 1 : 0) + ofAgency);
  const telling = times * Math.log(1 + Math.max(0.5, last - records + 0.5) / (records + 0.5));
  const parts = [partOf(sqlite, query, stem)];
  if (agency !== undefined) parts.push(partOf(sqlite, anyOf([agencyTag(agency)]), agencyTag(agency)));
  return { parts, bit: 0, records, telling };
}

function partOf(sqlite: Database, query: string, stem: string | undefined): Part {
  const isCommon = stem !== undefined && sqlite.query("select 1 from common_stems where stem = ?").get(stem) !== null;
  return { ...NO_ROWS, query, ...(isCommon && { commonStem: stem }), bit: 0, left: isCommon ? RANGE_ROWS : WORK_MAX.rows };
}

/** What is not a word of the question, with the bits that a row must have. */
function othersOf({ phrases, excluded }: Question, condition: Condition | undefined): { others: Part[]; demanded: number } {
  const none = { ...NO_ROWS, left: WORK_MAX.strict };
  const others: Part[] = [{ ...none, query: anyOf([ACCEPTING_TAG]), commonStem: ACCEPTING_TAG, bit: ACCEPTING }];
  let demanded = 0;
  if (phrases.length > 0) {
    others.push({ ...none, query: phrases.map((phrase) => `"${phrase.join(" ")}"`).join(" AND "), bit: STRICT });
    demanded |= STRICT;
  }
  if (excluded.length > 0) others.push({ ...none, query: anyOf(excluded.map((words) => words.join(" "))), bit: OUT });
  if (condition !== undefined) {
    others.push({ ...none, query: "", condition, bit: MET });
    demanded |= MET;
  }
  return { others, demanded };
}

/** What each combination of words weighs: how telling they are together, times their share of the whole question. */
function weightsOf(toldApart: readonly Sought[], whole: number): Float64Array {
  const weights = new Float64Array(1 << toldApart.length);
  for (let mask = 1; mask < weights.length; mask++) {
    const sum = toldApart.reduce((total, { bit, telling }) => ((mask & bit) === 0 ? total : total + telling), 0);
    weights[mask] = sum * (sum / whole);
  }
  return weights;
}

/** Sets a bit in the mask of each of the last rows that are `first` or later, and takes them off. */
function markLast(rows: number[], masks: Int32Array, first: number, bit: number): void {
  for (let row = rows.at(-1); row !== undefined && row >= first; row = rows.at(-1)) {
    masks[row - first] = (masks[row - first] ?? 0) | bit;
    rows.pop();
  }
}
