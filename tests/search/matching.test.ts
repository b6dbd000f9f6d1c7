import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { dropScratch } from "../support/imports.ts";
import { expectSameMembers } from "./matching.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test("four random searches have the same members at every door, and totals are those of all pages", async () => {
  await expectSameMembers(4, 1);
  expect().pass();
});
