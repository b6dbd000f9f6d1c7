/** The words of a text around what was sought. */

/** The begin and the end of a match within a snippet. */
export const MATCH_BEGIN = "\u0002";
export const MATCH_END = "\u0003";

/** Words in a snippet, and the words of a text in which it is looked for. */
const [WORDS, WORDS_MAX] = [14, 2000];

/**
 * The best part of the first text that has any of the sought words, with each of them marked; null if no text has one. `groupOf` returns the
 * group of the question that a word belongs to. The part with the most groups is the best.
 */
export function snippetOf(texts: readonly string[], groupOf: (word: string) => number | undefined): string | null {
  let best: { groups: number; show: () => string } | undefined;
  for (const text of texts) {
    const found = bestPart(text, groupOf);
    if (found !== undefined && found.groups > (best?.groups ?? 0)) best = found;
  }
  return best?.show() ?? null;
}

type Word = { begin: number; end: number; group: number | undefined };

function bestPart(text: string, groupOf: (word: string) => number | undefined): { groups: number; show: () => string } | undefined {
  const words: Word[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (words.length === WORDS_MAX) break;
    words.push({ begin: match.index, end: match.index + match[0].length, group: groupOf(match[0]) });
  }
  let [from, most] = [0, 0];
  const seen = new Map<number, number>();
  words.forEach(({ group }, n) => {
    if (group !== undefined) seen.set(group, (seen.get(group) ?? 0) + 1);
    const left = words[n - WORDS]?.group;
    if (left !== undefined) {
      const count = (seen.get(left) ?? 0) - 1;
      if (count === 0) seen.delete(left);
      else seen.set(left, count);
    }
    if (seen.size > most) [from, most] = [Math.max(0, n - WORDS + 1), seen.size];
  });
  if (most === 0) return undefined;
  return { groups: most, show: () => marked(text, words, centered(words, from)) };
}

/** The snippet begins a few words before the first match. */
function centered(words: readonly Word[], from: number): number {
  const part = words.slice(from, from + WORDS);
  const first = part.findIndex(({ group }) => group !== undefined);
  const last = part.findLastIndex(({ group }) => group !== undefined);
  const room = Math.floor((WORDS - (last - first + 1)) / 2);
  return Math.max(0, Math.min(from + first - room, words.length - WORDS));
}

function marked(text: string, words: readonly Word[], from: number): string {
  const part = words.slice(from, from + WORDS);
  const [first, last] = [part[0], part.at(-1)];
  if (first === undefined || last === undefined) return "";
  let shown = from === 0 ? "" : "…";
  let at = first.begin;
  for (const { begin, end, group } of part) {
    if (group === undefined) continue;
    shown += `${text.slice(at, begin)}${MATCH_BEGIN}${text.slice(begin, end)}${MATCH_END}`;
    at = end;
  }
  const ends = from + WORDS < words.length;
  return (shown + text.slice(at, last.end) + (ends ? "…" : "")).replace(/[\r\n]+/g, " ");
}
