import { afterAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { BATCH_ROWS } from "../../db/engine.ts";
import { NoData } from "../../db/opening.ts";
import { POSTGRES_ADDRESS } from "../../db/postgres/address.ts";
import { connect } from "../../db/postgres/client.ts";
import { postgresEngine } from "../../db/postgres/engine.ts";
import { postgresMigrations } from "../../db/postgres/migrate.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import { codeOf } from "../../db/reason.ts";
import { isUnavailable } from "../../db/unavailable.ts";
import { dropScratch, NOON } from "../support/imports.ts";
import { nextVersion } from "../support/next-version.ts";
import { hasPostgres, ownPostgresServer, postgresServer } from "../support/postgres.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

const put = "insert into settings (name, value) values (?, ?)";

/** What a promise was rejected with. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.if(hasPostgres)("openPostgres()", () => {
  test("create all tables in their own schemas, and find them again", async () => {
    const url = await (await postgresServer()).freshDatabase({ empty: true });
    const first = await openPostgres("catalog", url, NOON);
    const secret = await first.get(rawSql<{ value: Uint8Array }>("select value from settings where name = 'cursor_secret'"));
    expect(secret?.value).toHaveLength(32);
    const state = await openPostgres("state", url, NOON);
    expect(await state.all(rawSql("select name from plans order by daily"))).toEqual([
      { name: "trial" },
      { name: "starter" },
      { name: "paid" },
    ]);
    expect(
      await state.all(
        rawSql("select schemaname, count(*) as tables from pg_tables where schemaname like 'fundfeed%' group by 1 order by 1"),
      ),
    ).toEqual([
      { schemaname: "fundfeed_catalog", tables: 17 },
      { schemaname: "fundfeed_state", tables: 8 },
    ]);
    const second = await openPostgres("catalog", url, NOON + 1);
    expect(await second.get(rawSql("select value from settings where name = 'cursor_secret'"))).toEqual(secret);
    expect(await second.all(rawSql("select distinct applied_at from migrations"))).toEqual([{ applied_at: NOON }]);
    await Promise.all([first.close(), second.close(), state.close()]);
  });

  test("may be called by several programs at once for an empty database", async () => {
    const url = await (await postgresServer()).freshDatabase({ empty: true });
    const opened = await Promise.all(
      [1, 2, 3].flatMap(() => [
        openPostgres("catalog", url, NOON, { connections: 2 }),
        openPostgres("state", url, NOON, { connections: 2 }),
      ]),
    );
    const { catalog, state } = postgresMigrations;
    expect(await Promise.all(opened.map((db) => db.get(rawSql("select count(*) as count from migrations"))))).toEqual(
      opened.map((_, index) => ({ count: (index % 2 === 0 ? catalog : state).length })),
    );
    const [one, , other] = opened;
    const secret = "select value from settings where name = 'cursor_secret'";
    expect(await one?.get(rawSql(secret))).toEqual(await other?.get(rawSql(secret)));
    await Promise.all(opened.map((db) => db.close()));
  });

  test("refuse a database of a newer program, or with a migration of another text", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const db = await openPostgres("catalog", url, NOON);
    await db.run(rawSql("insert into migrations values (99, '0098_later', 'hash', 0)"));
    await expect(openPostgres("catalog", url, NOON)).rejects.toThrow(/^Cannot open .*: a newer version of fundfeed made it$/);
    await db.run(rawSql("delete from migrations where n = 99"));
    await db.run(rawSql("update migrations set hash = 'other' where n = 1"));
    await expect(openPostgres("catalog", url, NOON)).rejects.toThrow("its migration 0000_initial differs from this program's");
    await db.close();
  });

  test("refuse unusable databases, in one sentence without the password", async () => {
    const server = await postgresServer();
    const url = (await server.freshDatabase({ empty: true })).replace("fundfeed@", "fundfeed:hunter2@");
    const unmigrated = await failureOf(openPostgres("state", url, NOON, { mode: "read" }));
    expect(unmigrated).toBeInstanceOf(NoData);
    expect(String(unmigrated)).toMatch(
      /^Error: Cannot open postgres:\/\/127.0.0.1:\d+\/fresh_\w+: no fundfeed data in postgres:\/\/127.0.0.1:\d+\/fresh_\w+; /,
    );
    await server.command("create database latin template template0 encoding latin1 locale_provider libc locale 'C'");
    await expect(openPostgres("state", server.url("latin"), NOON)).rejects.toThrow("its encoding is LATIN1, and must be UTF8");
    const absent = await failureOf(openPostgres("state", server.url("absent"), NOON));
    expect(String(absent)).toContain('database "absent" does not exist');
    for (const dead of ["postgres://fundfeed:hunter2@127.0.0.1:1/x", "postgres://fundfeed:hunter2@nowhere.invalid/x"]) {
      const refused = String(await failureOf(openPostgres("state", dead, NOON)));
      expect(refused).toMatch(/^Error: Cannot open postgres:.*: no server answers there$/);
      expect(refused).not.toContain("hunter2");
    }
    for (const wrong of [
      "hunter2",
      "postgres://u:%hunter2@127.0.0.1/x",
      "postgres:u:hunter2",
      "mysql://u:hunter2@127.0.0.1/x",
      "postgres://u:hunter2@host:port/x",
    ]) {
      const refused = String(await failureOf(openPostgres("state", wrong, NOON)));
      expect(refused).toBe(`Error: Cannot open the database: its URL must be ${POSTGRES_ADDRESS}`);
    }
  });
});

describe.if(hasPostgres)("a PostgreSQL database", () => {
  test("is migrated by one program while others wait, and without a time limit", async () => {
    const url = await (await postgresServer()).freshDatabase();
    using _next = nextVersion({
      catalog: "do $$ begin assert current_setting('statement_timeout') = '0', current_setting('statement_timeout'); end $$",
    });
    const messages: string[] = [];
    const options = { onMigrated: (sentence: string) => messages.push(sentence) };
    const opened = await Promise.all([1, 2, 3].map(() => openPostgres("catalog", url, NOON, options)));
    expect(messages.filter((message) => message.includes("fundfeed_catalog"))).toHaveLength(1);
    await Promise.all(opened.map((db) => db.close()));
  });
});

describe.if(hasPostgres)("openPostgres() says", () => {
  const RIGHTS = "the role needs the rights that fundfeed help postgres lists";

  test("which rights a role lacks, for reading and for writing", async () => {
    const server = await postgresServer();
    const [url, empty] = [await server.freshDatabase(), await server.freshDatabase({ empty: true })];
    const role = await server.freshRole();
    const asStranger = (address: string) => address.replace("fundfeed@", `${role}@`);
    for (const mode of ["read", "create"] as const) {
      const refused = openPostgres("catalog", asStranger(url), NOON, { mode });
      await expect(refused).rejects.toThrow(new RegExp(`^Cannot open .*: permission denied for schema fundfeed_catalog: ${RIGHTS}$`));
    }
    await expect(openPostgres("catalog", asStranger(empty), NOON)).rejects.toThrow(
      new RegExp(`^Cannot open .*: permission denied for database fresh_\\w+: ${RIGHTS}$`),
    );
  });

  test.each([
    ["migrations", 'column "hash" does not exist'],
    ["sources", 'relation "sources" already exists'],
  ])("that somebody else has a table %s there", async (table, what) => {
    const url = await (await postgresServer()).freshDatabase({ empty: true });
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe(`create schema fundfeed_catalog; create table fundfeed_catalog.${table} (id int)`);
    await expect(openPostgres("catalog", url, NOON)).rejects.toThrow(
      `its schemas fundfeed_catalog and fundfeed_state must be fundfeed's own; ${what}`,
    );
  });
});

describe.if(hasPostgres)("an engine on PostgreSQL", () => {
  test("reports that it is unavailable while its server restarts or is killed, and then works again", async () => {
    const server = await ownPostgresServer();
    const db = await openPostgres("catalog", await server.freshDatabase(), NOON, { connections: 4 });
    const ask = () => db.get(rawSql("select count(*) as count from sources"));
    for (const mode of ["fast", "immediate"] as const) {
      const failures: unknown[] = [];
      let [answers, executor] = [0, true];
      const askers = Array.from({ length: 6 }, async () => {
        while (executor) {
          const failure = await failureOf(ask());
          if (failure === undefined) answers++;
          else failures.push(failure);
          await Bun.sleep(1);
        }
      });
      const [written, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const writing = failureOf(
        db.transaction(async (sql) => {
          await sql.run(rawSql(put, mode, new Uint8Array()));
          written.resolve();
          await stopped.promise;
          await sql.run(rawSql(put, `${mode} again`, new Uint8Array()));
        }),
      );
      await written.promise;
      await server.stop(mode);
      stopped.resolve();
      await waitFor("some are refused", () => failures.length > 0);
      const before = answers;
      await server.start();
      await waitFor("all are answered again", () => answers >= before + 100);
      executor = false;
      await Promise.all(askers);
      expect(failures.filter((failure) => !isUnavailable(failure))).toEqual([]);
      expect(isUnavailable(await writing)).toBe(true);
      expect(await db.get(rawSql("select count(*) as count from settings"))).toEqual({ count: 1 }); // Nothing of the transaction.
    }
    await db.close();
  });

  test("has at most four connections unless another number is asked for, because each costs PostgreSQL time", async () => {
    const server = await postgresServer();
    const url = await server.freshDatabase();
    const has = (count: number) =>
      waitFor(`${count} connections`, async () => (await server.backends(new URL(url).pathname.slice(1))).length === count);
    for (const [options, count] of [[{}, 4] as const, [{ connections: 2 }, 2] as const]) {
      const db = await openPostgres("catalog", url, NOON, options);
      await Promise.all(Array.from({ length: 8 }, () => db.get(rawSql("select 1 from pg_sleep(0.2)"))));
      await has(count);
      await db.close();
      await has(0);
    }
  });

  test("begins a transaction however many statements its other callers send", async () => {
    const db = await openPostgres("catalog", await (await postgresServer()).freshDatabase(), NOON, { connections: 2 });
    let isOver = false;
    const readers = Array.from({ length: 20 }, async () => {
      while (!isOver) await db.get(rawSql("select 1 from pg_sleep(0.01)"));
    });
    const written = await db.transaction((sql) => sql.run(rawSql("update settings set value = value")));
    isOver = true;
    await Promise.all(readers);
    expect(written).toBe(1);
    await db.close();
  });

  /** The limits of what must fail by them. A statement that must succeed is repeated, because a busy machine may be slower. */
  const LIMITED = { statementTimeoutMs: 1000 };
  const answered = <T>(ask: () => Promise<T>) =>
    waitFor("a statement is answered", () =>
      ask().catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return undefined;
      }),
    );

  test("drops connections to a server that does not respond, and connects again when it does", async () => {
    const server = await postgresServer();
    const url = await server.freshDatabase();
    const client = connect(url, { schema: "fundfeed_catalog", connections: 2, ...LIMITED });
    const one = () => client.rows<{ one: number }>("select 1 as one", []);
    await answered(() => Promise.all([one(), one()]));
    const backends = await server.backends(new URL(url).pathname.slice(1));
    for (const pid of backends) process.kill(pid, "SIGSTOP");
    const failures = await Promise.all([1, 2, 3, 4, 5].map(() => failureOf(one())));
    expect(failures.filter((failure) => failure !== undefined && !isUnavailable(failure))).toEqual([]);
    expect(failures.filter(isUnavailable).length).toBeGreaterThanOrEqual(backends.length);
    expect(await answered(one)).toEqual([{ one: 1 }]); // By new connections.
    for (const pid of backends) process.kill(pid, "SIGCONT");
    await client.close();
  });

  test("waits for a new connection as long as it may take, however short the limit of a statement is", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const client = connect(url, { schema: "fundfeed_catalog", connectTimeoutMs: 60_000, statementTimeoutMs: 1 });
    // The connection is there; what is sent on it then may be cut off by that limit.
    const failure = await failureOf(client.dedicated().then((connection) => connection.close()));
    expect([String(failure), codeOf(failure)]).not.toEqual(expect.arrayContaining([expect.stringMatching(/Timeout|TIMEOUT/)]));
    await client.close();
  });

  test("gives up on a slow statement, and on a lock that another program holds", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const limited = connect(url, { schema: "fundfeed_catalog", ...LIMITED });
    expect(isUnavailable(await failureOf(limited.rows("select pg_sleep(600)", [])))).toBe(true);
    const db = await openPostgres("catalog", url, NOON);
    const [locked, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = db.transaction(async () => {
      locked.resolve();
      await refused.promise;
    });
    await locked.promise;
    const writing = postgresEngine(limited, "catalog").transaction((sql) => sql.run(rawSql(put, "x", new Uint8Array())));
    expect(isUnavailable(await failureOf(writing))).toBe(true);
    refused.resolve();
    await holding;
    expect(await db.transaction((sql) => sql.run(rawSql(put, "x", new Uint8Array())))).toBe(1);
    await Promise.all([db.close(), limited.close()]);
  });

  test("limits the wait for a free connection", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const client = connect(url, { schema: "fundfeed_catalog", connections: 1, connectTimeoutMs: 1000, ...LIMITED });
    const db = postgresEngine(client, "catalog");
    const [taken, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let holding: Promise<void> = Promise.resolve();
    const hold = async () => {
      taken.resolve();
      await refused.promise;
    };
    await answered(async () => {
      holding = db.readTransaction(hold);
      await Promise.race([taken.promise, holding]);
      return true;
    });
    expect(isUnavailable(await failureOf(db.readTransaction((sql) => sql.get(rawSql("select 1")))))).toBe(true);
    refused.resolve();
    await holding;
    expect(await answered(() => db.readTransaction((sql) => sql.get(rawSql("select 1 as one"))))).toEqual({ one: 1 });
    await client.close();
  });

  test("reports a commit that the server turned into a rollback", async () => {
    const db = await openPostgres("catalog", await (await postgresServer()).freshDatabase(), NOON);
    const writing = db.transaction(async (sql) => {
      await sql.run(rawSql(put, "x", new Uint8Array()));
      await failureOf(sql.run(rawSql("insert into nowhere values (1)")));
    });
    expect(String(await failureOf(writing))).toContain("a statement of this transaction has failed");
    expect(await db.get(rawSql("select 1 from settings where name = 'x'"))).toBeUndefined();
    await db.close();
  });

  test("distinguishes temporary failures from errors", async () => {
    const db = await openPostgres("catalog", await (await postgresServer()).freshDatabase(), NOON);
    for (const statement of ["select 1 from nowhere", "selec", "insert into sources select * from sources", "select 1 / 0"]) {
      expect(isUnavailable(await failureOf(db.get(rawSql(statement))))).toBe(false);
    }
    expect([isUnavailable(new Error("x")), isUnavailable(undefined)]).toEqual([false, false]);
    await db.close();
    expect(isUnavailable(await failureOf(db.get(rawSql("select 1"))))).toBe(true);
  });

  test("reads a large catalog in batches", async () => {
    const db = await openPostgres("catalog", await (await postgresServer()).freshDatabase(), NOON);
    await db.run(
      rawSql("insert into settings (name, value) select 'n' || i, convert_to('x', 'UTF8') from generate_series(1, 2500) as g (i)"),
    );
    const batches: number[] = [];
    let isTaking = false;
    await db.each(rawSql("select name from settings where name <> 'cursor_secret'"), {}, async (batch) => {
      expect(isTaking).toBe(false);
      isTaking = true;
      await Bun.sleep(20);
      isTaking = false;
      batches.push(batch.length);
    });
    expect(batches).toEqual([BATCH_ROWS, BATCH_ROWS, 500]);
    await db.close();
  });
});
