/** `fundfeed browse`: show opportunities and what changed in a web browser. */
import { catalogPerRequest, type DatabaseLocation } from "../../../db/open.ts";
import type { Listener } from "../../http/listen.ts";
import { createLog, type Log } from "../../monitoring/log.ts";
import type { Machine } from "../../runtime/machine.ts";
import { type KeptOpen, keepOpen } from "../../search/kept-open.ts";
import { originOf } from "../../server/addresses.ts";
import { drain, watchStopSignals } from "../../server/signals.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
import { addSearchOptions, indexProgress, openIndex, type SearchOptions, useIndex } from "../search-options.ts";

/** Next to the API's 8080, so that both run on one machine. */
const PORT = 8081;
const HOST = "address to listen on; anyone who can reach it can read the pages, which need no key";

export function browseCommand(browsing: CliCommand): CliCommand {
  browsing
    .setting("--host <address>", HOST, undefined, "127.0.0.1", undefined, "BROWSE_")
    .setting("--port <n>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), PORT, undefined, "BROWSE_")
    .examples("fundfeed browse", "fundfeed browse --data /var/lib/fundfeed --port 9000");
  return addSearchOptions(browsing).action(async (options: SearchOptions & { host: string; port: number }) => {
    const { machine } = browsing;
    browsing.cli.isLasting = true;
    const log = createLog("text", machine.writeLog, "failure");
    const stopSignals = watchStopSignals(machine, {}, log);
    using index = keepOpen(() => openIndex(options, machine.printError));
    try {
      // The catalog is closed again before pages are served: each opens it, so that a restore can replace it meanwhile.
      await browsing.withCatalog((catalog) =>
        useIndex(index.current(), catalog, indexProgress(machine), machine.now(), () => machine.showProgress("")),
      );
      const { listener, url } = await startBrowse(machine, options, { ...options, mode: "read" }, index, log);
      if (listener.address !== "::1" && !listener.address.startsWith("127.")) log.notice(machine.now(), NETWORK_WARNING);
      browsing.print({ url }, `listening on ${url}`);
      if (!(await drain(stopSignals, listener))) browsing.cli.exitCode = 1;
    } finally {
      log.flush();
    }
  });
}

const NETWORK_WARNING =
  "The pages are served to other machines without a key and without TLS; contacts in them are personal data. Listen on 127.0.0.1 behind a proxy that asks for a password, or use ssh -L";

/** Starts to serve the pages of a catalog. Loads them first, so that other commands start without them. */
export async function startBrowse(
  machine: Machine,
  { host, port }: { host: string; port: number },
  location: DatabaseLocation,
  index: KeptOpen,
  log: Log,
): Promise<{ listener: Listener; url: string }> {
  const { serveBrowse } = await import("../../browse/serve.ts");
  const openCatalog = catalogPerRequest(location, machine.now);
  const onFailure = (error: unknown) => log.failure(machine.now(), error, null);
  const listener = await serveBrowse({ host, port, openCatalog, openIndex: index.current, now: machine.now, onFailure });
  return { listener, url: `${originOf("http", host, listener)}/` };
}
