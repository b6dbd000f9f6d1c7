/** Which records can still be applied for: they come first among equal matches. */
import { unendedStatuses } from "../opportunities/status.ts";

/** The condition that a row's status allows applications. The index has a partial index for this very text. */
export const IS_UNENDED = `status in (${unendedStatuses.map((status) => `'${status}'`).join(", ")})`;

/** The condition that nothing else prevents an application either. (E-205) */
export const IS_ACCEPTING = `${IS_UNENDED} and obstacle is null`;

/** What the column `tags` of the index holds for such a record. Its first character is a letter to FTS5, and no text has it. */
export const ACCEPTING_TAG = "\ue000accepting";

/** The factor by which such a record outranks another one that matches equally well. */
export const ACCEPTING_FACTOR = 1.25;
