/** What speaks against applying for a record whose status says that one can. Such a record is not counted as open. (E-205) */
import type { EpochMs } from "../text/instant.ts";
import { dueOf } from "./due.ts";
import { isLongUnseen } from "./last-seen.ts";
import { LETTER, type WholeOpportunity } from "./opportunity.ts";
import { cancellationIn, unendedStatuses } from "./status.ts";

/** `over`: no due date is left. `unseen`: it states no date, and its source has dropped it, or was not read for a year. */
export const obstacles = {
  letter: { one: "is a Dear Colleague Letter", many: "are Dear Colleague Letters" },
  test: { one: "is marked as a test", many: "are marked as tests" },
  cancelled: { one: "has a title that says cancelled", many: "have a title that says cancelled" },
  over: { one: "has no due date left", many: "have no due date left" },
  unseen: { one: "was last seen long ago", many: "were last seen long ago" },
} as const;

export type Obstacle = keyof typeof obstacles;

/** What speaks against applying; null if nothing does, or if the status itself says that one cannot. `duplicates` are its other records. */
export function obstacleOf(opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]): Obstacle | null {
  const { status, status_display, title, source, last_seen } = opportunity;
  if (!unendedStatuses.includes(status)) return null;
  if (status_display === LETTER) return "letter";
  if (isTest(opportunity)) return "test";
  if (cancellationIn(title) !== undefined) return "cancelled";
  const { kind } = dueOf(opportunity, now, duplicates);
  if (kind === "over" || (kind === "none" && source.code === "NSF")) return "over";
  return last_seen !== undefined && isLongUnseen(last_seen, now) ? "unseen" : null;
}

/** Titles by which people mark a trial. "Test and Evaluation" does not count. */
const TEST_RECORD =
  /^\W*(?:this is )?(?:a |only )*test(?:ing|s)?(?: (?:opportunity|record|grant|posting|notice|synopsis|announcement|only|please ignore))?[\W\d]*$|^for \w+ \w+ testing$|\btest (?:opportunity|posting|announcement)\b|\bthis is (?:only )?a (?:test|fake)\b|\bdo not (?:apply|submit)\b|\bplease (?:ignore|disregard)\b/i;

export function isTest({ title, program: { solicitation_id } }: WholeOpportunity): boolean {
  return TEST_RECORD.test(title) || (solicitation_id !== null && /^test\W*\d*$/i.test(solicitation_id));
}
