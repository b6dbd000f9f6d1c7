/** Every benchmark in one go, as one Markdown report with its date, machine and versions: `bun run bench`. */
import { cpus } from "node:os";
import { join } from "node:path";
import { flatBenchmark } from "./flat.ts";
import { hooksBenchmark } from "./hooks.ts";
import { importBenchmark } from "./import.ts";
import { loadBenchmark } from "./load.ts";
import { product, run, SERVER_CORE } from "./processes.ts";
import { queriesBenchmark } from "./queries.ts";
import { barsTable, print, type Section, shownSection } from "./report.ts";
import { startBenchmark } from "./start.ts";

const benchmarks = [loadBenchmark, hooksBenchmark, flatBenchmark, startBenchmark, importBenchmark, queriesBenchmark];

const began = performance.now();
const { output: version } = await run(SERVER_CORE, [...product, "version"]);
const node = Bun.which("node") === null ? "no Node" : `Node ${(await run(SERVER_CORE, ["node", "--version"])).output.trim()}`;
const peer = await Bun.file(join(import.meta.dir, "peer/package.json")).json();
const versions = Object.entries(peer.dependencies).map(([name, number]) => `${name} ${number}`);
print(
  `${new Date().toISOString().slice(0, 16)}Z · ${cpus().length} × ${cpus()[0]?.model} · ${version.trim()} · ${node}, ${versions.join(", ")}\n`,
);

const sections: Section[] = [];
for (const benchmark of benchmarks) {
  const section = await benchmark().catch((error: unknown) => {
    process.exitCode = 1;
    return { title: benchmark.name, text: `Failed: ${error instanceof Error ? error.message : error}`, bars: [] };
  });
  sections.push(section);
  print(`${shownSection({ ...section, bars: [] })}\n`);
}
print(`## Bars\n\n${barsTable(sections.flatMap(({ bars }) => bars))}\n`);
print(`Took ${Math.round((performance.now() - began) / 1000)} s.`);
