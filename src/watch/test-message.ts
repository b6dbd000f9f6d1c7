/** A test message of a watch, with up to three opportunities. */
import { dueOf } from "../opportunities/due.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import type { Machine } from "../runtime/machine.ts";
import { formatInstant } from "../text/instant.ts";
import { itemsUpTo, type Message, messageOpportunity, roomIn } from "./message.ts";
import { newMessageId } from "./run.ts";
import type { Watch } from "./watch.ts";

export const SAMPLE = 3;

export function testMessage(
  { name, definition: { filter, title } }: Pick<Watch, "name" | "definition">,
  sample: readonly WholeOpportunity[],
  machine: Pick<Machine, "now" | "randomBytes">,
): Message {
  const about = { watch: name, ...(title !== undefined && { title }), filter };
  const message = { id: newMessageId(machine), type: "watch.test", timestamp: formatInstant(machine.now()) } as const;
  const counts = { new: SAMPLE, changed: 0, due: 0, left: 0 };
  const { items, add } = itemsUpTo(SAMPLE, roomIn({ ...message, data: { ...about, counts, events: [] } }));
  const now = machine.now();
  add(
    sample.map((opportunity) => ({
      kind: "new",
      opportunity: messageOpportunity({ opportunity, duplicates: [], due: dueOf(opportunity, now, []) }),
    })),
  );
  return { ...message, data: { ...about, counts: { ...counts, new: items.length }, events: items } };
}
