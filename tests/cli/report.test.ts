/** What `report` prints for somebody who helps: with secrets and personal data planted everywhere, none of them is in it. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { anOpportunity } from "../support/records.ts";

afterAll(dropScratch);

const SECRET = "s3cr3tPlantedSomewhere";

test("has versions, sizes, imports and errors, and nothing that was planted", async () => {
  const data = join(aDirectory(), `home-of-${SECRET}`);
  mkdirSync(data);
  const run = (...args: string[]) =>
    fundfeed([...args, "--data", data], { FUNDFEED_SAM_GOV_KEY: SECRET, FUNDFEED_SMTP_URL: `smtp://me:${SECRET}@mail.example.org` });
  const file = join(data, `${SECRET}.ndjson`);
  const contacts = [{ name: `Jane ${SECRET}`, email: `${SECRET}@example.org`, phone: null, role: null }];
  writeFileSync(file, `${JSON.stringify({ ...anOpportunity({ title: SECRET }), contacts })}\n`);
  expect((await run("import", "records", file)).code).toBe(0);
  const created = await run("keys", "create", "--account", SECRET);
  const error = [
    `Cannot download https://api.example.org/v1?api_key=${SECRET}: 403`,
    `write to ${SECRET}@example.org or read /home/${SECRET}/x.json`,
    `"${SECRET}" is no key, ${created.out.trim()} is one`,
  ].join("; ");
  const job = { name: "pull sam-gov", every_ms: 1, state: "waiting", next_at: 2, started_at: 1, took_ms: 1, result: "failed" };
  writeFileSync(join(data, "jobs.json"), JSON.stringify({ jobs: [{ ...job, succeeded_at: null, failed_at: 1, error, failures: 3 }] }));

  const { code, out } = await run("report");
  expect(code).toBe(0);
  const report = JSON.parse(out);
  expect(report).toMatchObject({
    settings: ["FUNDFEED_SAM_GOV_KEY", "FUNDFEED_SMTP_URL"],
    engine: "files",
    catalog: { sources: [{ source: "SAM", records: 1 }], imports: [{ format: "records", counts: { added: 1 } }] },
    jobs: [{ name: "pull sam-gov", result: "failed", failures: 3, error: expect.stringContaining("Cannot download <address>") }],
  });
  expect(report.files.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(["catalog.db", "state.db", "jobs.json", "other"]),
  );
  expect(out).not.toContain(SECRET);
  expect(out).not.toContain(created.out.trim());
  expect(out).not.toContain(data);
});

test("is made also of a directory without data, and says so without its name", async () => {
  const data = join(aDirectory(), SECRET);
  const { code, out } = await fundfeed(["report", "--data", data]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ files: [], jobs: [], catalog: { error: expect.stringMatching(/^Cannot open/) } });
  expect(out).not.toContain(SECRET);
});

test("counts as open what is open now, as all other commands do", async () => {
  const data = aDirectory();
  const record = {
    source: { code: "OWN", opportunity_id: "1" },
    title: "Past",
    dates: { opens_at: "2025-12-01T17:00:00Z", closes_at: "2026-01-02T17:00:00Z" },
  };
  expect((await fundfeed(["import", "records", aFile([record]), "--as-of", "2026-01-01T12:00:00Z", "--data", data])).code).toBe(0);
  const { out } = await fundfeed(["report", "--data", data]);
  expect(JSON.parse(out).catalog.sources).toMatchObject([{ source: "OWN", records: 1, open: 0 }]);
});
