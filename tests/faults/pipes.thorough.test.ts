/** `fundfeed export | fundfeed import records -` when one end of the pipe is slow, or breaks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { openPostgres } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { exportLines } from "../../src/export/records.ts";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { NOON } from "../support/imports.ts";
import { hasPostgres, type PostgresServer, postgresServer } from "../support/postgres.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

/** More than one batch of a database, which has 1,000 rows; and a batch is more than a pipe holds. */
const RECORDS = 1100;
const recordsOf = (count: number, description: string) =>
  Array.from(
    { length: count },
    (_, n) => `${JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Number ${n}`, description })}\n`,
  ).join("");

describe.if(hasPostgres)("export from PostgreSQL", () => {
  let postgres: PostgresServer;
  let url: string;
  let home: Home;
  beforeAll(async () => {
    postgres = await postgresServer();
    url = await postgres.freshDatabase();
    home = aHome();
    const file = home.file("records.ndjson", recordsOf(RECORDS, "word ".repeat(200)));
    expect((await fundfeed(["import", "records", file, "--database", url])).code).toBe(0);
  });

  test("continues however long its reader pauses, while a silent writer times out", async () => {
    const db = await openPostgres("catalog", url, NOON, { idleInTransactionMs: 100 });
    let lines = 0;
    await exportLines(db, {}, () => {
      if (lines++ % 1000 === 500) Bun.sleepSync(1000); // As a full pipe keeps it.
    });
    expect(lines).toBe(RECORDS);
    const silent = db.transaction(async (sql) => {
      await Bun.sleep(1000);
      await sql.get(rawSql("select 1"));
    });
    await expect(silent).rejects.toThrow();
    await db.close();
  });

  test("that fails on the way says that its output is incomplete", async () => {
    const reader = `"$@" | { until [ -e ${home.at("go")} ]; do sleep 0.05; done; cat; }`;
    const exporting = home.start(["export", "--database", url], { through: ["bash", "-o", "pipefail", "-c", reader, "bash"] });
    const database = new URL(url).pathname.slice(1);
    const paused = `from pg_stat_activity where datname = '${database}' and state = 'idle in transaction' and now() - state_change > interval '0.5 s'`;
    await waitFor("its pipe is full", async () => (await postgres.command(`select 1 ${paused}`)).length > 0);
    await postgres.command(`select pg_terminate_backend(pid) ${paused}`);
    home.file("go", "");
    const [out, err, code] = await Promise.all([exporting.stdout.text(), exporting.stderr.text(), exporting.exited]);
    const count = out.trimEnd().split("\n").length;
    expect(count).toBeLessThan(RECORDS);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`the output is incomplete and ends after ${count.toLocaleString("en-US")} record`),
    ]);
  });
});

test("import reads all of standard input before it waits for another import", async () => {
  const home = aHome();
  const file = home.file("records.ndjson", recordsOf(20, "word ".repeat(30_000)));
  await using held = new AsyncDisposableStack();
  held.use(await held.use(openCatalog(home.at("fundfeed-data"), Date.now())).tryLock("import"));
  const importing = home.start(["import", "records", "-"], {
    through: ["sh", "-c", `{ cat ${file}; touch ${home.at("read")}; } | "$@" 2> ${home.file("log", "")}`, "sh"],
  });
  const log = () => readFileSync(home.at("log"), "utf8");
  await waitFor("it waits, and its writer has got rid of everything", () => log() !== "" && existsSync(home.at("read")));
  await held.disposeAsync();
  expect([await importing.exited, log()]).toEqual([0, "Waiting for another import to finish\n"]);
  expect(await importing.stdout.text()).toContain("20 added");
});

test("SIGTERM ends a command that handles it, although nobody reads its output", async () => {
  const home = aHome();
  await fundfeed([
    "import",
    "records",
    home.file("records.ndjson", recordsOf(200, "word ".repeat(200))),
    "--data",
    home.at("fundfeed-data"),
  ]);
  const [pid, code, go] = ["pid", "code", "go"].map(home.at);
  const piped = `{ "$@" & echo $! > ${pid}; wait $!; echo $? > ${code}; } | until [ -e ${go} ]; do sleep 0.1; done`;
  const args = ["changes", "--follow", "--format", "ndjson", "--since", "all", "--cursor-file", home.at("cursor")];
  const shell = home.start(args, { through: ["bash", "-c", piped, "bash"] });
  await waitFor("it prints", () => existsSync(home.at("cursor")));
  const isEnded = () => existsSync(code ?? "");
  await waitFor("it ends", () => {
    if (!isEnded()) Bun.spawnSync(["kill", "-TERM", readFileSync(pid ?? "", "utf8").trim()]);
    return isEnded();
  });
  home.file("go", "");
  await shell.exited;
});
