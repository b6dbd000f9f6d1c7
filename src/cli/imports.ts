import type { Command } from "commander";
import { type FileDigest, listImports, type Summary } from "../import/remembered.ts";
import { answer, type Cli, type CommonOptions, command, commandGroup, instantOrNull, table, withCatalog } from "./command.ts";

export function importsCommand(cli: Cli): Command {
  const list = command("list", "Every import: files, instants and counts, the newest first").action(async (options: CommonOptions) => {
    const rows = await withCatalog(cli, options, listImports);
    const imports = rows.map((row) => ({
      id: row.id,
      format: row.format,
      files: JSON.parse(row.files) as FileDigest[],
      sources: JSON.parse(row.sources) as string[],
      snapshot: row.snapshot === 1,
      as_of: instantOrNull(row.as_of),
      started_at: instantOrNull(row.started_at),
      finished_at: instantOrNull(row.finished_at),
      counts: JSON.parse(row.counts) as Partial<Summary>,
    }));
    const lines = imports.map(({ id, format, files, as_of, started_at, finished_at, counts }) => ({
      id,
      format,
      files: files.map(({ name }) => name).join(" "),
      started: started_at,
      as_of,
      finished: finished_at === null ? "no" : "yes",
      read: counts.read ?? null,
      added: counts.added ?? null,
      changed: counts.changed ?? null,
      unchanged: counts.unchanged ?? null,
      merged: counts.merged ?? null,
      rejected: counts.rejected ?? null,
      removed: counts.removed ?? null,
      linked: counts.linked ?? null,
      events: counts.events ?? null,
    }));
    answer(cli, options, imports, table(lines, "Nothing has been imported yet"));
  });
  return commandGroup("imports", "What has been imported", [list]);
}
