/** What all responses, and all problem documents, have in common. */
import { expect } from "bun:test";
import { type ProblemCode, problems } from "../../src/http/problem.ts";

/** Checks every member and header of a problem response, and returns its document. `fields` are the parameters that it must name, in any order. */
export async function expectProblem(
  response: Response,
  { code, fields, status = problems[code].status }: { code: ProblemCode; fields?: readonly string[]; status?: number },
): Promise<Record<string, unknown>> {
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status, text });
  const body = JSON.parse(text);
  expect(body).toEqual({
    type: `https://api.example.com/v1/docs#problem-${code}`,
    title: problems[code].title,
    status,
    code,
    detail: expect.any(String),
    instance: expect.any(String),
    request_id: response.headers.get("x-request-id"),
    ...(body.errors !== undefined && { errors: expect.any(Array) }),
  });
  const hasErrors = code === "invalid_parameter" || code === "unsupported_parameter";
  expect(body.errors !== undefined).toBe(hasErrors);
  if (fields !== undefined) expect(body.errors.map(({ field }: { field: string }) => field).sort()).toEqual([...fields].sort());
  for (const { reason } of body.errors ?? []) expect(reason).toMatch(/^must /);
  expect(new URL(body.instance, "http://localhost").href).toStartWith("http");
  expect(body.instance).toMatch(/^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/);
  expectCommonHeaders(response);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  if (status === 401) expect(response.headers.get("www-authenticate")).toStartWith('Bearer realm="fundfeed"');
  if (status === 405) expect(response.headers.get("allow")).toBe("GET, OPTIONS");
  if (status === 429 || status === 503) expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  return body;
}

/** Checks the headers that every response must have and those that none may have (D-19, D-20). */
export function expectCommonHeaders({ headers }: Response): void {
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
  expect(headers.get("api-version")).toBe("1");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
}
