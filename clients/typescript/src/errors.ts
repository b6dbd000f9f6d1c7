/** What the client throws. No message contains the key. */
import type { ProblemCode, ProblemDetails } from "./schemas.ts";

/** Any failure of a request. An aborted `signal` is none: its reason is thrown as it is. */
export class FundfeedError extends Error {
  override readonly name: string = "FundfeedError";
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isTemporary = isTemporary;
  }
}

/** The server returned an error: a problem (RFC 9457), or what stands before the server did. */
export class ProblemError extends FundfeedError {
  override readonly name = "ProblemError";
  readonly status: number;
  /** The kind of problem, for programs. `undefined` if the response is no problem; a newer server may have further codes. */
  readonly code: ProblemCode | (string & Record<never, never>) | undefined;
  /** The response as far as it has the members of a problem. */
  readonly problem: Partial<ProblemDetails>;
  /** How long the server wants the client to wait, if it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, problem, retryAfterMs }: Pick<ProblemError, "status" | "problem" | "retryAfterMs">) {
    super(message, status >= 500 || status === 429 || status === 408);
    this.status = status;
    this.code = problem.code;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** There was no response, or it broke off. `cause` is what `fetch` threw, if it threw. */
export class ConnectionError extends FundfeedError {
  override readonly name = "ConnectionError";
}

/** The response is not one of this API: a redirect, no JSON, too long, or other members. */
export class ResponseError extends FundfeedError {
  override readonly name: string = "ResponseError";
}

/** The response has more bytes than are read. */
export class TooLongError extends ResponseError {}
