/** MCP on standard input and output. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../../db/reason.ts";
import { type Serving, serverFactory } from "./server.ts";
import { createStdioTransport, type Streams } from "./transport.ts";

type StdioServing = Streams &
  Pick<Serving, "data" | "now"> & {
    log: (message: string) => void;
    stop: AbortSignal;
  };

/** Serves one client until its input ends, its output is gone, or `stop`. Requests that have arrived get their responses first. */
export async function serveMcp({ data, now, log, stop, ...streams }: StdioServing): Promise<void> {
  if (stop.aborted) return; // While the data were opened.
  const transport = createStdioTransport(streams);
  const newServer = serverFactory({ data, now, onFailure: (_, sentence) => log(sentence), stop, run: transport.run });
  const onerror = (error: Error) => log(messageOf(error));
  serveStdio(() => Object.assign(newServer(), { onerror }), { transport, onerror });
  stop.addEventListener("abort", () => void transport.close());
  await transport.finished;
}
