/** Which records can still be applied for: they come first among equal matches. */
import { unendedStatuses } from "../opportunities/status.ts";

/** The condition that the status of a row says so. The index has a partial index for this very text. */
export const IS_UNENDED = `status in (${unendedStatuses.map((status) => `'${status}'`).join(", ")})`;

/** The condition that nothing else speaks against it either. (E-205) */
export const IS_ACCEPTING = `${IS_UNENDED} and obstacle is null`;

/** What the index has in the column `tags` of such a record. Its first character is a letter to FTS5, and no text has it. */
export const ACCEPTING_TAG = "\ue000accepting";

/** How much better such a record is than another one that matches as well. */
export const ACCEPTING_FACTOR = 1.25;
