/**
 * Example requests and their responses, from requests.tsv: every row whose request is written out in full is sent. The tests beside this one
 * name the rows that need more, such as a cursor or a raw socket. `{L}` is `/v1/opportunities`, `{U}` a stored id, `{X}` one without a record, `{E}` a record without events.
 * The column "by" names what requires the response: S the API's specification, R an RFC, D a decision in docs/reference/contract.md.
 */
import { expect, test } from "bun:test";
import type { ProblemCode } from "../../src/http/problem.ts";
import { expectCommonHeaders, expectProblem } from "../support/problem.ts";
import { requestRows } from "../support/request-rows.ts";
import { sixtyApi, U, WITHOUT_EVENTS, X } from "../support/sixty.ts";

const api = await sixtyApi();

/** Method, path and headers of a request that is written out in full: no placeholder but an id, and nothing that only a raw socket can send. */
const WHOLE =
  /^(HEAD|POST|PUT|PATCH|DELETE|OPTIONS|GET) `?(\/[^`\s]*)`?(?: \+ ((?:`(?!Content-Length)[\w-]+: [^`<…]*`(?:, )?)+))?( \(no key\))?$/;

const PATHS: Record<string, string> = { "{L}": "/v1/opportunities", "{U}": U, "{X}": X, "{E}": WITHOUT_EVENTS };

const whole = requestRows().flatMap(({ number, request, expect: expected }) => {
  const [, method = "", path = "", headers = "", noKey] =
    WHOLE.exec(request.replaceAll(/\{[EUXL]\}/g, (name) => PATHS[name] ?? name)) ?? [];
  const [status = "", code] = expected.split(" ");
  const isWhole = method !== "" && !/[…<{]/.test(path) && /^\d+$/.test(status) && status !== "431";
  return isWhole ? [{ number, method, path, headers, key: noKey === undefined ? undefined : null, status: Number(status), code }] : [];
});

test("most rows are written out in full", () => {
  expect(whole.length).toBeGreaterThan(200);
});

test.each(whole)("$number: $method $path is $status $code", async ({ method, path, headers, key, status, code }) => {
  const sent = Object.fromEntries([...headers.matchAll(/`([\w-]+): ([^`]*)`/g)].map(([, name = "", value = ""]) => [name, value]));
  const response = await api.send(path, { method, headers: sent, ...(key === null && { key }) });
  if (code !== undefined && method !== "HEAD") await expectProblem(response, { code: code as ProblemCode, status });
  else expect(response.status).toBe(status);
  expectCommonHeaders(response);
});
