/**
 * Example requests and their responses, from requests.tsv: every row whose request is written out in full is sent over a socket. The tests beside this one
 * name the rows that need more, such as a cursor. `{L}` is `/v1/opportunities`, `{U}` a stored id, `{X}` one without a record, `{E}` a record without events.
 * After the code of a problem come the parameters that it names; after 200, how many records are returned.
 * The column "by" names what requires the response: S the API's specification, R an RFC, D a decision in docs/reference/contract.md.
 */
import { afterAll, expect, test } from "bun:test";
import type { ProblemCode } from "../../src/http/problem.ts";
import { expectCommonHeaders, expectProblem } from "../support/problem.ts";
import { rawServer, sendRaw } from "../support/raw.ts";
import { requestRows } from "../support/request-rows.ts";
import { sixtyApi, U, WITHOUT_EVENTS, X } from "../support/sixty.ts";

const api = await sixtyApi();
const server = await rawServer(api);
afterAll(() => server.stop());

/** Method, target and headers of a request that is written out in full: no placeholder but an id, and no body. */
const WHOLE = /^([A-Z]+) `?(\/[^`\s]*|a:443)`?(?: \+ ((?:`(?!Content-Length)[\w-]+: [^`<…]*`(?:, )?)+))?( \(no key\))?$/;

const PATHS: Record<string, string> = { "{L}": "/v1/opportunities", "{U}": U, "{X}": X, "{E}": WITHOUT_EVENTS };

const whole = requestRows().flatMap(({ number, request, expect: expected }) => {
  const [, method = "", target = "", headers = "", noKey] =
    WHOLE.exec(request.replaceAll(/\{[EUXL]\}/g, (name) => PATHS[name] ?? name)) ?? [];
  const [status = "", code, more] = expected.split(" ");
  const isWhole = method !== "" && !/[…<{]/.test(target) && /^\d+$/.test(status) && status !== "431";
  const sent = [...headers.matchAll(/`([\w-]+: [^`]*)`/g)].map(([, line = ""]) => line);
  if (noKey === undefined && !headers.includes("Authorization")) sent.push(`Authorization: Bearer ${api.key}`);
  return isWhole ? [{ number, method, target, sent, status: Number(status), code, more }] : [];
});

test("most rows are written out in full", () => {
  expect(whole.length).toBeGreaterThan(230);
});

test.each(whole)("$number: $method $target is $status $code", async ({ method, target, sent, status, code, more }) => {
  const response = await sendRaw(server.port, [`${method} ${target} HTTP/1.1`, "Host: localhost", "Connection: close", ...sent]);
  if (response === undefined) throw new Error("No response");
  expectCommonHeaders(response);
  if (status >= 400 && method !== "HEAD") {
    const { instance } = await expectProblem(response, { code: code as ProblemCode, status, ...(more && { fields: more.split(",") }) });
    const [path = ""] = target.split("?");
    if (/^[\w/]*$/.test(path)) expect(instance).toBe(path);
    return;
  }
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status, text });
  if (status === 204) expect([text, response.headers.get("allow")]).toEqual(["", "GET, OPTIONS"]);
  if (more === "records") {
    const { data, meta } = JSON.parse(text);
    expect([data.length, meta.count]).toEqual([Number(code), Number(code)]);
  }
});
