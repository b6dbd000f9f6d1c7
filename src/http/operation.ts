/** Elysia's `detail` of a route: an OpenAPI operation with all its responses. The route declares its parameters separately. */
import type { TSchema } from "@sinclair/typebox";
import { operationExamples, problemExamples } from "./docs/examples.ts";
import { type ProblemCode, ProblemDetails, problems } from "./problem.ts";
import { type HeaderName, problemHeaders, successHeaders } from "./response-headers.ts";
import { describeSchema, type Members } from "./schemas.ts";

const commonProblems = ["method_not_allowed", "internal_error"] as const satisfies readonly ProblemCode[];

const keyProblems = [
  "authentication_required",
  "insufficient_entitlement",
  "rate_limit_exceeded",
  "service_unavailable",
] as const satisfies readonly ProblemCode[];

type Operation = {
  operationId: string;
  summary: string;
  description: string;
  security?: [];
  response: TSchema | "application/json" | "text/html";
  /** Headers of the 200 and the 304, in addition to those of every response. An operation with an ETag also has a 304. */
  headers?: readonly HeaderName[];
  problems?: readonly ProblemCode[];
};

export function operation({ response, headers = [], problems: own = [], ...detail }: Operation) {
  const needsKey = detail.security === undefined;
  const sent = successHeaders({ needsKey, further: headers });
  const codes = [...own, ...(needsKey ? keyProblems : []), ...commonProblems];
  return {
    ...detail,
    responses: {
      200: {
        description: `${detail.summary}.`,
        headers: { ...sent, ...successHeaders({ needsKey, further: ["Content-Encoding"] }) },
        content: describeContent(response, operationExamples[detail.operationId]),
      },
      ...(headers.includes("ETag") && {
        304: { description: "Unchanged: you have the current version. The body is empty.", headers: sent },
      }),
      ...describeProblems(codes),
    },
  };
}

function describeContent(response: Operation["response"], example: unknown) {
  if (response === "text/html") return { "text/html": { schema: { type: "string" as const, contentMediaType: "text/html" } } };
  const schema = response === "application/json" ? { type: "object" as const, additionalProperties: true } : describeSchema(response);
  return { "application/json": { schema, ...(example !== undefined && { example }) } };
}

function describeProblems(codes: readonly ProblemCode[]) {
  const byStatus = Map.groupBy(codes, (code) => problems[code].status);
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, describeStatus(group)]));
}

function describeStatus(codes: readonly ProblemCode[]) {
  const [code] = codes;
  const isShared = codes.length === 1 && code !== undefined && sharedProblems.includes(code);
  return isShared ? { $ref: `#/components/responses/${responseName(code)}` } : describeProblemResponse(codes);
}

/** Problems that have a status of their own and are the same in every operation. */
const sharedProblems: readonly ProblemCode[] = [...keyProblems, ...commonProblems, "not_found"];

export function describeSharedProblems(): Members {
  return Object.fromEntries(sharedProblems.map((code) => [responseName(code), describeProblemResponse([code])]));
}

function responseName(code: ProblemCode): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function describeProblemResponse(codes: readonly ProblemCode[]) {
  const lines = codes.map((code) => `\`${code}\`: ${problems[code].description}`);
  const examples = codes.map((code) => [code, { summary: problems[code].title, value: problemExamples[code] }]);
  return {
    description: lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join("\n"),
    headers: problemHeaders(codes),
    content: { "application/problem+json": { schema: describeSchema(ProblemDetails), examples: Object.fromEntries(examples) } },
  };
}
