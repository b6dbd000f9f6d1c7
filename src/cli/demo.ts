import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Command, Option } from "commander";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { createKey } from "../accounts/key.ts";
import { formats } from "../import/formats/all.ts";
import { importFiles } from "../import/run.ts";
import { logFormats } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import type { ServeOptions } from "../server/options.ts";
import { serve } from "../server/serve.ts";
import { wholeNumber } from "./arguments.ts";
import { type Cli, command } from "./command.ts";
import { sample } from "./demo-sample.ts";
import { printResult } from "./output.ts";

export function demoCommand(cli: Cli): Command {
  return command("demo", "Serve a bundled sample of real opportunities from a temporary directory, and print a key and commands to paste")
    .addOption(new Option("--port <n>", "port to listen on; 0 takes a free one").default(8080).argParser(wholeNumber(0, 65_535)))
    .addOption(new Option("--log-format <format>", "format of the log on standard error").choices(logFormats).default("text"))
    .action(async ({ json, ...options }: Pick<ServeOptions, "port" | "logFormat" | "json">) => {
      const interrupted = new AbortController();
      cli.machine.onStopSignal(() => interrupted.abort()); // Before the directory is created, so that it is always removed.
      cli.machine.onReloadSignal(() => interrupted.abort()); // SIGHUP: the terminal was closed.
      const directory = mkdtempSync(join(tmpdir(), "fundfeed-demo-"));
      try {
        const records = await importSample(cli.machine, directory, interrupted.signal);
        const key = await createDemoKey(cli.machine, directory);
        if (interrupted.signal.aborted) return;
        const machine = {
          ...cli.machine,
          printLine: (line: string) => {
            const base_url = line.replace("listening on ", "");
            const text = `${introduction(base_url, key, records, directory)}\n${line}`;
            printResult(cli, { json }, { base_url, key, records, directory }, text);
          },
        };
        // Exits 0 even if requests were cut off: `bun run` may pass on a signal that the terminal sent as well, and the second one cuts.
        await serve(machine, { ...options, host: "127.0.0.1", data: directory, database: undefined });
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });
}

/** Imports each file as of the instant of its publication, so that the history is the real one. Returns the number of records. */
async function importSample(machine: Machine, directory: string, interrupted: AbortSignal): Promise<number> {
  const db = openCatalog(directory, machine.now());
  let added = 0;
  try {
    for (const [step, { format: name, file, asOf, snapshot }] of sample.entries()) {
      if (interrupted.aborted) break;
      const format = formats.find((each) => each.name === name);
      if (format === undefined) throw new Error(`Cannot import the sample: there is no format ${name}`);
      machine.showProgress(`importing the sample, ${step + 1} of ${sample.length}: ${name}`);
      const path = join(directory, basename(file)); // Files embedded in a compiled program cannot be read in pieces.
      await Bun.write(path, Bun.file(file));
      const context = { db, directory, now: machine.now, notify: () => undefined, progress: () => undefined };
      const options = { files: [path], snapshot, allowRemovals: true, asOf: Date.parse(asOf), dryRun: false, rejects: undefined };
      added += (await importFiles(context, format, options)).added;
    }
    return added;
  } finally {
    machine.showProgress("");
    await db.close();
  }
}

async function createDemoKey(machine: Machine, directory: string): Promise<string> {
  const db = openState(directory, machine.now());
  try {
    return (await createKey(db, { account: "demo", plan: "paid", label: "demo" }, machine.randomBytes, machine.now())).key;
  } finally {
    await db.close();
  }
}

function introduction(base: string, key: string, records: number, directory: string): string {
  return `${records} real opportunities of five federal sources, with their history, in ${directory} (removed when the demo ends).

Paste into another terminal:

  export FUNDFEED_KEY=${key}
  curl -s ${base}/meta
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/sources'
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/opportunities?limit=2'
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/opportunities?source=GRANTS_GOV&program_type=GRANT&agency=national&limit=2'
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/opportunities?updated_since=2026-07-30T00:00:00Z'

The API reference is at ${base}/docs. Ctrl-C ends the demo.
`;
}
