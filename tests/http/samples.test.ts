/** Runs every sample of the guide and the description that a shell or Bun can run, for the demo's records. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { guideText } from "../../src/http/docs/guide.ts";
import { descriptionFiles } from "../../src/http/docs.ts";
import { type Listener, listen } from "../../src/http/listen.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import type { TestApi } from "../support/api.ts";
import { demoApi } from "../support/demo.ts";

const BASE = "http://127.0.0.1:1/v1"; // Replaced by the server's address, whose port is not known yet.
const inGuide = guideText(BASE)
  .matchAll(/```sh\n([\s\S]*?)\n```/g)
  .map(([, source = ""]) => source)
  .filter((source) => source.startsWith("curl"))
  .toArray();
const samples = Object.values(openapiDocument(BASE).paths).flatMap(({ get }) =>
  get["x-codeSamples"].map((sample) => ({ ...sample, operationId: get.operationId })),
);

describe("samples", () => {
  let api: TestApi;
  let server: Listener;
  let base: string;

  beforeAll(async () => {
    server = await listen({ fetch: (request) => api.fetch(request) }, { hostname: "127.0.0.1", port: 0 });
    base = `http://127.0.0.1:${server.port}/v1`;
    api = await demoApi({ files: descriptionFiles("https://api.example.com/v1")() });
  });

  afterAll(() => server.stop(true));

  async function run(command: string[], source: string): Promise<{ output: string; exitCode: number }> {
    const child = Bun.spawn([...command, source.replaceAll(BASE, base)], {
      env: { PATH: process.env.PATH ?? "", FUNDFEED_KEY: api.key },
      stderr: "inherit",
    });
    return { output: await child.stdout.text(), exitCode: await child.exited };
  }

  test.each(inGuide)("of the guide: %s", async (source) => {
    const { output, exitCode } = await run(["sh", "-c"], source);
    expect(exitCode).toBe(0);
    expect(output).toMatch(source.includes("If-None-Match") ? /^HTTP\/1\.1 304 / : /^\{"data":/);
  });

  test.each(samples.filter(({ lang }) => lang === "Shell").map(({ operationId, source }) => [operationId, source] as const))(
    "of %s: curl",
    async (_, source) => {
      const { output, exitCode } = await run(["sh", "-c"], source);
      expect(exitCode).toBe(0);
      expect(output).toMatch(/^(\{"data":|\{"openapi":|<!doctype html>)/);
    },
  );

  test.each(samples.filter(({ lang }) => lang === "TypeScript").map(({ operationId, source }) => [operationId, source] as const))(
    "of %s: TypeScript",
    async (_, source) => {
      const { output, exitCode } = await run([process.execPath, "-e"], source);
      expect(exitCode).toBe(0);
      expect(output).not.toBeEmpty();
    },
  );
});
