/** `fundfeed imports list`: list imports with their files. */
import type { CatalogDb } from "../../../db/engine.ts";
import { type FileDigest, listImports, type Summary } from "../../import/import-log.ts";
import { counted, withCommas } from "../../text/in-words.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
import { indented, TERMINAL_WIDTH, toSecond, withInstants } from "../output.ts";

const [LIMIT, LIMIT_MAX] = [100, 1_000_000];

export function listCommand(command: CliCommand): CliCommand {
  return command
    .option("--limit <n>", "how many imports to list", wholeNumber(1, LIMIT_MAX), LIMIT)
    .action(async ({ limit }: { limit: number }) => {
      const rows = await command.withCatalog((db) => readImports(db, limit + 1)); // One more shows whether there are others.
      const imports = rows.slice(0, limit);
      const idWidth = `${imports[0]?.id ?? ""}`.length; // The newest id is the longest.
      const text = imports.map((each) => entryOf(each, idWidth)).join("\n");
      command.print(imports, text === "" ? "Nothing has been imported yet" : text);
      if (rows.length > limit) command.machine.printError("There are older imports; --limit lists more.");
    });
}

/** The newest imports. */
export async function readImports(db: CatalogDb, limit: number) {
  return (await listImports(db, limit)).map(({ id, format, files, sources, snapshot, as_of, started_at, finished_at, counts }) => ({
    ...{ id, format, files: JSON.parse(files) as FileDigest[], sources: JSON.parse(sources) as string[], snapshot: snapshot === 1 },
    ...withInstants({ as_of, started_at, finished_at }),
    counts: JSON.parse(counts) as Partial<Summary>,
  }));
}

type Import = Awaited<ReturnType<typeof readImports>>[number];

function entryOf({ id, format, files, snapshot, started_at, as_of, finished_at, counts }: Import, idWidth: number): string {
  const indent = " ".repeat(idWidth + 2);
  const facts = [toSecond(started_at ?? ""), format, snapshot && "snapshot", finished_at === null && "not finished"];
  const lines = [`${`${id}`.padStart(idWidth)}  ${facts.filter(Boolean).join("  ")}`];
  if (as_of !== null) lines.push(`${indent}as of ${toSecond(as_of)}`);
  lines.push(...indented(countsOf(counts), indent));
  lines.push(...files.map(({ name }) => indent + endOf(oneLine(name), TERMINAL_WIDTH - indent.length)));
  return lines.join("\n");
}

function countsOf({ read = 0, ...others }: Partial<Summary>): string {
  const parts = Object.entries(others).filter(([, count]) => count > 0);
  const details = parts.map(([name, count]) => (name === "events" ? counted(count, "event") : `${withCommas(count)} ${name}`)).join(", ");
  return `${withCommas(read)} read${details === "" ? "" : `: ${details}`}`;
}

/** Shortens a path at its beginning, because paths differ at their end. */
function endOf(path: string, width: number): string {
  if (Bun.stringWidth(path) <= width) return path;
  let end = path;
  while (Bun.stringWidth(end) >= width) end = end.slice(1);
  return `…${end}`;
}
