/** What is in the program, as CycloneDX 1.5: Bun with SQLite, and the packages that the bundle has read. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { license, version } from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");

/** The document as text. `sqlite` is the version that the program prints. */
export async function sbomOf(sqlite: string): Promise<string> {
  const components = [
    component("Bun", Bun.version, "MIT", `pkg:npm/bun@${Bun.version}`),
    component("SQLite", sqlite, "blessing", `pkg:generic/sqlite@${sqlite}`),
    ...(await bundledPackages()).map((each) =>
      component(each.name, each.version, each.license, `pkg:npm/${each.name.replace("@", "%40")}@${each.version}`),
    ),
  ];
  const subject = { ...component("fundfeed", version, license, `pkg:npm/fundfeed@${version}`), type: "application" };
  const document = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component: subject }, components };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function component(name: string, version: string, license: string, purl: string) {
  return { type: "library", "bom-ref": purl, name, version, licenses: [{ license: { id: license } }], purl };
}

/** The packages of which the program has a file, by name. */
export async function bundledPackages(): Promise<{ name: string; version: string; license: string }[]> {
  const bundle = await Bun.build({ entrypoints: [join(root, "src/main.ts")], target: "bun", metafile: true });
  const paths = Object.keys(bundle.metafile?.inputs ?? {});
  const names = new Set(paths.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
  return [...names].sort().map((name) => {
    const manifest = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
    return { name, version: manifest.version, license: manifest.license };
  });
}
