/** The description passes the rules of other programs. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { oas } from "@stoplight/spectral-rulesets";
import { openapiDocument } from "../../src/http/openapi.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const text = JSON.stringify(openapiDocument("https://fundfeed.test/v1"), null, 2);

/** OWASP's rules that contradict the contract, or that need limits which the upstreams do not have. */
const switchedOff = {
  "owasp:api8:2023-define-cors-origin": "Keys do not belong in browsers: no Access-Control header is ever sent (D-4).",
  "owasp:api2:2023-read-restricted": "/meta, /openapi.json and /docs need no key.",
  "owasp:api8:2023-define-error-responses-401": "For the same paths: they never return 401. All others describe it.",
  "owasp:api4:2023-rate-limit-responses-429": "For the same paths: they are not counted. All others describe it.",
  "owasp:api8:2023-define-error-validation": "For the same paths: they ignore parameters (D-6).",
  "owasp:api4:2023-rate-limit": "Only a response to a valid key has RateLimit headers (D-19).",
  "owasp:api4:2023-string-limit": "Texts come from the upstreams. The head of a request is limited to 16 KiB.",
  "owasp:api4:2023-string-restricted": "Free text has no format.",
  "owasp:api4:2023-array-limit": "Arrays come from the upstreams. `limit` limits a page.",
  "owasp:api4:2023-integer-limit": "`limit` limits `count`.",
};

describe("the description", () => {
  test("passes Redocly's lint without a warning", async () => {
    const directory = aDirectory();
    await Bun.write(join(directory, "openapi.json"), text);
    const redocly = join(import.meta.dir, "../../node_modules/@redocly/cli/bin/cli.js");
    const lint = Bun.spawn([process.execPath, redocly, "lint", "openapi.json", "--format=json"], {
      cwd: directory,
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      stderr: "pipe",
    });
    const report = JSON.parse(await lint.stdout.text());
    expect(report.problems).toEqual([]);
    expect(report.totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
    expect(await lint.exited).toBe(0);
  });

  test("passes Spectral's and OWASP's rules, except for those switched off with a reason", async () => {
    const spectral = new Spectral();
    const off = Object.fromEntries(Object.keys(switchedOff).map((rule) => [rule, "off" as const]));
    spectral.setRuleset({ extends: [oas, [owasp, "all"]], rules: off } as RulesetDefinition);
    const findings = await spectral.run(JSON.parse(text));
    expect(findings.map(({ code, message, path }) => `${code}: ${message} (${path.join(".")})`)).toEqual([]);
  });
});
