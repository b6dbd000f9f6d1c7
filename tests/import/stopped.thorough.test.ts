/** An import that SIGINT or SIGTERM ends says how far it came, and running it again does the rest. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../support/binary.ts";
import { run } from "../support/clocked-program.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

/** Three chunks, and more records than a call has arguments. */
const COUNT = 9000;
const file = join(aDirectory(), "many.ndjson");

beforeAll(() => {
  const record = (n: number) => JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Title ${n}`, status: "open" });
  writeFileSync(file, Array.from({ length: COUNT }, (_, n) => `${record(n)}\n`).join(""));
});

/** With a small stack, on which a call cannot have as many arguments as there are records. */
function start(data: string, input: string, ...options: string[]) {
  const child = Bun.spawn([program, "import", "records", input, "--data", data, ...options], {
    env: { ...process.env, BUN_JSC_maxPerThreadStackUsage: "170000" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const ended = Promise.all([child.exited, child.stdout.text(), child.stderr.text()]).then(([code, out, err]) => ({ code, out, err }));
  return { child, ended };
}

/** How many records are stored, or how many of them have a status. */
function stored(data: string, status = "%"): number {
  if (!existsSync(join(data, "catalog.db"))) return 0;
  const db = new Database(join(data, "catalog.db"), { readonly: true });
  try {
    const count = "select count(*) as count from opportunities join facets on facets.id = facet_id where status like ?";
    return db.query<{ count: number }, [string]>(count).get(status)?.count ?? 0;
  } catch {
    return 0; // It is being made.
  } finally {
    db.close();
  }
}

test("SIGINT while records are written, and later while a snapshot removes them", async () => {
  const data = join(aDirectory(), "data");
  const writing = start(data, file);
  await waitFor("records are stored", () => stored(data) > 0, { saw: () => stored(data) });
  writing.child.kill("SIGINT");
  const { code, out, err } = await writing.ended;
  const [, done = ""] =
    /^Cannot finish import: it was stopped after ([\d,]+) of 9,000 records; the same command stores the rest\n$/.exec(err) ?? [];
  expect({ code, out, err, stored: stored(data).toLocaleString("en-US") }).toEqual({ code: 1, out: "", err, stored: done });
  expect(readdirSync(data)).not.toContain("import.staging");

  const again = await run(["import", "records", file, "--data", data]);
  expect([again.code, stored(data)]).toEqual([0, COUNT]);
  const log = JSON.parse((await fundfeed(["imports", "list", "--json", "--data", data])).out);
  expect(log).toMatchObject([{ counts: { read: COUNT, added: COUNT, changed: 0, unchanged: 0, events: COUNT } }]);

  const one = join(aDirectory(), "one.ndjson");
  writeFileSync(one, '{"source":{"code":"OWN","opportunity_id":"0"},"title":"Title 0","status":"closed"}\n');
  const removing = start(data, one, "--snapshot", "--allow-removals");
  await waitFor("records are archived", () => stored(data, "archived") > 0, { saw: () => stored(data) });
  removing.child.kill("SIGINT");
  const removed = await removing.ended;
  const archived = stored(data, "archived");
  expect({ code: removed.code, err: removed.err, isPart: archived < COUNT - 1 }).toEqual({
    code: 1,
    err: `Cannot finish import: it was stopped after ${(archived + 1).toLocaleString("en-US")} of 9,000 records; the same command stores the rest\n`,
    isPart: true,
  });

  await run(["import", "records", one, "--data", data, "--snapshot", "--allow-removals"]);
  expect([stored(data, "archived"), stored(data, "closed")]).toEqual([COUNT - 1, 1]);
});

test("SIGTERM while records are read", async () => {
  const data = join(aDirectory(), "data");
  const { child, ended } = start(data, file);
  await waitFor("it has begun", () => existsSync(join(data, "import.staging")), { saw: () => stored(data) });
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 1, out: "", err: "Cannot finish import: it was stopped before anything was stored\n" });
  expect(stored(data)).toBe(0);
});

test("SIGINT while it waits for standard input", async () => {
  const data = join(aDirectory(), "data");
  const { child, ended } = start(data, "-");
  child.stdin.write('{"source":{"code":"OWN","opportunity_id":"1"},"title":"Title"}\n');
  child.stdin.flush();
  await waitFor("it has begun", () => existsSync(join(data, "catalog.db")), { saw: () => stored(data) });
  child.kill("SIGINT");
  expect(await ended).toEqual({ code: 1, out: "", err: "Cannot finish import: it was stopped before anything was stored\n" });
  child.stdin.end();
});
