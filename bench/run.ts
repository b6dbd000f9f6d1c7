/** Runs all benchmarks and prints one Markdown report with date, machine and versions: `bun run bench`. */
import { cpus } from "node:os";
import { join } from "node:path";
import { catalogSizeBenchmark } from "./catalog-size.ts";
import { hooksBenchmark } from "./hooks.ts";
import { importBenchmark } from "./import.ts";
import { loadBenchmark } from "./load.ts";
import { fundfeed, run, SERVER_CORE } from "./processes.ts";
import { queriesBenchmark } from "./queries.ts";
import { goalsTable, print, type Section, sectionText } from "./report.ts";
import { startBenchmark } from "./start.ts";

const benchmarks = [loadBenchmark, hooksBenchmark, catalogSizeBenchmark, startBenchmark, importBenchmark, queriesBenchmark];

const started = performance.now();
const { output: version } = await run(SERVER_CORE, [...fundfeed, "version"]);
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
    return { title: benchmark.name, text: `Failed: ${error instanceof Error ? error.message : error}`, goals: [] };
  });
  sections.push(section);
  print(`${sectionText({ ...section, goals: [] })}\n`);
}
print(`## Goals\n\n${goalsTable(sections.flatMap(({ goals }) => goals))}\n`);
print(`Took ${Math.round((performance.now() - started) / 1000)} s.`);
