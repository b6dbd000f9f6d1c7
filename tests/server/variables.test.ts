/** Environment variables that are no settings. */
import { expect, test } from "bun:test";
import { upstreams } from "../../src/pull/upstreams.ts";
import { unknownVariables, variableNames } from "../../src/server/variables.ts";
import { readText } from "../support/project-files.ts";

test("the settings are those that the documents list", () => {
  const listed = readText("docs/reference/settings.md").matchAll(/FUNDFEED_([A-Z_]*[A-Z])/g);
  expect([...new Set(Array.from(listed, ([, name]) => name))].sort()).toEqual([...variableNames].sort());
});

test("each upstream has a variable for its address", () => {
  expect(
    upstreams.map(({ name }) => `${name.replaceAll("-", "_").toUpperCase()}_URL`).filter((name) => !variableNames.includes(name)),
  ).toEqual([]);
});

test("a mistyped one is named, with the one that was probably meant", () => {
  const env = { FUNDFEED_PAGE: "open", FUNDFEED_PAGES: "open", FUNDFEED_ACME_SECRET: "whsec", OTHER: "1", FUNDFEED_CHILD: "reader" };
  expect(unknownVariables(env)).toEqual([
    "FUNDFEED_ACME_SECRET is no setting; only a watch may name it",
    'FUNDFEED_PAGE is no setting (did you mean "FUNDFEED_PAGES"?); only a watch may name it',
  ]);
});
