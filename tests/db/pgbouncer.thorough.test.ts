/** PostgreSQL behind PgBouncer: it works in session mode, and is refused in transaction mode. */
import { describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { openPostgres } from "../../db/postgres/open.ts";
import { testApi } from "../support/api.ts";
import { pgbouncerIsInstalled, startPgBouncer } from "../support/pgbouncer.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { anOpportunity } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";

const testIf = test.if(hasPostgres && pgbouncerIsInstalled);

testIf("behind PgBouncer in session mode, every connection has its settings, and the API works", async () => {
  const bouncer = await startPgBouncer(await (await postgresServer()).freshDatabase({ empty: true }), "session");
  const location = {
    catalog: (now: number) => openPostgres("catalog", bouncer.url, now),
    state: (now: number) => openPostgres("state", bouncer.url, now, { statementTimeoutMs: 7_000 }),
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
  const reader = await openPostgres("catalog", bouncer.url, 0, { mode: "read" });
  await expect(reader.run(rawSql("delete from opportunities"))).rejects.toThrow("read-only");
  await reader.close();
  const writer = await openPostgres("catalog", bouncer.url, 0); // On connections that had other settings before.
  expect(await writer.run(rawSql("delete from events"))).toBe(2);
  await writer.close();
  await bouncer.stop();
});

const REFUSED = /connections share their server processes: .* Set pool_mode = session/;

describe.each([1, 2, 3, 30])("PgBouncer in transaction mode with %d servers", (servers) => {
  testIf.each([
    ["the last one first", false],
    ["in turn", true],
  ])("is refused if it lends them %s, also while others use it", async (_, inTurn) => {
    const bouncer = await startPgBouncer(await (await postgresServer()).freshDatabase(), "transaction", { servers, inTurn });
    const clients = Array.from({ length: servers }, () => new SQL(bouncer.url, { max: 1 }));
    const useAll = () => Promise.all(clients.map((client) => client.unsafe("select pg_sleep(0.1)")));
    await useAll(); // So that all servers are open.
    const refuse = async () => {
      for (const kind of ["catalog", "state"] as const) await expect(openPostgres(kind, bouncer.url, 0)).rejects.toThrow(REFUSED);
    };
    for (let n = 0; n < 10; n++) await refuse();

    let ended = servers === 2; // Beside others, chance may miss it there (ROUNDS in connections.ts).
    const busy = clients.slice(0, 4).map(async (client) => {
      while (!ended) await client.unsafe("select pg_sleep(random() * 0.002)");
    });
    for (let n = 0; n < 10; n++) await refuse();
    ended = true;
    await Promise.all(busy);
    await Promise.all(clients.map((client) => client.close()));
    await bouncer.stop();
  });
});
