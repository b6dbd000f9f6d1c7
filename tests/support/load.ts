/** Clients of a running program, for what happens to it while it is used. */
import { codeOf } from "../../db/reason.ts";
import type { Server } from "./binary.ts";
import { waitFor } from "./wait-for.ts";

export type Load = {
  answered: number;
  statuses: Set<number>;
  /** Why requests got no answer: a code each. */
  refusals: string[];
  stop: () => Promise<void>;
};

/** Clients that ask almost without a pause, until they are refused a connection or told to stop. */
export function load(server: Server, key: string, clients = 8): Load {
  const seen = { answered: 0, statuses: new Set<number>(), refusals: [] as string[] };
  let stopped = false;
  const loops = Array.from({ length: clients }, async () => {
    while (!stopped) {
      try {
        const response = await server.get("/opportunities?limit=5", key);
        await response.json(); // Whole, or it throws.
        seen.answered++;
        seen.statuses.add(response.status);
      } catch (error) {
        const code = codeOf(error) || String(error);
        seen.refusals.push(code);
        if (code === "ECONNREFUSED") return;
      }
      await Bun.sleep(2); // The machine is others', too.
    }
  });
  const stop = async () => {
    stopped = true;
    await Promise.all(loops);
  };
  return Object.assign(seen, { stop });
}

/** Waits until so many requests are answered from now on. */
export async function busy(under: Load, answers = 200): Promise<void> {
  const wanted = under.answered + answers;
  await waitFor("requests are answered", () => under.answered > wanted);
}
