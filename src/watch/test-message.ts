/** A test message of a watch, with up to three of the opportunities that match. */
import type { CatalogDb } from "../../db/engine.ts";
import type { SearchFile } from "../search/search-file.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { matchingIds } from "./matching.ts";
import { itemsUpTo, type Message, roomIn } from "./message.ts";
import { messageItemOf, readMessageRows } from "./plan.ts";
import { newMessageId } from "./run.ts";
import type { Watch } from "./watch.ts";

const SAMPLE = 3;
const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

type Searched = { catalog: CatalogDb; index: SearchFile; now: EpochMs };

export async function testMessage({ catalog, index, now }: Searched, { name, definition }: Watch, randomBytes = random): Promise<Message> {
  const { filter, title } = definition;
  const ids = await matchingIds(catalog, index, definition, now);
  const sample = await readMessageRows(catalog, ids.slice(-SAMPLE).reverse(), now);
  const about = { watch: name, ...(title !== undefined && { title }), filter };
  const message = { id: newMessageId({ randomBytes }), type: "watch.test", timestamp: formatInstant(now) } as const;
  const counts = { new: SAMPLE, changed: 0, due: 0, left: 0 };
  const { items, add } = itemsUpTo(SAMPLE, roomIn({ ...message, data: { ...about, counts, events: [] } }));
  add(sample.map(messageItemOf("new")));
  return { ...message, data: { ...about, counts: { ...counts, new: items.length }, events: items } };
}
