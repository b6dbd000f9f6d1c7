/** `fundfeed mcp`: serve the data to AI agents on standard input and output. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { locationName } from "../../../db/open.ts";
import type { LocalData } from "../../mcp/local.ts";
import type { ToolReader } from "../../mcp/reader.ts";
import { randomFraction } from "../../runtime/machine.ts";
import { sleep } from "../../runtime/run-every.ts";
import { keepOpen } from "../../search/kept-open.ts";
import { apiBaseUrl } from "../arguments.ts";
import type { Cli, CliCommand } from "../command.ts";
import { withCatalog } from "../databases.ts";
import { addSearchOptions, openIndex, type SearchOptions, useIndex } from "../search-options.ts";
import { isPrivate, readKey } from "../server-key.ts";
import { stopSignal } from "../stopping.ts";

type McpOptions = SearchOptions & { server?: string; keyFile?: string; allowHttp?: true };

/** A request to a server may take so long. Clients wait for about a minute. */
const TIMEOUT_MS = 20_000;

export function mcpCommand(mcp: CliCommand, cli: Cli): CliCommand {
  mcp
    .option("--server <url>", "read from a server through its API instead; base URL ending in /v1", apiBaseUrl)
    .option("--key-file <file>", "read the server's API key from this file instead of from FUNDFEED_KEY")
    .option("--allow-http", "allow sending the key to another machine without TLS")
    .addHelpText("after", "\nAn MCP client starts this command. docs/mcp.md has lines for its configuration.")
    .examples("fundfeed mcp --data /var/lib/fundfeed", "fundfeed mcp --server https://api.example.org/v1 --key-file key.txt");
  return addSearchOptions(mcp).action(async (options: McpOptions) => {
    requireOnePlace(mcp, options);
    const { machine } = cli;
    if (machine.terminal() !== undefined)
      machine.printError("This is an MCP server: it reads JSON-RPC from standard input. Ctrl-D ends it");
    const stop = stopSignal(machine);
    const reader = await openReader(cli, options);
    try {
      const { serveMcp } = await import("../../mcp/server.ts");
      const log = (message: string) => machine.writeLog(`${message}\n`);
      await serveMcp({ reader, now: machine.now, log, stop, input: machine.readInput(), write: machine.writeOutput });
    } finally {
      await reader.close();
    }
  });
}

function requireOnePlace(mcp: CliCommand, { server, allowHttp }: McpOptions): void {
  const given = ["data", "database", "searchData"].filter((name) => mcp.getOptionValueSource(name) === "cli");
  if (server !== undefined && given.length > 0) mcp.error("error: --server excludes --data, --database and --search-data");
  if (server !== undefined && !isPrivate(server) && !allowHttp)
    mcp.error(`error: ${server} is not https; use --allow-http to send the key without TLS`);
}

async function openReader(cli: Cli, options: McpOptions): Promise<ToolReader> {
  const { machine } = cli;
  if (options.server !== undefined) {
    const { remoteReader } = await import("../../mcp/remote.ts");
    return remoteReader({
      baseUrl: options.server,
      key: readKey(machine, options.keyFile, "read from the server"),
      fetch: (request) => fetch(request, { verbose: false }), // BUN_CONFIG_VERBOSE_FETCH would print the key.
      sleep,
      random: () => randomFraction(machine),
      timeoutMs: TIMEOUT_MS,
    });
  }
  await withCatalog(cli, options, async () => undefined); // So that a client logs why, instead of a model failing call by call.
  const { localReader } = await import("../../mcp/local.ts");
  return localReader(databasesOf(cli, options));
}

function databasesOf(cli: Cli, options: SearchOptions): LocalData {
  const kept = keepOpen(() => openIndex(options, (message) => cli.machine.writeLog(`${message}\n`)));
  return {
    place: locationName(options),
    withCatalog: (work) => withCatalog(cli, options, work),
    withIndex: (catalog, { signal, progress, now }, work) => {
      const index = kept.current();
      const report = async (done: number, total: number) => {
        progress(done, total, "indexing");
        await nextTurn(); // SQLite gives no turn to other work: cancellations, signals, and the progress that is to be written.
        signal.throwIfAborted(); // What was indexed so far is kept.
      };
      return useIndex(index, catalog, report, () => work(index), now);
    },
    close: async () => kept.close(),
  };
}
