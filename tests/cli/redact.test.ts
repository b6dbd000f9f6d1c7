import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

test("redact --dry-run prints what would be erased, and erases nothing", async () => {
  const data = aDirectory();
  const contacts = [{ name: "Ann", email: "ann@example.gov" }];
  const record = (opportunity_id: string, more: object) => ({ source: { code: "OWN", opportunity_id }, title: "Title", ...more });
  for (const records of [[record("1", { contacts }), record("2", {})], [record("1", { contacts: [...contacts, { name: "Bea" }] })]])
    await fundfeed(["import", "records", aFile(records), "--data", data]);
  const rejects = join(data, "mine.rejects.ndjson");
  writeFileSync(rejects, '{"line":1,"reason":"r","record":{"contacts":[{"name":"Ann"}]}}\n');
  writeFileSync(join(data, "other.rejects.ndjson"), '{"line":1,"reason":"r","record":null}\n');
  const bytes = () => readdirSync(data).map((name) => [name, readFileSync(join(data, name)).toHex()]);
  const before = bytes();

  expect(await fundfeed(["redact", "--dry-run", "--data", data])).toEqual({
    code: 0,
    out: "Contacts would be erased from 1 record and 1 event\n",
    err: `${rejects} would keep the line and reason of each rejected record, but not the record\n`,
  });
  expect(JSON.parse((await fundfeed(["redact", "--dry-run", "--json", "--data", data])).out)).toEqual({ records: 1, events: 1 });
  expect((await fundfeed(["redact", "--dry-run", "--source", "OWM", "--data", data])).err).toStartWith("Cannot redact source OWM: ");
  expect(bytes()).toEqual(before);

  expect((await fundfeed(["redact", "--data", data])).out).toBe("Contacts erased from 1 record and 1 event\n");
  expect(readFileSync(rejects, "utf8")).toBe('{"line":1,"reason":"r","record":null}\n');
});
