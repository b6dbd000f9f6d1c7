/** Random searches, at every door that searches, against reading each record. */
import { expect } from "bun:test";
import { agencyCodeOf } from "../../src/filter/columns.ts";
import { matches, readFilter } from "../../src/filter/filter.ts";
import { textsOf } from "../../src/filter/texts.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { deadlinesIn } from "../../src/search/deadlines.ts";
import { findAll, whichMayMatch } from "../../src/search/find.ts";
import { firstPartial, type SearchPage, search } from "../../src/search/search.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { stemOf, wordsOf } from "../../src/text/words-of.ts";
import { aCatalogOfAll, anIndexOfAll } from "../support/all-records.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { rowsAmong } from "../support/rows.ts";

/** A day on which some of the records are open. */
const NOW = Date.parse("2026-04-01T12:00:00Z");
/** So many records are compared one by one for each search. */
const COMPARED = 25;

/** What one reads of a record: its words in order, with a break between columns, their set and that of their stems, and its agency. */
type Read = { text: string; words: Set<string>; stems: Set<string>; agency: string };

/** A part of a question as it is typed, and which records have it. */
type Part = { typed: string; has: (record: Read) => boolean };

/** Asks `count` random questions. Each must have the members that reading every record gives, at every door. */
export async function expectSameMembers(count: number, seed: number): Promise<void> {
  const { db, all: stored } = await aCatalogOfAll();
  const ids = stored.map(({ id }) => id);
  const all = await readOpportunities(db, ids, NOW);
  const index = openSearchFile(await anIndexOfAll());
  await catchUp(db, index, undefined, NOW);
  const read = new Map(all.map((each) => [each.id, readOf(each)]));
  const below = randomIntegers(seed);
  const pick = <T>(some: readonly T[]) => some[below(some.length)] as T;
  const dated = index.sqlite.query<{ id: string }, []>("select id from records where due_at is not null").all();
  const hasDate = new Set(dated.map(({ id }) => id));
  const versions = index.sqlite.query<{ id: string; stored_at: number }, []>("select id, stored_at from records").all();
  try {
    for (let n = 0; n < count; n++) {
      const parts = Array.from({ length: 1 + below(3) }, () => partOf(pick(all), pick(all), below));
      const words = parts.map(({ typed }) => typed).join(" ");
      const isMeant = (each: WholeOpportunity) => parts.every(({ has }) => has(read.get(each.id) as Read));
      const filter = readFilter({ words }, words);
      const expected = rowsAmong(all, isMeant)
        .map(({ id }) => id)
        .sort();
      const asked = (given: object) => search(db, index, { filter, limit: 5000, budget: UNLIMITED, ...given }, NOW);
      const idsOf = ({ results }: SearchPage) => results.map(({ opportunity }) => opportunity.id).sort();
      const said = (door: string, found: readonly string[]) => found.map((id) => `${words} | ${door} | ${id}`).sort();
      const expectMembers = (door: string, found: readonly string[]) => expect(said(door, found)).toEqual(said(door, expected));

      expectMembers("watch", findAll(index, filter, NOW));
      const [best, dated] = [await asked({ sort: "relevance" }), await asked({ sort: "closes" })];
      expectMembers("by date", idsOf(dated));
      const isRanked = parts.some(({ typed }) => !typed.startsWith("-"));
      if (isRanked) {
        expectMembers("best match", idsOf({ ...best, results: best.results.filter(({ isMatch }) => isMatch) }));
        const after = best.results.slice(firstPartial(best.results) ?? best.results.length);
        expect([words, after.filter(({ isMatch, isFar }) => isMatch && !isFar).length]).toEqual([words, 0]);
        expect([words, best.total, best.partial]).toEqual([words, best.results.length, dated.partial]);
      }
      expect([words, best.matching, dated.matching, dated.total]).toEqual([words, ...Array(3).fill(expected.length)]);
      const due = rowsAmong(all, (each) => hasDate.has(each.id) && isMeant(each)).map(({ id }) => id);
      const deadlines = deadlinesIn(index, filter, { since: 0, until: 8e15 }, NOW, { limit: 1e6, allSources: false });
      expect(
        said(
          "calendar",
          deadlines.map(({ id }) => id),
        ),
      ).toEqual(said("calendar", due));
      const matching = all.filter(isMeant).map(({ id }) => id);
      expect(
        said(
          "changes",
          whichMayMatch(index, filter, versions, NOW).map(({ id }) => id),
        ),
      ).toEqual(said("changes", matching));
      const members = new Set(matching);
      const compared = [
        ...Array.from({ length: COMPARED }, () => pick(all)),
        ...all.filter(({ id }) => members.has(id)).slice(0, COMPARED),
      ];
      const exported = compared.filter((each) => matches(filter, each, NOW)).map(({ id }) => id);
      expect(said("export", exported)).toEqual(
        said(
          "export",
          compared.filter(({ id }) => members.has(id)).map(({ id }) => id),
        ),
      );
    }
  } finally {
    index.close();
    await db.close();
  }
}

function readOf(opportunity: WholeOpportunity): Read {
  const columns = textsOf(opportunity).map(wordsOf);
  const words = columns.flat();
  const text = columns.map((each) => ` ${each.join(" ")} `).join("|");
  return { text, words: new Set(words), stems: new Set(words.map(stemOf)), agency: agencyCodeOf(opportunity) ?? "" };
}

/** A part of a question about two records. */
function partOf(one: WholeOpportunity, other: WholeOpportunity, below: (most: number) => number): Part {
  const [title, text] = [wordsOf(one.title), wordsOf(textsOf(one).join(" "))];
  const wordIn = (words: readonly string[]) => {
    const plain = words.filter((word) => /^[a-z]{5,}$/.test(word) && !STOP.test(word));
    return plain[below(plain.length)] ?? "research";
  };
  const [word, another] = [wordIn(below(2) === 0 ? title : text), wordIn(wordsOf(other.title))];
  const first = below(Math.max(1, title.length - 2));
  const phrase = title.slice(first, first + 3);
  const isPlain = phrase.length === 3 && phrase.every((each) => /^[a-z]+$/.test(each));
  const any = (word: string) => (record: Read) => record.stems.has(stemOf(word));
  const exactly = (words: readonly string[]) => (record: Read) => record.text.includes(` ${words.join(" ")} `);
  const kinds: (() => Part)[] = [
    () => ({ typed: word, has: any(word) }),
    () => ({ typed: `${word}s`, has: any(`${word}s`) }),
    () => ({ typed: `"${(isPlain ? phrase : [word]).join(" ")}"`, has: exactly(isPlain ? phrase : [word]) }),
    () => ({ typed: `+${word}`, has: (record) => record.words.has(word) }),
    () => ({ typed: `-${word}`, has: (record) => !any(word)(record) }),
    () => ({ typed: `-"${word}"`, has: (record) => !record.words.has(word) }),
    () => ({ typed: `${word} OR ${another}`, has: (record) => any(word)(record) || any(another)(record) }),
    () => ({ typed: `${word.slice(0, 4)}*`, has: ({ text }) => text.includes(` ${word.slice(0, 4)}`) }),
    () => ({ typed: `the ${word} of ${another}`, has: (record) => any(word)(record) && any(another)(record) }),
    () => ({ typed: `${word} not ${another}`, has: (record) => any(word)(record) && !any(another)(record) }),
    () => ({ typed: "NIH", has: ({ words, agency }) => words.has("nih") || /^HHS\.NIH(\.|$)/.test(agency) }),
  ];
  return (kinds[below(kinds.length)] as () => Part)();
}

/** Words that say nothing: alone they are sought, beside others they are not. */
const STOP =
  /^(about|apply|available|during|grant|million|money|opportunity|people|program|could|grants?|looking|please|their|there|these|those|under|where|which|would|programs?|funds|funded|funding|opportunities)$/;
