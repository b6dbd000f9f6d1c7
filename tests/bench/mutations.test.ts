/** The lines that `bench/mutate.ts` breaks are there, so that it need not be run to learn that one of them was changed. */
import { expect, test } from "bun:test";
import { mutations } from "../../bench/mutations.ts";
import { projectFiles, readText } from "../support/project-files.ts";

test("each line that a mutation breaks is in its file once, and its tests exist", () => {
  const tests = projectFiles(/^tests\/.*\.test\.ts$/);
  for (const mutation of mutations) {
    expect([mutation.file, mutation.from, readText(mutation.file).split(mutation.from).length]).toEqual([mutation.file, mutation.from, 2]);
    expect(mutation.tests.filter((path) => !tests.includes(`tests/${path}`))).toEqual([]);
  }
});
