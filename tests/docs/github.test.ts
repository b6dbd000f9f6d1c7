/** What GitHub reads: actions pinned by hash, and one version everywhere. */
import { expect, test } from "bun:test";
import manifest from "../../package.json";
import { projectFiles, readText } from "../support/project-files.ts";

test("every action of the workflows is pinned by its hash, with its version beside it", () => {
  const used = projectFiles(/^\.github\/workflows\//).flatMap((path) => readText(path).match(/^\s*(?:- )?uses: .*$/gm) ?? []);
  expect(used.length).toBeGreaterThan(5);
  for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("CITATION.cff names the version of package.json", () => {
  expect(/^version: (.+)$/m.exec(readText("CITATION.cff"))?.[1]).toBe(manifest.version);
});

test("the workflows, the image and the development container have the Bun of package.json", () => {
  const named = projectFiles(/^(Dockerfile|\.devcontainer\/.*|\.github\/workflows\/.*|\.ci\/run)$/).flatMap((path) =>
    [...readText(path).matchAll(/(?:oven\/bun:|bun-version: |bun@)(\d+\.\d+\.\d+)/g)].map(([, version]) => `${path} ${version}`),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((each) => !each.endsWith(` ${manifest.engines.bun}`))).toEqual([]);
});
