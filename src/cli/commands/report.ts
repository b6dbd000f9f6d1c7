/** `fundfeed report`: what somebody needs who helps with a problem. It has no secrets, no personal data, and no names of files or folders. */
import { readdirSync, statSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import type { CatalogDb } from "../../../db/engine.ts";
import { messageOf } from "../../../db/reason.ts";
import { sourceStatusesAt } from "../../opportunities/source-counts.ts";
import { readJobs } from "../../team/job-file.ts";
import type { EpochMs } from "../../text/instant.ts";
import type { CliCommand, CommonOptions } from "../command.ts";
import { instantOrNull, withInstants } from "../output.ts";
import { readImports } from "./imports.ts";
import { readVersions } from "./version.ts";

const IMPORTS = 20;

export function reportCommand(command: CliCommand): CliCommand {
  return command.addHelpText("after", HELP).action(async (options: CommonOptions) => {
    const { env } = command.machine;
    const report = {
      made_at: instantOrNull(command.machine.now()),
      versions: readVersions(),
      system: { platform: platform(), release: release(), arch: arch(), cpus: cpus().length, memory_bytes: totalmem() },
      // Their values may be secrets.
      settings: Object.keys(env)
        .filter((name) => name.startsWith("FUNDFEED_") && env[name] !== undefined)
        .sort(),
      engine: options.database === undefined ? "files" : "PostgreSQL",
      files: options.data === undefined ? [] : ownFiles(options.data),
      catalog: await command
        .withCatalog((db) => readCatalog(db, command.machine.now()))
        .catch((error: unknown) => ({
          error: withoutDetails(messageOf(error)),
        })),
      jobs:
        options.data === undefined
          ? []
          : readJobs(options.data).map(({ name, result, started_at, succeeded_at, failed_at, failures, error }) => {
              const details = error === null ? null : withoutDetails(error);
              return withInstants({ name, result, started_at, succeeded_at, failed_at, failures, error: details });
            }),
    };
    command.print(report, JSON.stringify(report, null, 2));
  });
}

const HELP = `
It has versions, sizes, counts, the last ${IMPORTS} imports and errors. Of settings it
has only the names. Of errors it leaves out addresses and paths. Read it before
you publish it all the same.`;

function ownFiles(directory: string): { name: string; bytes: number }[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = entries.map(({ name }) => ({ name: OWN_FILE.test(name) ? name : "other", bytes: statSync(join(directory, name)).size }));
    return sizes.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    return []; // There is no such directory. The catalog's error says so.
  }
}

const OWN_FILE = /^(?:catalog|state|search|watch)\.db(?:-wal|-shm)?$|^jobs\.json$/;

async function readCatalog(db: CatalogDb, now: EpochMs) {
  const sources = (await sourceStatusesAt(db, now)).map(withInstants);
  const imports = (await readImports(db, IMPORTS)).map(({ files, ...each }) => ({ ...each, file_bytes: files.map(({ bytes }) => bytes) }));
  return { sources, imports };
}

/** An error without what may be secret or personal: addresses of servers and of people, paths, quoted values, and long tokens. */
function withoutDetails(text: string): string {
  return text
    .replace(/\b[a-z][a-z\d+.-]*:\/\/\S+/gi, "<address>")
    .replace(/\S+@\S+/g, "<address>")
    .replace(/"[^"]*"|“[^”]*”/g, "<text>")
    .replace(/(?:[A-Za-z]:)?[\\/][^\s,;)]*/g, "<path>")
    .replace(/\b[\w-]{24,}\b/g, "<text>");
}
