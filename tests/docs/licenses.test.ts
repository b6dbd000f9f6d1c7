/** docs/operate/licenses.md lists every package in the binary, and all their licenses are permissive. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const PERMISSIVE = /^(MIT(-0)?|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0)$/;

test("docs/operate/licenses.md lists the packages in the binary, all with permissive licenses", async () => {
  const bundle = await Bun.build({ entrypoints: [join(root, "src/main.ts")], target: "bun", metafile: true });
  const paths = Object.keys(bundle.metafile?.inputs ?? {});
  const names = new Set(paths.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
  const bundled = [...names].sort().map((name) => {
    const { license } = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as { license: string };
    return [name, license] as const;
  });
  const page = readFileSync(join(root, "docs/operate/licenses.md"), "utf8");
  const listed = [...page.matchAll(/^\| (\S+) \| (\S+) \|/gm)].map(([, name, license]) => [name, license] as const);
  expect(listed.filter(([name]) => name !== "Package")).toEqual(bundled);
  for (const [, license] of bundled) expect(license).toMatch(PERMISSIVE);
});
