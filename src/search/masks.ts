/**
 * Which parts of a question each row of a range has, in 32 bits. At a million records, the median question takes 35 to 97 ms with masks, and
 * 1.0 to 3.5 s with `bm25()` (bench/README.md). (E-65)
 *
 *     31      30         29      28   27   26        25, 24  23 … 12                11 … 0
 *     unused  ACCEPTING  STRICT  MET  OUT  NUMBERED  unused  group n, in the title  group n
 *
 * ACCEPTING: the record may still be applied for. STRICT: it has everything that is required. MET: it meets the filters. OUT: it has an
 * excluded word, or was deleted. NUMBERED: its number is the whole question.
 */
import { ACCEPTING_FACTOR } from "./accepting.ts";

/** At most this many groups of the question have their own bit, the rarest ones. */
export const GROUPS_MAX = 12;
export const [ACCEPTING, STRICT, MET, OUT, NUMBERED] = [1 << 30, 1 << 29, 1 << 28, 1 << 27, 1 << 26];
const WORDS = (1 << GROUPS_MAX) - 1;

/** Whether a bit belongs to a group. */
export function isGroup(bit: number): boolean {
  return (bit & WORDS) !== 0;
}

/** How well a row fits a question: it is not shown, has some of the words, or matches. */
export const [NONE, PARTIAL, MATCH] = [0, 1, 2];

/** The value for groups that are not counted. No count reaches it. */
export const NOT_COUNTED = -1;
/** The extra weight of words in the title. */
const TITLED = 0.8;
/** The extra weight of a match, so that it outweighs any other row. `best-match.ts` moves down what has some of its words only far down. */
export const MATCHING = 1e6;

/**
 * What a row needs. It is shown if it has all bits of `demanded`. It matches if it also has all of `everyBit`, and `counted` of its groups were
 * counted. `weights` has the weight of each combination of group bits.
 */
type Wanted = { weights: Float64Array; everyBit: number; counted: number; demanded: number; canMatch: boolean };

/** The masks of the rows of one range, from `first` on. A row is known by its place: 0 for the first one. */
export class Masks {
  first = 0;
  readonly #masks: Int32Array;
  readonly #counts: Uint8Array;
  readonly #wanted: Wanted;

  constructor(rows: number, wanted: Wanted) {
    [this.#masks, this.#counts, this.#wanted] = [new Int32Array(rows), new Uint8Array(rows), wanted];
  }

  /** Clears the masks and begins the range with this first row. */
  begin(first: number): void {
    this.first = first;
    this.#masks.fill(0);
    this.#counts.fill(0);
  }

  /**
   * Sets a bit in the mask of each of these rows. Increments the row's count if that equals `counted`: groups are added one after the other, so
   * only a row with all of them reaches their number. The rows are bytes of `gapsOf`, or ascending row numbers, of which the last ones are in
   * this range and are taken off.
   */
  add(rows: Uint8Array | number[], bit: number, counted: number): void {
    if (rows instanceof Uint8Array) this.#addGaps(rows, bit, counted);
    else for (let row = rows.at(-1); row !== undefined && row >= this.first; row = rows.at(-1)) this.#set(rows.pop() ?? 0, bit, counted);
  }

  /** The same for rows that have a group in their title. */
  addTitled(rows: Uint8Array | number[], bit: number): void {
    if (isGroup(bit)) this.add(rows, bit << GROUPS_MAX, NOT_COUNTED);
  }

  #set(row: number, bit: number, counted: number): void {
    const place = row - this.first;
    this.#masks[place] = (this.#masks[place] ?? 0) | bit;
    if (this.#counts[place] === counted) this.#counts[place] = counted + 1;
  }

  #addGaps(bytes: Uint8Array, bit: number, counted: number): void {
    const [masks, counts, isCounted, { length }] = [this.#masks, this.#counts, counted !== NOT_COUNTED, bytes];
    let place = -1;
    for (let at = 0; at < length; at++) {
      let byte = bytes[at] ?? 0;
      let gap = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[++at] ?? 0;
        gap |= (byte & 127) << shift;
      }
      place += gap + 1;
      masks[place] = (masks[place] ?? 0) | bit;
      if (isCounted && counts[place] === counted) counts[place] = counted + 1;
    }
  }

  /** NONE, PARTIAL or MATCH. */
  met(place: number): number {
    const mask = this.#masks[place] ?? 0;
    const words = mask & WORDS;
    const isNumbered = (mask & NUMBERED) !== 0;
    if ((words === 0 && !isNumbered && this.#counts[place] === 0) || (mask & OUT) !== 0) return NONE;
    const wanted = this.#wanted;
    const needed = isNumbered ? wanted.demanded & MET : wanted.demanded;
    if ((mask & needed) !== needed) return NONE;
    if (isNumbered) return MATCH;
    const hasAll = (words & wanted.everyBit) === wanted.everyBit && this.#counts[place] === wanted.counted;
    if (hasAll && wanted.canMatch) return MATCH;
    return words === 0 ? NONE : PARTIAL;
  }

  /** The weight of a row with this mask. */
  weight(place: number, met: number): number {
    const { weights } = this.#wanted;
    const mask = this.#masks[place] ?? 0;
    const worth = (weights[mask & WORDS] ?? 0) + TITLED * (weights[(mask >> GROUPS_MAX) & WORDS] ?? 0);
    return (met === MATCH ? MATCHING : 0) + worth * ((mask & ACCEPTING) === 0 ? 1 : ACCEPTING_FACTOR);
  }

  /** The bits of the groups that a row has. */
  words(place: number): number {
    return (this.#masks[place] ?? 0) & WORDS;
  }
}

/** The gaps between ascending rows from `first` on, as integers of 7 bits a byte, the low bits first. */
export function gapsOf(rows: readonly [number][], first: number): Uint8Array {
  const bytes = new Uint8Array(rows.length * 3); // A gap is less than a range, so it has at most 16 bits.
  let [length, next] = [0, first];
  for (const [row] of rows) {
    let gap = row - next;
    for (; gap > 127; gap >>>= 7) bytes[length++] = (gap & 127) | 128;
    bytes[length++] = gap;
    next = row + 1;
  }
  return bytes.slice(0, length);
}
