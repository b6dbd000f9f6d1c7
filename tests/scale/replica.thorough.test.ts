/** A streaming replica as `--read-database` of a server, and as `--database` of commands that read. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPostgres } from "../../db/postgres/open.ts";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { NOON } from "../support/imports.ts";
import { hasPostgres, ownPostgresServer, type PostgresReplica, type PostgresServer } from "../support/postgres.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

const record = (id: string) => `${JSON.stringify({ source: { code: "OWN", opportunity_id: id }, title: `Number ${id}` })}\n`;

describe.skipIf(!hasPostgres)("a streaming replica", () => {
  let primary: PostgresServer;
  let replica: PostgresReplica;
  let home: Home;
  let [url, replicaUrl] = ["", ""];
  let database = "";
  beforeAll(async () => {
    primary = await ownPostgresServer();
    url = await primary.freshDatabase();
    database = new URL(url).pathname.slice(1);
    home = aHome();
    expect((await home.run(["import", "records", "-", "--database", url], { stdin: record("1") })).code).toBe(0);
    replica = await primary.startReplica();
    replicaUrl = replica.url(database);
    await replica.waitUntilCaughtUp();
  });

  /** How many queries the replica has cancelled because the primary vacuumed rows that they could still see. */
  const conflicts = async () =>
    Number((await replica.command(`select confl_snapshot as n from pg_stat_database_conflicts where datname = '${database}'`))[0]?.n);

  test("that cancels a statement gets it once more", async () => {
    const reading = { mode: "read", statementTimeoutMs: 240_000 } as const;
    const [db, writer] = [await openPostgres("catalog", replicaUrl, NOON, reading), await openPostgres("catalog", url, NOON)];
    const count = Number((await writer.get(rawSql<{ count: number }>("select count(*) as count from sources")))?.count);
    // It ends only if it sees the deletion.
    const slow = rawSql<{ count: number }>(
      `select count, pg_sleep(case when count < ${count} then 0 else 200 end) from (select count(*) as count from sources) as counted`,
    );
    const before = await conflicts();
    const result = db.get(slow).then(
      (row) => row?.count,
      (error: unknown) => error,
    );
    await waitFor("the statement is running", async () => {
      const rows = await replica.command("select 1 from pg_stat_activity where state = 'active' and query like '%as counted'");
      return rows.length > 0;
    });
    await writer.run(rawSql("delete from sources where code = 'DSIP'"));
    await writer.run(rawSql("vacuum sources"));
    expect(await result).toBe(count - 1); // The second attempt sees the deletion.
    await waitFor("the conflict is counted", async () => (await conflicts()) === before + 1);
    await Promise.all([db.close(), writer.close()]);
  });

  test("provides the catalog to a server, which counts and looks up keys on the primary", async () => {
    const env = { FUNDFEED_DATABASE: url, FUNDFEED_READ_DATABASE: replicaUrl };
    const { id, key } = JSON.parse((await home.run(["keys", "create", "--account", "A", "--json"], { env })).out) as {
      id: string;
      key: string;
    };
    const server = await home.serve(undefined, { env });
    const titles = async () => {
      const response = await server.get("/opportunities", key);
      expect(response.status).toBe(200);
      return ((await response.json()) as { data: { title: string }[] }).data.map(({ title }) => title).sort();
    };
    expect(await titles()).toEqual(["Number 1"]);
    expect((await home.run(["import", "records", "-"], { env, stdin: record("2") })).code).toBe(0);
    await replica.waitUntilCaughtUp();
    expect(await titles()).toEqual(["Number 1", "Number 2"]);
    expect((await home.run(["keys", "revoke", id], { env })).code).toBe(0);
    expect((await server.get("/opportunities", key)).status).toBe(401);
    expect(await server.stop()).toBe(0);
    expect(server.log()).not.toContain('"level":"error"');
  });

  test("works for commands that read, and is refused by commands that write", async () => {
    const at = ["--database", replicaUrl];
    await replica.waitUntilCaughtUp();
    for (const args of [["export"], ["check"], ["sources", "status"], ["keys", "list"]])
      expect({ args, ...(await home.run([...args, ...at])) }).toMatchObject({ args, code: 0, err: "" });
    const { code, err } = await home.run(["keys", "create", "--account", "B", ...at]);
    expect([code, err]).toEqual([1, expect.stringContaining("it is a replica, which is only read; name the primary")]);
  });
});
