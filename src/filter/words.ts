/** The words of a search: what a person types becomes a query of FTS5, whatever it is, without a syntax that could be wrong. */

/** The most words and phrases of a search. */
const TERMS_MAX = 64;

/** FTS5 queries. Undefined where there are no such words. */
export type Words = { include: string | undefined; exclude: string | undefined };

type Term = { text: string; isPrefix: boolean; isExcluded: boolean };

/**
 * Reads `word`, `"a phrase"`, `begin*` and `-word`. All words must occur. The shell removes quotes, so an argument of several plain words is
 * a phrase. Throws if there is text but nothing to look for.
 */
export function readWords(given: readonly string[]): Words {
  const terms = given.flatMap((argument) => termsOf(isPlain(argument) ? `"${argument}"` : argument));
  if (terms.length > TERMS_MAX) throw new Error(`Cannot search for ${terms.length} words: the limit is ${TERMS_MAX}`);
  if (terms.length === 0 && given.some((argument) => argument.trim() !== ""))
    throw new Error(`Cannot search for ${given.join(" ")}: it has no letters or digits`);
  const [excluded, included] = [terms.filter(({ isExcluded }) => isExcluded), terms.filter(({ isExcluded }) => !isExcluded)];
  return { include: joined(included, " AND "), exclude: joined(excluded, " OR ") };
}

/** Several words without any operator. */
function isPlain(argument: string): boolean {
  return /\S\s+\S/.test(argument) && !/["“”*]|(^|\s)-/.test(argument);
}

function termsOf(text: string): Term[] {
  return [
    ...text
      .replace(/[“”]/g, '"')
      .replace(/\0/g, " ")
      .matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g),
  ]
    .map(([, sign, phrase, word = ""]) => ({
      text: phrase ?? word,
      isPrefix: phrase === undefined && /[\p{L}\p{N}]\*$/u.test(word),
      isExcluded: sign === "-",
    }))
    .filter((term) => /[\p{L}\p{N}]/u.test(term.text)); // Of anything else, the index has nothing.
}

function joined(terms: readonly Term[], operator: string): string | undefined {
  return terms.length === 0 ? undefined : terms.map(({ text, isPrefix }) => `"${text}"${isPrefix ? "*" : ""}`).join(operator);
}
