/** Real responses over the demo's sample data, by operation and by problem code. A test checks that the service still returns them. */
import type { ProblemCode } from "../problem.ts";
import examples from "./examples.json" with { type: "json" };

/** The base address in the examples. The document has the server's in its place. */
export const EXAMPLE_BASE_URL = "https://api.example.com/v1";

/** The record of `getOpportunity`. */
export const exampleRecord = examples.operations.getOpportunity.data;

/** The body of a 200, if there is an example of it. */
export function operationExample(operationId: string): unknown {
  return (examples.operations as Readonly<Record<string, unknown>>)[operationId];
}

/** The body of a problem. */
export function problemExample(code: ProblemCode): unknown {
  return examples.problems[code];
}
