import { expect, test } from "bun:test";
import type { OpportunityEvent } from "../../src/events/event.ts";
import { historyPage } from "../../src/events/history.ts";

const history = ["1", "2", "3", "4", "5"].map((id) => ({ id }) as OpportunityEvent);

test("the pages of a history have each event once, the newest first", () => {
  const seen: string[] = [];
  for (let after: string | undefined, pages = 0; pages < 3; pages++) {
    const page = historyPage(history, after, 2);
    seen.push(...(page?.events ?? []).map(({ id }) => id));
    after = page?.next;
    expect(page?.total).toBe(5);
    expect(after).toBe(["4", "2", undefined][pages]);
  }
  expect(seen).toEqual(["5", "4", "3", "2", "1"]);
});

test("a full last page has no next one, and an event that is gone has no page", () => {
  expect(historyPage(history, "3", 2)).toMatchObject({ next: undefined, total: 5 });
  expect(historyPage([], undefined, 2)).toEqual({ events: [], total: 0, next: undefined });
  expect(historyPage(history, "6", 2)).toBeUndefined();
});
