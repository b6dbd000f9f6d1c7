/** Requests that do not meet the protocol. The library refuses them too, but with the report of another library, and some as its own failure. */
import { specTypeSchemas } from "@modelcontextprotocol/server";
import { objectOf } from "../text/json-value.ts";

const requests = {
  initialize: specTypeSchemas.InitializeRequest,
  "tools/list": specTypeSchemas.ListToolsRequest,
  "tools/call": specTypeSchemas.CallToolRequest,
  "resources/list": specTypeSchemas.ListResourcesRequest,
  "resources/templates/list": specTypeSchemas.ListResourceTemplatesRequest,
  "resources/read": specTypeSchemas.ReadResourceRequest,
};

/** A sentence that names the member of a request that is missing or wrong. Undefined if there is none, and for other messages. */
export function faultOfRequest(message: unknown): string | undefined {
  const { id, method } = objectOf(message);
  const [, schema] = (id !== undefined && Object.entries(requests).find(([name]) => name === method)) || [];
  const [issue] = schema?.["~standard"].validate(message).issues ?? [];
  return issue && `Cannot read the request: "${issue.path?.join(".")}" is missing or has the wrong type`;
}

/** The id of a message that is not valid otherwise, if it has one. */
export function idOfMessage(message: unknown): string | number | undefined {
  const { id } = objectOf(message);
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as string | number) : undefined;
}
