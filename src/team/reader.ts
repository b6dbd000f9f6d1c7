/**
 * The reader: a process of its own that renders what takes longer than a request to the API. It listens on a socket that only this user
 * reaches, and checks no host and no key: the front has done so. (E-67)
 */
import { type DatabaseLocation, openCatalogAt } from "../../db/open.ts";
import { createBrowseApp } from "../browse/app.tsx";
import { currentIndex } from "../browse/search-index.ts";
import { pathStart } from "../http/query-text.ts";
import type { Log } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import type { KeptOpen } from "../search/kept-open.ts";
import { ALIVE_PATH, READER_HOST } from "./reader-process.ts";

type ReaderOptions = { socket: string; location: DatabaseLocation; index: KeptOpen; log: Log };

/** Serves on the socket until a signal stops it, and then completes the responses under way. */
export async function serveReader(machine: Machine, { socket, location, index, log }: ReaderOptions): Promise<void> {
  const { now } = machine;
  const openCatalog = () => openCatalogAt(location, now());
  const onFailure = (error: unknown) => log.failure(now(), error, null);
  const stopped = Promise.withResolvers<void>();
  machine.onStopSignal(stopped.resolve);

  const searchIndex = currentIndex(index.current, openCatalog, onFailure, now);
  const pages = createBrowseApp({ openCatalog, searchIndex, now, host: READER_HOST, hasJobs: true, onFailure });
  const server = Bun.serve({
    unix: socket,
    development: false,
    fetch: async (request) => {
      const path = request.url.slice(pathStart(request.url));
      if (path === ALIVE_PATH) return new Response(null);
      return pages.fetch(request);
    },
  });
  machine.printLine("listening");
  await stopped.promise;
  await server.stop();
}
