import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { dropScratch } from "../support/imports.ts";
import { expectSameMembers } from "./matching.ts";

setDefaultTimeout(1_800_000);
afterAll(dropScratch);

/** Each takes a third of a second or more. FUNDFEED_SEARCHES=1000 asks more. */
const count = Number(process.env.FUNDFEED_SEARCHES ?? 250);

test(`${count} random searches have the same members at every door, and totals are those of all pages`, async () => {
  await expectSameMembers(count, 2);
  expect().pass();
});
