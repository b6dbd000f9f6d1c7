import { expect, test } from "bun:test";
import { sourceCodes } from "../../src/cli/command.ts";
import { fields } from "../../src/filter/filter.ts";
import { listParameter } from "../../src/http/parameter-kinds.ts";
import { sourceCode } from "../../src/mcp/arguments.ts";
import { upperCaseCode } from "../../src/text/source-code.ts";

test("upperCaseCode() changes only ASCII letters, so that no code becomes another one", () => {
  expect(["own_1-a", "ß", "ı", "ﬁ"].map(upperCaseCode)).toEqual(["OWN_1-A", "ß", "ı", "ﬁ"]);
});

test.each<[door: string, read: (code: string) => unknown]>([
  ["the command line", (code) => sourceCodes(code)],
  ["the API", (code) => listParameter("", { upperCase: true }).read([code])],
  ["the filters of searches", (code) => fields.source.read([code])],
  ["the MCP tools", (code) => sourceCode.read(code, 0)],
])("%s does not take ß for SS", (_, read) => {
  expect(JSON.stringify(read("ßa"))).toContain("ßA");
});
