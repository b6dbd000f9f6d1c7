/** PostgreSQL behind PgBouncer: it works in session mode, and is refused in transaction mode. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPostgresCatalog, openPostgresState } from "../../db/postgres/open.ts";
import { testApi } from "../support/api.ts";
import { pgbouncerIsInstalled, startPgBouncer } from "../support/pgbouncer.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { anOpportunity } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000);
const testIf = test.if(hasPostgres && pgbouncerIsInstalled);

testIf("behind PgBouncer in session mode, every connection has its settings, and the API works", async () => {
  const bouncer = await startPgBouncer(await (await postgresServer()).freshDatabase({ empty: true }), "session");
  const location = {
    catalog: (now: number) => openPostgresCatalog(bouncer.url, now),
    state: (now: number) => openPostgresState(bouncer.url, now, { statementTimeoutMs: 7_000 }),
  };
  const records = ["one", "two"].map((opportunity_id) => anOpportunity({ source: { code: "SAM", opportunity_id } }));
  const api = await testApi({ location, records });
  const responses = await Promise.all(Array.from({ length: 20 }, () => api.get("/opportunities")));
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));

  const settings = rawSql<Record<string, unknown>>(
    "select current_setting('search_path') as path, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle, pg_backend_pid() as process from pg_sleep(0.2)",
  );
  const rows = await Promise.all(Array.from({ length: 8 }, () => api.state.get(settings)));
  expect(new Set(rows.map((row) => row?.process)).size).toBe(4);
  for (const row of rows) expect(row).toMatchObject({ path: "fundfeed_state", statement: "7s", lock: "7s", idle: "1min" });

  await Promise.all([api.state.close(), api.model.db.close()]);
  const reader = await openPostgresCatalog(bouncer.url, 0, { mode: "read" });
  await expect(reader.run(rawSql("delete from opportunities"))).rejects.toThrow("read-only");
  await reader.close();
  const writer = await openPostgresCatalog(bouncer.url, 0); // On connections that had other settings before.
  expect(await writer.run(rawSql("delete from events"))).toBe(2);
  await writer.close();
  await bouncer.stop();
});

testIf("PgBouncer in transaction mode is refused, with its reason", async () => {
  const bouncer = await startPgBouncer(await (await postgresServer()).freshDatabase(), "transaction");
  for (const open of [openPostgresCatalog, openPostgresState])
    await expect(open(bouncer.url, 0)).rejects.toThrow(/two connections are served by one process: .* Set pool_mode = session/);
  await bouncer.stop();
});
