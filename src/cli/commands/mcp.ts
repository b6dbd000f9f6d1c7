/** `fundfeed mcp`: serve the data to AI agents on standard input and output. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { locationName } from "../../../db/open.ts";
import type { ToolData } from "../../mcp/tools/tool.ts";
import { keepOpen } from "../../search/kept-open.ts";
import type { CliCommand } from "../command.ts";
import { addSearchOptions, openIndex, type SearchOptions, useIndex } from "../search-options.ts";
import { stopSignal } from "../stopping.ts";

export function mcpCommand(mcp: CliCommand): CliCommand {
  mcp
    .addHelpText("after", "\nAn MCP client starts this command: fundfeed help mcp has its configuration.")
    .examples("fundfeed mcp --data /var/lib/fundfeed");
  return addSearchOptions(mcp).action(async (options: SearchOptions) => {
    const { machine } = mcp;
    if (machine.terminal() !== undefined)
      machine.printError("This is an MCP server: it reads JSON-RPC from standard input. Ctrl-D ends it");
    const stop = stopSignal(machine);
    await mcp.withCatalog(async () => undefined); // So that a client logs why, instead of a model failing call by call.
    const { serveMcp } = await import("../../mcp/stdio.ts");
    const log = (message: string) => machine.writeLog(`${message}\n`);
    using kept = keepOpen(() => openIndex(options, log));
    const data: ToolData = {
      place: locationName(options),
      withCatalog: (work) => mcp.withCatalog(work),
      withIndex: (catalog, { signal, progress, now }, work) => {
        const index = kept.current();
        const report = async (done: number, total: number) => {
          progress(done, total, "indexing");
          await nextTurn(); // SQLite gives no turn to other work: cancellations, signals, and the progress that is to be written.
          signal.throwIfAborted(); // What was indexed so far is kept.
        };
        return useIndex(index, catalog, report, now, () => work(index));
      },
    };
    await serveMcp({ data, now: machine.now, log, stop, input: machine.readInput(), write: machine.writeOutput });
  });
}
