/** Real responses to requests for the demo's sample data, by operation and by problem code. A test compares them with the service. */
import type { ProblemCode } from "../problem.ts";
import examples from "./examples.json" with { type: "json" };

export const EXAMPLE_BASE_URL = "https://api.example.com/v1";

export const exampleRecord = examples.operations.getOpportunity.data;

export const operationExamples: Readonly<Record<string, unknown>> = examples.operations;

export const problemExamples: Readonly<Record<ProblemCode, unknown>> = examples.problems;
