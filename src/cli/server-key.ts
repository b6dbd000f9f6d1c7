/** The key for a server, and whether it may be sent there. */
import { Failure } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";
import { readText } from "../runtime/read-text.ts";

/** The API key from a file, or else from FUNDFEED_KEY. */
export function readKey({ env }: Machine, file: string | undefined): string {
  const key = (file === undefined ? (env.FUNDFEED_KEY ?? "") : readText(file)).trim();
  const from = file ?? "FUNDFEED_KEY";
  if (key === "") throw new Failure(`Cannot mirror: put the API key into ${from}`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Failure(`Cannot mirror: ${from} does not contain an API key`);
  return key;
}

/** Whether nobody on the network can read the key: over TLS, or on this machine. */
export function isPrivate(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
