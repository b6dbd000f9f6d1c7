/** A watch whose filter changes at any moment, compared with a model of what its receiver knows. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Filter, matches } from "../../src/filter/filter.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { DeliveryError } from "../../src/watch/attempts.ts";
import { matchingEach } from "../../src/watch/matching.ts";
import type { Message } from "../../src/watch/message.ts";
import { pendingOf } from "../../src/watch/pending.ts";
import { changeWatch, resume } from "../../src/watch/watches.ts";
import { dropScratch, opportunitiesOf, SECOND } from "../support/imports.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { aWatched, theWatch } from "./watched.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const STEPS = 80;
const IDS = 12;
const FILTERS: readonly Filter[] = [{}, { words: "quantum" }, { words: "quantum", status: ["open"] }, { status: ["open", "cancelled"] }];

test.each([1, 2, 114])("with seed %i, a receiver is told each change once, and ends up knowing what matches", async (seed) => {
  const random = randomIntegers(seed);
  const watched = await aWatched();
  const { clock, db, file, index } = watched;
  const importSome = () =>
    watched.take(
      Array.from({ length: 1 + random(4) }, () => ({
        source: { code: "OWN", opportunity_id: `N${random(IDS)}` },
        title: random(2) === 0 ? "Battery" : "Quantum sensing",
        status: ["open", "cancelled", "awarded"][random(3)],
      })),
    );
  await importSome();
  let filter = FILTERS[1] as Filter;
  await watched.add("q", { filter });
  const idsOf = async (wanted: Filter) => {
    const all = await opportunitiesOf(db);
    return new Set(all.filter((each) => matches(wanted, each, clock.now)).map(({ id }) => id));
  };
  const known = await idsOf(filter);
  /** What was excluded by a filter while this message was on its way, which stays as it was. */
  let forgotten = { by: "", ids: new Set<string>() };
  const changes: string[] = [];
  const surprises: string[] = [];
  const take = (message: Message) => {
    const isOlder = message.id === forgotten.by;
    for (const item of message.data.events) {
      const { id } = item.opportunity;
      if (item.kind === "changed") changes.push(item.event.id);
      else if (!isOlder && known.has(id) !== (item.kind === "left")) surprises.push(`${item.kind} ${id}`);
      if (item.kind === "left") known.delete(id);
      if (item.kind === "new" && !(isOlder && forgotten.ids.has(id))) known.add(id);
    }
  };
  let isDown = false;
  watched.receiver.send = async (_, { body }) => {
    if (isDown) throw new DeliveryError("Cannot deliver");
    take(JSON.parse(body));
  };
  for (let step = 0; step < STEPS; step++) {
    clock.now += 7 * 3600 * SECOND; // Longer than any delay.
    isDown = step < STEPS - 1 && random(3) === 0;
    const what = step < STEPS - 1 ? random(3) : 1;
    if (what === 0) await importSome();
    else if (what === 1) {
      await resume(file, await theWatch(file, "q")); // It may be paused, because it has failed for long.
      await watched.run();
    } else {
      const next = FILTERS[random(FILTERS.length)] as Filter;
      const watch = await theWatch(file, "q");
      await catchUp(db, index);
      const [before, after] = (await matchingEach(db, index, [{ filter }, { filter: next }], clock.now)).map((ids) => new Set(ids));
      const [joining, leaving] = [after?.difference(before ?? new Set()) ?? [], before?.difference(after ?? new Set()) ?? []];
      const definition = { ...watch.definition, filter: next };
      expect(await changeWatch(file, [{ ...watch, definition }], { joining: [...joining], leaving: [...leaving] })).toBe(true);
      for (const id of joining) known.add(id);
      for (const id of leaving) known.delete(id);
      const { id: by = "" } = (await pendingOf(file, await theWatch(file, "q"))) ?? {};
      forgotten = { by, ids: new Set([...(by === forgotten.by ? forgotten.ids : []), ...leaving]) };
      filter = next;
    }
  }
  expect([...known].sort()).toEqual([...(await idsOf(filter))].sort());
  expect(surprises).toEqual([]);
  expect(changes.length).toBeGreaterThan(2);
  expect(new Set(changes).size).toBe(changes.length);
});
