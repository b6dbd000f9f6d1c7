/** Which records can still be applied for: they come first among equal matches. */

/** What the index has in the column `facets` of such a record. The character is a letter to FTS5, and no text has it. */
export const LIVE_TOKEN = "\ue000live";

/** How much better such a record is than another one that matches as well. */
export const LIVE_FACTOR = 1.25;

const LIVE_STATUSES: ReadonlySet<string> = new Set(["open", "closing_soon", "forecast", "pre_release"]);

export function isLive(status: string): boolean {
  return LIVE_STATUSES.has(status);
}
