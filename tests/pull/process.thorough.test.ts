import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { realJson } from "../support/real-data.ts";
import { play } from "./upstream.ts";

afterAll(dropScratch);

const MAIN = join(import.meta.dir, "../../src/main.ts");
const SOLICITATIONS = realJson<object[]>("sbir-gov/solicitations-20250914.json");

test.each(["SIGTERM", "SIGINT"] as const)("pull --every waits for its next run as a process, and ends with 0 at %s", async (signal) => {
  const upstream = play(({ query }) => Response.json(query.get("start") === "0" ? SOLICITATIONS : []));
  const data = aDirectory();
  const command = [process.execPath, MAIN, "pull", "sbir-gov", "--every", "1h", "--data", data, "--from", upstream.base, "--allow-http"];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });

  const { value } = await child.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toMatch(/^\S+ sbir-gov: 15 read: 11 added, .*\n$/);
  child.kill(signal);

  expect(await child.exited).toBe(0);
  expect(await child.stderr.text()).toBe("");
  expect(readdirSync(data).filter((name) => name.startsWith(".pull"))).toEqual([]);
});
