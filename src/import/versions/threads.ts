/** Decides, in any order of files, which versions of one key are revisions of the same opportunity. */
import { DAY_MS, type EpochMs } from "../../text/instant.ts";

type Thread = {
  lineage: string;
  titles: Map<string, ReadonlySet<string>>;
  count: number;
  /** From the first posting to the last due date or posting; without a due date (`hasDue`) the end is unknown. */
  begins: EpochMs;
  ends: EpochMs;
  hasDue: boolean;
};

/** `day` is the Eastern date of posting; "" if unknown. */
type KeyedVersion = { title: string; day: string; posted_at: EpochMs | null; due_at: EpochMs | null };

/** Posted longer after the end of a record, a version is a new round, whatever the titles are. */
const ROUND_MS = 365 * DAY_MS;

/** A key that this many versions share is probably a placeholder: then only a similar title makes a revision. */
const VERSIONS_MAX = 100;

const COMPARED_MAX = 100;

export class Threads {
  private readonly threads = new Map<string, Thread>();
  private readonly byWords = new Map<string, Thread>();
  private readonly days = new Set<string>();
  private versions = 0;

  get lineages(): string[] {
    return [...this.threads.keys()];
  }

  get first(): string | undefined {
    return this.threads.keys().next().value;
  }

  join(lineage: string, version: KeyedVersion): void {
    const { title, day } = version;
    const thread = this.of(lineage);
    prolong(thread, version);
    const words = wordsOf(title);
    const name = nameOf(words);
    thread.titles.set(name, words);
    if (!this.byWords.has(name)) this.byWords.set(name, thread);
    this.days.add(day);
    thread.count++;
    this.versions++;
  }

  /** Adds the version that a record shows. If that was restored, no other of its `count` is known. */
  addShown(lineage: string, version: KeyedVersion, count: number): void {
    const thread = this.of(lineage);
    if (thread.count === 0) this.join(lineage, version);
    else prolong(thread, version);
    this.versions += Math.max(0, count - thread.count);
    thread.count = Math.max(thread.count, count);
  }

  putFirst(lineage: string): void {
    const first = this.threads.get(lineage);
    if (first === undefined) return;
    const others = [...this.threads].filter(([each]) => each !== lineage);
    this.threads.clear();
    for (const [each, thread] of [[lineage, first] as const, ...others]) this.threads.set(each, thread);
  }

  /**
   * The lineage of the record that a version belongs to: that of the first thread of its round with a similar title, otherwise that of the
   * key or, if the key is of another round, of the first thread of its own. Versions posted on one day under different titles are different
   * opportunities (calls under one announcement, lots of one number); the later one's lineage is its id, as is that of a new round. On
   * different days a different title alone means nothing.
   */
  lineageOf(version: KeyedVersion & { id: string }, key: string): string {
    const similar = this.findSimilar(version);
    if (similar !== undefined) return similar.lineage;
    const thread = this.threads.get(key);
    if (thread === undefined) return key;
    const own = [thread, ...this.threads.values()].find((each) => !isOtherRound(each, version));
    return own === undefined || this.days.has(version.day) || this.versions >= VERSIONS_MAX ? version.id : own.lineage;
  }

  private findSimilar(version: KeyedVersion): Thread | undefined {
    const words = wordsOf(version.title);
    let compared = 0;
    for (const thread of this.threads.values()) {
      if (isOtherRound(thread, version)) continue;
      for (const title of thread.titles.values()) {
        if (compared++ === COMPARED_MAX) return this.byWords.get(nameOf(words));
        if (shareWords(title, words)) return thread;
      }
    }
    return undefined;
  }

  private of(lineage: string): Thread {
    const known = this.threads.get(lineage);
    if (known !== undefined) return known;
    const thread = {
      lineage,
      titles: new Map(),
      count: 0,
      begins: Number.POSITIVE_INFINITY,
      ends: Number.NEGATIVE_INFINITY,
      hasDue: false,
    };
    this.threads.set(lineage, thread);
    return thread;
  }
}

function prolong(thread: Thread, { posted_at, due_at }: KeyedVersion): void {
  thread.begins = Math.min(thread.begins, posted_at ?? Number.POSITIVE_INFINITY);
  thread.ends = Math.max(thread.ends, posted_at ?? Number.NEGATIVE_INFINITY, due_at ?? Number.NEGATIVE_INFINITY);
  thread.hasDue ||= due_at !== null;
}

function isOtherRound({ begins, ends, hasDue }: Thread, { posted_at, due_at }: KeyedVersion): boolean {
  if (posted_at === null) return false;
  return (
    (hasDue && posted_at > ends + ROUND_MS) ||
    (due_at !== null && begins > Math.max(posted_at, due_at) + ROUND_MS && begins < Number.POSITIVE_INFINITY)
  );
}

/** Whether two titles share more than half of the shorter one's words. */
export function areSimilar(one: string, other: string): boolean {
  return shareWords(wordsOf(one), wordsOf(other));
}

function shareWords(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [few, many] = one.size <= other.size ? [one, other] : [other, one];
  return few.isSubsetOf(many) || few.intersection(many).size * 2 > few.size;
}

function wordsOf(title: string): ReadonlySet<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

function nameOf(words: ReadonlySet<string>): string {
  return [...words].sort().join(" ");
}
