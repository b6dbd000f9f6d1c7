/** Real answers of the demo's sample, by operation and by problem code; a test makes sure that the service still gives them. */
import type { ProblemCode } from "../problem.ts";
import examples from "./examples.json" with { type: "json" };

/** The base address in the examples. The document replaces it by the server's. */
export const EXAMPLE_BASE_URL = "https://api.example.com/v1";

/** The record of `getOpportunity`. */
export const exampleRecord = examples.operations.getOpportunity.data;

/** The body of a 200, where it is one of ours. */
export function operationExample(operationId: string): unknown {
  return (examples.operations as Readonly<Record<string, unknown>>)[operationId];
}

/** The body of a problem. */
export function problemExample(code: ProblemCode): unknown {
  return examples.problems[code];
}
