/** The reader renders what takes longer than a request to the API, on a socket of this user. The front has checked host and key. (E-67) */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { catalogPerRequest, type DatabaseLocation, openWatchesIn } from "../../db/open.ts";
import { Failure } from "../../db/reason.ts";
import { createBrowseApp } from "../browse/app.tsx";
import { type IndexProgress, indexOfOthers, isProgress, progressInWords } from "../browse/index-being-built.tsx";
import { pathAndQuery } from "../http/query-text.ts";
import type { ToolData } from "../mcp/tools/tool.ts";
import type { Log } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { channelHosts } from "../watch/member-channel.ts";
import { ALIVE_PATH, MCP_PATH, READER_HOST } from "./reader-process.ts";

type ReaderOptions = {
  socket: string;
  location: DatabaseLocation;
  searchData: string;
  log: Log;
  hasSignIn: boolean;
  watchDirectory: string | undefined;
};

/** Bun's types lack this option for sockets. Without it, Bun aborts a response that takes ten seconds. */
const NEVER_IDLE: object = { idleTimeout: 0 };

/** Serves on the socket until a signal stops it, and then completes the current responses. */
export async function serveReader(
  machine: Machine,
  { socket, location, searchData, log, hasSignIn, watchDirectory }: ReaderOptions,
): Promise<void> {
  const { now } = machine;
  const openEach = catalogPerRequest(location, now);
  const openCatalog = async (signal?: AbortSignal) => takingTurns(await openEach(), signal);
  const onFailure = (error: unknown) => log.failure(now(), error, null);
  const stopped = Promise.withResolvers<void>();
  machine.onStopSignal(stopped.resolve);

  const searchIndex = indexOfOthers(searchData, openCatalog);
  const openWatches = watchDirectory === undefined ? undefined : async () => openWatchesIn(watchDirectory, now(), { mode: "read" });
  const pages = createBrowseApp({
    openCatalog,
    searchIndex,
    now,
    host: READER_HOST,
    onFailure,
    up: { hasSignIn, openWatches, hosts: channelHosts(machine) },
  });
  let loading: ReturnType<typeof loadMcp> | undefined;
  const mcp = () => {
    loading ??= loadMcp({ openCatalog, searchIndex, now, onFailure });
    return loading;
  };
  const server = Bun.serve({
    unix: socket,
    ...NEVER_IDLE,
    development: false,
    fetch: async (request) => {
      const path = pathAndQuery(request.url);
      if (path === ALIVE_PATH) return new Response(null);
      if (path === MCP_PATH) return (await mcp())(request);
      return pages.fetch(request);
    },
  });
  machine.printLine("listening");
  await stopped.promise;
  await server.stop();
}

type McpData = {
  openCatalog: () => Promise<CatalogDb>;
  searchIndex: () => Promise<SearchFile | IndexProgress>;
  now: () => EpochMs;
  onFailure: (error: unknown) => void;
};

/** Returns the handler for agents. Its library takes 25 MB, so it is loaded by their first message. */
async function loadMcp({ openCatalog, searchIndex, now, onFailure }: McpData): Promise<(request: Request) => Promise<Response>> {
  const { createMcpResponder } = await import("../mcp/http.ts");
  const withCatalog = async <T>(work: (catalog: CatalogDb) => Promise<T>): Promise<T> => {
    await using catalog = await openCatalog().catch((error: unknown) => {
      onFailure(error);
      throw new Failure("Cannot read the data at the moment; try again later"); // The reason may contain a path of this machine.
    });
    return await work(catalog);
  };
  const withIndex: ToolData["withIndex"] = async (_catalog, _call, work) => {
    const index = await searchIndex();
    if (isProgress(index)) throw new Failure(`${progressInWords(index)}; try again in a minute`);
    return work(index);
  };
  return createMcpResponder({ data: { place: "the data of a server", withCatalog, withIndex }, now, onFailure });
}

const HELD_MAX_MS = 15;

type Clock = () => number;

let begun = 0;

async function letOthersGo(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  if (clock() - begun < HELD_MAX_MS) return;
  await nextTurn();
  begun = clock();
  signal?.throwIfAborted();
}

/**
 * The catalog, whose requests take turns on their thread: one that held it for a while yields before its next statement. Throws once the signal is
 * aborted. Its connection must be of one request: transactions stay open meanwhile. (E-170)
 */
export function takingTurns(catalog: CatalogDb, signal?: AbortSignal, clock: Clock = () => performance.now()): CatalogDb {
  return {
    ...catalog,
    ...statementsInTurn(catalog, clock, signal),
    readTransaction: (read) => catalog.readTransaction((sql) => read({ ...sql, ...statementsInTurn(sql, clock, signal) })),
  };
}

function statementsInTurn(sql: CatalogSql, clock: Clock, signal: AbortSignal | undefined): Pick<CatalogSql, "get" | "all" | "each"> {
  return {
    get: async (...statement) => {
      await letOthersGo(clock, signal);
      return sql.get(...statement);
    },
    all: async (...statement) => {
      await letOthersGo(clock, signal);
      return sql.all(...statement);
    },
    each: async (query, values, take) =>
      sql.each(query, values, async (rows) => {
        await letOthersGo(clock, signal);
        await take(rows);
      }),
  };
}
