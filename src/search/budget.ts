/**
 * How long one search may take where others wait for it: a page, an agent, a server. SQLite cannot be interrupted from here, so a search reads
 * a bounded number of rows at a time and checks the budget in between. When it is spent, the search returns what it has found, marked as
 * incomplete.
 */

/** Rows of the index that one statement of a search reads at most. */
export const SPAN_ROWS = 1 << 18;

export type Budget = { isSpent: () => boolean };

/** How long a person will wait without minding. A search of a million records takes a tenth of it. Tests set no limit, because they run on busy machines. */
export const searchLimit = { ms: 1000 };

/** The message when the time is over. */
export const ENDED_EARLY = "The search ended after a second, before it had looked at everything; more words or filters make it shorter";

/** The message when the time is over for similar opportunities. */
export const SIMILAR_ENDED_EARLY = "What is similar was looked for until a second had passed, and there may be more of it";

/** The budget of a search that begins now. */
export function searchBudget(): Budget {
  const until = performance.now() + searchLimit.ms;
  return { isSpent: () => performance.now() >= until };
}

/** No limit, for commands: their user can interrupt them. */
export const UNLIMITED: Budget = { isSpent: () => false };
