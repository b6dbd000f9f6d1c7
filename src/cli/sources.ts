import type { Command } from "commander";
import { didYouMean } from "../closest.ts";
import { importNameOf } from "../import/formats.ts";
import { addSource, listSources, removeSource, type SourceStatus, sourceStatuses } from "../sources.ts";
import {
  answer,
  type Cli,
  type CommonOptions,
  command,
  commandGroup,
  duration,
  instantOrNull,
  inWords,
  table,
  withCatalog,
} from "./command.ts";

export function sourcesCommand(cli: Cli): Command {
  const list = command("list", "The source catalogue").action(async (options: CommonOptions) => {
    const sources = await withCatalog(cli, options, listSources);
    const lines = sources.map(({ code, ...about }) => ({ code, import_as: importNameOf(code) ?? null, ...about }));
    answer(cli, options, sources, table(lines, "The catalogue names no source"));
  });

  const add = command("add", "Name a source, or change the name and description of one")
    .argument("<code>", "its code; upper-cased")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--description <text>", "what it publishes")
    .action(async (code: string, options: CommonOptions & { name: string; description: string }) => {
      const source = await withCatalog(cli, options, (db) => addSource(db, { code, name: options.name, description: options.description }));
      answer(cli, options, source, `${source.code} is in the catalogue`);
    });

  const remove = command("remove", "Take a source out of the catalogue; its records stay and count as OTHER")
    .argument("<code>", "its code")
    .action(async (code: string, options: CommonOptions) => {
      await withCatalog(cli, options, async (db) => {
        if (await removeSource(db, code)) return;
        const known = (await listSources(db)).map((source) => source.code);
        throw new Error(`Cannot remove source ${code.toUpperCase()}: the catalogue does not name it${didYouMean(code, known)}`);
      });
      answer(cli, options, { code: code.toUpperCase() }, `${code.toUpperCase()} is no longer in the catalogue`);
    });

  const status = command("status", "Records, live ones, last import and its age, per source")
    .option("--max-age <duration>", "exit with 1 when a source's last import is older: 90s, 15m, 6h, 2d", duration)
    .action(async (options: CommonOptions & { maxAge?: number }) => {
      const now = cli.machine.now();
      const statuses = await withCatalog(cli, options, sourceStatuses);
      const ageOf = ({ last_import_at }: SourceStatus) => (last_import_at === null ? null : Math.max(0, now - last_import_at));
      const lines = statuses.map((each) => {
        const age = ageOf(each);
        return {
          source: each.source,
          records: each.records,
          live: each.live,
          last_import: instantOrNull(each.last_import_at),
          age: age === null ? null : inWords(age),
        };
      });
      const values = statuses.map((each) => {
        const age = ageOf(each);
        return { ...each, last_import_at: instantOrNull(each.last_import_at), age_seconds: age === null ? null : Math.floor(age / 1000) };
      });
      answer(cli, options, values, table(lines, "Nothing has been imported yet"));
      const { maxAge } = options;
      const stale = maxAge === undefined ? [] : statuses.filter((each) => (ageOf(each) ?? Number.POSITIVE_INFINITY) > maxAge);
      if (stale.length > 0 || (maxAge !== undefined && statuses.length === 0)) {
        cli.machine.tell(
          stale.length === 0
            ? "Nothing has been imported yet"
            : `Older than ${inWords(maxAge ?? 0)}: ${stale.map(({ source }) => source).join(", ")}`,
        );
        cli.exitCode = 1;
      }
    });

  return commandGroup("sources", "The source catalogue and how fresh each source is", [list, status, add, remove]);
}
