/** MCP over Streamable HTTP, without sessions. Keys, hosts and sizes were checked before. (E-67) */
import { createMcpHandler, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Failure } from "../../db/reason.ts";
import { objectOf, parseJson } from "../text/json-value.ts";
import { BadValue } from "../text/read-value.ts";
import { faultOfRequest, idOfMessage } from "./requests.ts";
import { type Serving, serverFactory } from "./server.ts";

/** A sign of life for whoever closes idle connections, as the listener does. */
const KEEP_ALIVE_MS = 5000;

type HttpServing = Pick<Serving, "data" | "now"> & { onFailure: (error: unknown) => void };

/** Returns what responds to the messages that are posted. */
export function createMcpResponder({ onFailure, ...serving }: HttpServing): (request: Request) => Promise<Response> {
  const ofServer = (error: unknown) => error instanceof Failure || error instanceof BadValue || onFailure(error);
  const handler = createMcpHandler(serverFactory({ ...serving, onFailure: ofServer }), { keepAliveMs: KEEP_ALIVE_MS });
  return async (request) => {
    const message = parseJson(await request.clone().text());
    const isOfOlder = objectOf(message).method === "initialize"; // The newer revision has no such method, wrong or right.
    const fault = isOfOlder ? undefined : faultOfRequest(message);
    if (fault === undefined) return handler.fetch(request);
    return Response.json({ jsonrpc: "2.0", id: idOfMessage(message), error: { code: ProtocolErrorCode.InvalidParams, message: fault } });
  };
}
