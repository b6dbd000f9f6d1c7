import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { dropScratch } from "../support/imports.ts";
import { expectSameMembers } from "./matching.ts";

setDefaultTimeout(1_800_000);
afterAll(dropScratch);

test("1,000 random searches have the same members at every door, and totals are those of all pages", async () => {
  await expectSameMembers(1000, 2);
  expect().pass();
});
