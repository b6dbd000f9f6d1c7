/** What is in the program, as CycloneDX 1.5: the runtime with its libraries, the packages that the bundle has read, and the data of others. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { license, version } from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");

type Part = { name: string; version: string; license: string };

/** Libraries in Bun, by their names in `process.versions`, which has a version or a commit of each. */
const LIBRARIES: readonly [key: string, name: string, license: string][] = [
  ["sqlite", "SQLite", "blessing"],
  ["webkit", "JavaScriptCore", "LGPL-2.0-or-later"],
  ["ares", "c-ares", "MIT"],
  ["boringssl", "BoringSSL", "Apache-2.0"],
  ["icu", "ICU", "Unicode-3.0"],
  ["libarchive", "libarchive", "BSD-2-Clause"],
  ["libdeflate", "libdeflate", "MIT"],
  ["llhttp", "llhttp", "MIT"],
  ["lolhtml", "lol-html", "BSD-3-Clause"],
  ["lshpack", "ls-hpack", "MIT"],
  ["mimalloc", "mimalloc", "MIT"],
  ["picohttpparser", "picohttpparser", "MIT"],
  ["tinycc", "TinyCC", "LGPL-2.1-or-later"],
  ["usockets", "uSockets", "Apache-2.0"],
  ["uwebsockets", "uWebSockets", "Apache-2.0"],
  ["zlib", "zlib", "Zlib"],
  ["zstd", "zstd", "BSD-3-Clause"],
];

/** Packages whose code another package has in its own files. Their manifests are not installed. */
const EMBEDDED: Readonly<Record<string, string>> = {
  ajv: "MIT",
  "ajv-formats": "MIT",
  "content-type": "MIT",
  "fast-deep-equal": "MIT",
  "fast-uri": "BSD-3-Clause",
  "json-schema-traverse": "MIT",
};

const DATA: readonly Part[] = [
  { name: "usaspending-api", version: "6ae1d70", license: "CC0-1.0" }, // src/agencies/table.tsv
  { name: "simpler-grants-gov", version: "32d9a12", license: "CC0-1.0" }, // src/agencies/table.tsv
];

type Parts = Record<"runtime" | "packages" | "embedded" | "data", readonly Part[]>;

/** The document as text. */
export function sbomOf({ runtime, packages, embedded, data }: Parts): string {
  const components = [
    ...runtime.map((part) => component(part, `pkg:generic/${part.name.toLowerCase()}@${part.version}`)),
    ...[...packages, ...embedded].map((part) => component(part, `pkg:npm/${part.name.replace("@", "%40")}@${part.version}`)),
    ...data.map((part) => ({ ...component(part, `pkg:generic/${part.name}@${part.version}`), type: "data" })),
  ];
  const own = { ...component({ name: "fundfeed", version, license }, `pkg:npm/fundfeed@${version}`), type: "application" };
  const document = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component: own }, components };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function component({ name, version, license }: Part, purl: string) {
  return { type: "library", "bom-ref": purl, name, version, licenses: [{ license: { id: license } }], purl };
}

/** Everything of others in the program. `packages` are those of which it has a file, by name. */
export async function partsOfProgram(): Promise<Parts> {
  const bundle = await Bun.build({ entrypoints: [join(root, "src/main.ts")], target: "bun", metafile: true });
  const paths = Object.keys(bundle.metafile?.inputs ?? {}).filter((path) => path.includes("node_modules/"));
  const names = new Set(paths.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
  const packages = [...names].sort().map((name) => {
    const manifest = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
    return { name, version: manifest.version as string, license: manifest.license as string };
  });
  const texts = paths.map((path) => readFileSync(join(root, path), "utf8"));
  const marks = texts.flatMap((text) => [...text.matchAll(/\/node_modules\/\.pnpm\/(\S+?)@(\d[\d.]*)/g)]); // The comments of a bundler.
  const embedded = new Map(marks.map(([, name = "", version = ""]) => [name, { name, version, license: EMBEDDED[name] ?? "unknown" }]));
  const libraries = LIBRARIES.map(([key, name, license]) => ({ name, version: process.versions[key] ?? "unknown", license }));
  return {
    runtime: [{ name: "Bun", version: Bun.version, license: "MIT" }, ...libraries],
    packages,
    embedded: [...embedded.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    data: DATA,
  };
}
