/** `fundfeed demo`: serve a bundled sample of real opportunities from a temporary directory. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../db/reason.ts";
import { openCatalog, openState } from "../../../db/sqlite/open.ts";
import { createKey } from "../../accounts/key.ts";
import { formats } from "../../import/formats/all.ts";
import { importFiles } from "../../import/run.ts";
import { createLog, logFormats } from "../../monitoring/log.ts";
import { temporaryDirectory } from "../../runtime/left-behind.ts";
import type { Machine } from "../../runtime/machine.ts";
import { keepOpen } from "../../search/kept-open.ts";
import { openSearchFile } from "../../search/search-file.ts";
import type { ServeOptions } from "../../server/options.ts";
import { serve } from "../../server/serve.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
import { readSample } from "../demo-sample.ts" with { type: "macro" };
import { startBrowse } from "./browse.ts";

export function demoCommand(command: CliCommand): CliCommand {
  return command
    .option("--port <n>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), 8080)
    .option(
      "--browse-port <n>",
      "port of the pages to browse; 0 takes a free one (default: the one after --port, or a free one)",
      wholeNumber(0, 65_535),
    )
    .choice("--log-format <format>", "format of the log on standard error", logFormats, "text")
    .action(async ({ json, browsePort, ...options }: Pick<ServeOptions, "port" | "logFormat" | "json"> & { browsePort?: number }) => {
      command.cli.isLasting = true;
      const interrupted = new AbortController();
      command.machine.onStopSignal(() => interrupted.abort()); // Before the directory is created, so that it is always removed.
      command.machine.onReloadSignal(() => interrupted.abort()); // SIGHUP: the terminal was closed.
      const directory = temporaryDirectory("demo");
      try {
        const records = await importSample(command.machine, directory, interrupted.signal);
        const key = await makeKey(command.machine, directory);
        if (interrupted.signal.aborted) return;
        await using pages = await browseSample(command.machine, directory, browsePort ?? options.port, browsePort !== undefined);
        const machine = {
          ...command.machine,
          printLine: (line: string) => {
            const result = { base_url: line.replace("listening on ", ""), browse_url: pages.url, key, records, directory };
            command.print(result, `${introduction(result)}\n${line}`);
          },
        };
        // Exits 0 even if requests were cut off: `bun run` may pass on a signal that the terminal sent as well, and the second one cuts.
        await serve(machine, { ...options, host: HOST, data: directory, database: undefined });
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });
}

const HOST = "127.0.0.1";

/** Without a port for the pages, they take the one after the API's, or a free one if that is taken. */
async function browseSample(machine: Machine, directory: string, port: number, isGiven: boolean) {
  const location = { data: directory, mode: "read" } as const;
  const log = createLog("text", machine.writeLog, "failure");
  const index = keepOpen(() => openSearchFile(directory));
  const start = (port: number) => startBrowse(machine, { host: HOST, port }, location, index, log);
  const starting = isGiven || port === 0 ? start(port) : start(port + 1).catch(() => start(0));
  const { listener, url } = await starting;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      await listener.stop(true);
      index[Symbol.dispose]();
    },
  };
}

/** Imports each file as of the instant of its publication, so that the history is the real one. Returns the number of records. */
async function importSample(machine: Machine, directory: string, interrupted: AbortSignal): Promise<number> {
  let added = 0;
  await using db = openCatalog(directory, machine.now());
  const sample = readSample();
  for (const [step, { format: name, file, content, asOf, snapshot }] of sample.entries()) {
    if (interrupted.aborted) break;
    const format = formats.find((each) => each.name === name);
    if (format === undefined) throw new Failure(`Cannot import the sample: there is no format ${name}`);
    machine.showProgress(`importing the sample, ${step + 1} of ${sample.length}: ${name}`);
    const path = join(directory, file);
    await Bun.write(path, Uint8Array.fromBase64(content));
    const context = { db, directory, now: machine.now, notify: () => undefined, progress: () => undefined };
    const options = { files: [path], snapshot, allowRemovals: true, asOf: Date.parse(asOf) };
    added += (await importFiles(context, format, options)).added;
  }
  return added;
}

async function makeKey({ now, randomBytes }: Machine, directory: string): Promise<string> {
  await using db = openState(directory, now());
  return (await createKey(db, { account: "demo", plan: "paid", label: "demo" }, randomBytes, now())).key;
}

function introduction({ base_url: base, browse_url, key, records, directory }: Record<string, string | number>): string {
  return `${records} real opportunities of ten federal sources, with their history, in ${directory} (removed when the demo ends).

Open in a browser:

  ${browse_url}

Or paste into another terminal:

  export FUNDFEED_KEY=${key}
  curl -s ${base}/meta
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/sources'
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/opportunities?limit=2'
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/opportunities?source=GRANTS_GOV&program_type=GRANT&agency=national&limit=2'
  curl -s -H "Authorization: Bearer $FUNDFEED_KEY" '${base}/opportunities?updated_since=2026-07-30T00:00:00Z'

The API reference is at ${base}/docs. Ctrl-C ends the demo.
What next, with data that stay: fundfeed help first-alert
`;
}
