/** Clients that keep a running server busy while a test does something to it. */
import { codeOf } from "../../db/reason.ts";
import type { Server } from "./binary.ts";
import { waitFor } from "./wait-for.ts";

export type Load = {
  /** How many responses have arrived. */
  responses: number;
  statuses: Set<number>;
  /** An error code for each request without a response. */
  errors: string[];
  /** Lets the requests under way finish and sends no more. */
  stop: () => Promise<void>;
};

/** Starts clients that send one request after another. A client ends when its connection is refused; the others go on until `stop()`. */
export function startLoad(server: Server, key: string, clients = 8): Load {
  const counts = { responses: 0, statuses: new Set<number>(), errors: [] as string[] };
  let stopped = false;
  const loops = Array.from({ length: clients }, async () => {
    while (!stopped) {
      try {
        const response = await server.get("/opportunities?limit=5", key);
        await response.json(); // Throws if the body is incomplete.
        counts.responses++;
        counts.statuses.add(response.status);
      } catch (error) {
        const code = codeOf(error) || String(error);
        counts.errors.push(code);
        if (code === "ECONNREFUSED") return;
      }
      await Bun.sleep(10); // Leaves CPU time to the other tests.
    }
  });
  const stop = async () => {
    stopped = true;
    await Promise.all(loops);
  };
  return Object.assign(counts, { stop });
}

/** Waits until `count` more responses have arrived. Throws after a minute. */
export async function moreResponses(load: Load, count = 200): Promise<void> {
  const wanted = load.responses + count;
  await waitFor(`${count} more responses`, () => load.responses > wanted);
}
