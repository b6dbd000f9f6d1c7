/** MCP on standard input and output. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../../db/reason.ts";
import { type Serving, serverFactory } from "./server.ts";
import { createStdioTransport, type Streams } from "./transport.ts";

/** Serves one client until its input ends, its output is gone, or `stop`. Requests that have arrived get their responses first. */
export async function serveMcp({ input, write, ...serving }: Omit<Serving, "run"> & Streams): Promise<void> {
  const { stop, log } = serving;
  if (stop.aborted) return; // While the data were opened.
  const transport = createStdioTransport({ input, write });
  serveStdio(serverFactory({ ...serving, run: transport.run }), { transport, onerror: (error) => log(messageOf(error)) });
  stop.addEventListener("abort", () => void transport.close());
  await transport.finished;
}
