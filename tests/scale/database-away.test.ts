/** Servers whose PostgreSQL restarts, crashes or falls silent: what their clients are told, and how they come back. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { hasPostgres, type PostgresServer, postgresServer } from "../support/postgres.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000); // Processes on a busy machine take their time.
afterAll(dropHomes);

const UNKNOWN = "/opportunities/00000000-0000-5000-8000-000000000000";
/** What is asked, and its answer while all is well. */
const asked: [path: string, sendsKey: boolean, status: number][] = [
  ["/opportunities?limit=10", true, 200],
  ["/opportunities?source=OTHER", true, 200],
  ["/sources", true, 200],
  [UNKNOWN, true, 404],
  [`${UNKNOWN}/events`, true, 404],
  ["/opportunities?limit=0", true, 400],
  ["/sources", false, 401],
  ["/meta", false, 200],
  ["/openapi.json", false, 200],
  ["/nowhere", false, 404],
];
/** They ask no database. */
const needNone = ["/meta", "/openapi.json", "/nowhere"];

type Seen = {
  port: number;
  path: string;
  sendsKey: boolean;
  status: number;
  isRight: boolean;
  retryAfter: string | null;
  type: string | null;
};

describe.skipIf(!hasPostgres)("servers whose PostgreSQL is away", () => {
  let postgres: PostgresServer;
  let home: Home;
  let env: Record<string, string>;
  let servers: Server[] = [];
  let key: string;
  let database: string;
  const right = new Map<string, string>();

  beforeAll(async () => {
    postgres = await postgresServer();
    const url = await postgres.freshDatabase();
    database = new URL(url).pathname.slice(1);
    [home, env] = [aHome(), { FUNDFEED_DATABASE: url }];
    const records = Array.from({ length: 40 }, (_, n) =>
      JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Number ${n}` }),
    );
    expect((await home.run(["import", "records", "-"], { env, stdin: records.join("\n") })).code).toBe(0);
    await home.run(["plans", "set", "endless", "--daily", "1000000000", "--per-minute", "1000000000"], { env });
    key = (await home.run(["keys", "create", "--account", "Endless", "--plan", "endless"], { env })).out.trim();
    servers = await Promise.all([home.serve(undefined, { env }), home.serve(undefined, { env })]);
    for (const [path, sendsKey] of asked)
      if (path !== "/meta") right.set(`${path} ${sendsKey}`, await bodyOf(await ask(servers[0] as Server, path, sendsKey)));
  });
  afterAll(async () => {
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0]);
  });

  const ask = ({ port }: Server, path: string, sendsKey: boolean) =>
    fetch(`http://127.0.0.1:${port}/v1${path}`, { headers: sendsKey ? { Authorization: `Bearer ${key}` } : {} });
  /** But for what differs from request to request and from server to server. */
  const bodyOf = async (response: Response) => (await response.text()).replace(/"request_id":"[^"]*"/, "").replace(/127\.0\.0\.1:\d+/g, "");

  async function see(server: Server, path: string, sendsKey: boolean): Promise<Seen> {
    const response = await ask(server, path, sendsKey);
    const body = await bodyOf(response);
    const isRight = path === "/meta" || body === right.get(`${path} ${sendsKey}`);
    const { status, headers } = response;
    return {
      port: server.port,
      path,
      sendsKey,
      status,
      isRight,
      retryAfter: headers.get("retry-after"),
      type: headers.get("content-type"),
    };
  }

  /** Requests to both without a pause, while something is done. */
  async function underLoad(work: (seen: readonly Seen[]) => Promise<void>): Promise<Seen[]> {
    const seen: Seen[] = [];
    let going = true;
    const clients = servers.flatMap((server) =>
      asked.map(async ([path, sendsKey]) => {
        for (; going; await Bun.sleep(5)) seen.push(await see(server, path, sendsKey));
      }),
    );
    await work(seen).finally(() => {
      going = false;
    });
    await Promise.all(clients);
    return seen;
  }
  const statusIfWell = ({ path, sendsKey }: Seen) => asked.find((each) => each[0] === path && each[1] === sendsKey)?.[2];
  const isWell = (each: Seen) => each.status === statusIfWell(each) && each.isRight;
  const isAway = ({ status, retryAfter, type }: Seen) => status === 503 && retryAfter === "5" && type === "application/problem+json";

  /** Each answer is right, or says that the database is away; where none is needed, right. */
  function expectNoWrongAnswer(seen: readonly Seen[]): void {
    expect(seen.filter((each) => !isWell(each) && !isAway(each)).slice(0, 3)).toEqual([]);
    expect(seen.filter((each) => needNone.includes(each.path) && !isWell(each)).slice(0, 3)).toEqual([]);
    for (const [path, sendsKey] of asked) {
      const ofThis = seen.filter((each) => each.path === path && each.sendsKey === sendsKey);
      expect([path, sendsKey, ofThis.some(isWell), ofThis.some(isAway)]).toEqual([path, sendsKey, true, !needNone.includes(path)]);
    }
  }
  /** Until both servers have said of all that needs the database that it is away: of a silent one within seconds, too. */
  const untilRefused = (seen: readonly Seen[]) => {
    const expected = servers.length * (asked.length - needNone.length);
    const refused = () => new Set(seen.filter(isAway).map(({ port, path, sendsKey }) => `${port} ${path} ${sendsKey}`)).size;
    return waitFor("all that need it are refused", () => refused() === expected, 20);
  };
  const untilWell = async () => {
    for (const server of servers)
      for (const [path, sendsKey] of asked) await waitFor(`${path} is right again`, async () => isWell(await see(server, path, sendsKey)));
  };

  test.each(["fast", "immediate"] as const)(
    "it is stopped (%s) under load and started again: 503 meanwhile, then well without a restart",
    async (mode) => {
      const seen = await underLoad(async (so_far) => {
        await waitFor("all is well", () => so_far.filter(isWell).length > 100);
        await postgres.stop(mode);
        await untilRefused(so_far);
        await postgres.start();
        await untilWell();
      });
      expectNoWrongAnswer(seen);
      const after = await underLoad(async (so_far) => {
        await waitFor("hundreds are answered", () => so_far.length > 300);
      });
      expect(after.filter((each) => !isWell(each))).toEqual([]);
    },
  );

  test("its absence is a line in the log, and one more with how many failures were left out", async () => {
    const server = await home.serve(undefined, { env });
    await postgres.stop("fast");
    for (let n = 0; n < 30; n++) expect((await ask(server, "/sources", true)).status).toBe(503);
    await postgres.start();
    expect(await server.stop()).toBe(0);
    const lines = server.log().trimEnd().split("\n");
    const failures = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "error");
    expect(failures.map(({ left_out }) => left_out)).toEqual([undefined, expect.any(Number)]);
    expect(failures[1].left_out).toBeGreaterThanOrEqual(28); // And what the server itself could not do.
    await untilWell();
  });

  test("a server that is started while it is away says so in one sentence, and ends", async () => {
    await postgres.stop("fast");
    const started = await home.run(["serve", "--port", "0"], { env });
    await postgres.start();
    expect(started).toEqual({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Cannot open postgres:\/\/127.0.0.1:\d+\/\w+: no server answers there\n$/),
    });
    await untilWell();
  });

  test("it falls silent (SIGSTOP): 503 while it is, then well without a restart", async () => {
    const backends = await postgres.backends(database);
    const [, postmaster] = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${backends[0]}/status`, "utf8")) ?? [];
    const all = [Number(postmaster), ...backends];
    const seen = await underLoad(async (so_far) => {
      await waitFor("all is well", () => so_far.filter(isWell).length > 100);
      for (const pid of all) process.kill(pid, "SIGSTOP");
      try {
        await untilRefused(so_far);
      } finally {
        for (const pid of all) process.kill(pid, "SIGCONT");
      }
      await untilWell();
    });
    expectNoWrongAnswer(seen);
  });

  test("its connections are terminated under load, again and again: each request is answered right, or with 503; then well", async () => {
    const seen = await underLoad(async (so_far) => {
      for (let n = 0; n < 20; n++) {
        const before = so_far.length;
        await postgres.command(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
        await waitFor("more requests are answered", () => so_far.length > before + 40);
      }
      await untilWell();
    });
    expect(seen.filter((each) => !isWell(each) && !isAway(each)).slice(0, 3)).toEqual([]);
    expect(seen.filter((each) => needNone.includes(each.path) && !isWell(each)).slice(0, 3)).toEqual([]);
    expect(seen.filter(isWell).length).toBeGreaterThan(seen.length / 2);
  });

  test("a server that is paused (SIGSTOP) under load holds up no other one, and what was revoked meanwhile ends at once when it goes on", async () => {
    const [paused, other] = servers as [Server, Server];
    const made = await home.run(["keys", "create", "--account", "Endless", "--json"], { env });
    const doomed = JSON.parse(made.out) as { id: string; key: string };
    const statusOf = async (server: Server) => (await server.get("/sources", doomed.key)).status;
    expect([await statusOf(paused), await statusOf(other)]).toEqual([200, 200]);
    const seen = await underLoad(async (so_far) => {
      const answeredBy = ({ port }: Server) => so_far.filter((each) => each.port === port).length;
      await waitFor("both are busy", () => answeredBy(paused) > 50 && answeredBy(other) > 50);
      paused.kill("SIGSTOP");
      try {
        const before = answeredBy(other);
        expect((await home.run(["keys", "revoke", doomed.id], { env })).code).toBe(0);
        expect(await statusOf(other)).toBe(401);
        await waitFor("the other one goes on", () => answeredBy(other) > before + 200);
      } finally {
        paused.kill("SIGCONT");
      }
      expect(await statusOf(paused)).toBe(401);
      await untilWell();
    });
    expect(seen.filter((each) => !isWell(each) && !(isAway(each) && each.port === paused.port)).slice(0, 3)).toEqual([]);
  });
});
