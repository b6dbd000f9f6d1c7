/** Servers whose PostgreSQL restarts, crashes or hangs: what they return meanwhile, and how they recover. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SQL } from "bun";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { hasPostgres, ownPostgresServer, type PostgresServer } from "../support/postgres.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

const UNKNOWN = "/opportunities/00000000-0000-5000-8000-000000000000";
/** Requests, and the status of their responses while PostgreSQL is available. */
const requests: [path: string, sendsKey: boolean, status: number][] = [
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
/** Paths whose responses need no database. */
const withoutDatabase = ["/meta", "/openapi.json", "/nowhere"];

type Observed = {
  port: number;
  path: string;
  sendsKey: boolean;
  status: number;
  hasRightBody: boolean;
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
  const rightBodies = new Map<string, string>();

  beforeAll(async () => {
    postgres = await ownPostgresServer();
    const url = await postgres.freshDatabase();
    database = new URL(url).pathname.slice(1);
    [home, env] = [aHome(), { FUNDFEED_DATABASE: url }];
    const records = Array.from({ length: 40 }, (_, n) =>
      JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Number ${n}` }),
    );
    const prepare = (...args: string[]) => fundfeed([...args, "--database", url]);
    expect((await prepare("import", "records", home.file("records.ndjson", records.join("\n")))).code).toBe(0);
    await prepare("plans", "set", "endless", "--daily", "1000000000", "--per-minute", "1000000000");
    key = (await prepare("keys", "create", "--account", "Endless", "--plan", "endless")).out.trim();
    servers = await Promise.all([home.serve(undefined, { env }), home.serve(undefined, { env })]);
    for (const [path, sendsKey] of requests)
      if (path !== "/meta") rightBodies.set(`${path} ${sendsKey}`, await bodyOf(await request(servers[0] as Server, path, sendsKey)));
  });
  afterAll(async () => {
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0]);
  });

  const request = ({ port }: Server, path: string, sendsKey: boolean) =>
    fetch(`http://127.0.0.1:${port}/v1${path}`, { headers: sendsKey ? { Authorization: `Bearer ${key}` } : {} });
  /** The body without what differs between requests and between servers. */
  const bodyOf = async (response: Response) => (await response.text()).replace(/"request_id":"[^"]*"/, "").replace(/127\.0\.0\.1:\d+/g, "");

  async function observe(server: Server, path: string, sendsKey: boolean): Promise<Observed> {
    const response = await request(server, path, sendsKey);
    const body = await bodyOf(response);
    const hasRightBody = path === "/meta" || body === rightBodies.get(`${path} ${sendsKey}`);
    const { status, headers } = response;
    return {
      port: server.port,
      path,
      sendsKey,
      status,
      hasRightBody,
      retryAfter: headers.get("retry-after"),
      type: headers.get("content-type"),
    };
  }

  /** Sends requests to both servers while `work` runs, with pauses that leave the processors to them, and returns what it observed. */
  async function underLoad(work: (soFar: readonly Observed[]) => Promise<void>): Promise<Observed[]> {
    const observed: Observed[] = [];
    let working = true;
    const clients = servers.flatMap((server) =>
      requests.map(async ([path, sendsKey]) => {
        for (; working; await Bun.sleep(100)) observed.push(await observe(server, path, sendsKey));
      }),
    );
    await work(observed).finally(() => {
      working = false;
    });
    await Promise.all(clients);
    return observed;
  }
  const normalStatus = ({ path, sendsKey }: Observed) => requests.find((each) => each[0] === path && each[1] === sendsKey)?.[2];
  const isRight = (each: Observed) => each.status === normalStatus(each) && each.hasRightBody;
  const isUnavailable = ({ status, retryAfter, type }: Observed) =>
    status === 503 && retryAfter === "5" && type === "application/problem+json";

  /** Every response is right, or 503 if it needs the database. Of each request that needs it, both occurred. */
  function expectNoWrongResponse(observed: readonly Observed[]): void {
    expect(observed.filter((each) => !isRight(each) && !isUnavailable(each)).slice(0, 3)).toEqual([]);
    expect(observed.filter((each) => withoutDatabase.includes(each.path) && !isRight(each)).slice(0, 3)).toEqual([]);
    for (const [path, sendsKey] of requests) {
      const ofRequest = observed.filter((each) => each.path === path && each.sendsKey === sendsKey);
      expect([path, sendsKey, ofRequest.some(isRight), ofRequest.some(isUnavailable)]).toEqual([
        path,
        sendsKey,
        true,
        !withoutDatabase.includes(path),
      ]);
    }
  }
  /** Waits until both servers have returned 503 for every request that needs the database: within seconds, even while PostgreSQL hangs. */
  const waitUntilUnavailable = (observed: readonly Observed[]) => {
    const expected = servers.length * (requests.length - withoutDatabase.length);
    const refused = () => new Set(observed.filter(isUnavailable).map(({ port, path, sendsKey }) => `${port} ${path} ${sendsKey}`));
    return waitFor("503 for every request that needs the database", () => refused().size === expected, { saw: () => [...refused()] });
  };
  const recovered = (server: Server, path: string, sendsKey: boolean) => {
    let last: Observed | undefined;
    const isRecovered = async () => {
      last = await observe(server, path, sendsKey);
      return isRight(last);
    };
    return waitFor(`${path} is right again`, isRecovered, { saw: () => last });
  };
  const waitUntilRecovered = async () => {
    for (const server of servers) for (const [path, sendsKey] of requests) await recovered(server, path, sendsKey);
  };

  test.each(["fast", "immediate"] as const)(
    "it is stopped (%s) under load and started again: 503 meanwhile, then right responses without a restart",
    async (mode) => {
      const observed = await underLoad(async (soFar) => {
        await waitFor("50 right responses", () => soFar.filter(isRight).length > 50);
        await postgres.stop(mode);
        await waitUntilUnavailable(soFar);
        await postgres.start();
        await waitUntilRecovered();
      });
      expectNoWrongResponse(observed);
      const after = await underLoad(async (soFar) => {
        await waitFor("100 responses", () => soFar.length > 100);
      });
      expect(after.filter((each) => !isRight(each))).toEqual([]);
    },
  );

  test("its absence is logged once, and once more with the number of failures left out", async () => {
    const server = await home.serve(undefined, { env });
    await postgres.stop("fast");
    for (let n = 0; n < 30; n++) expect((await request(server, "/sources", true)).status).toBe(503);
    await postgres.start();
    expect(await server.stop()).toBe(0);
    const lines = server.log().trimEnd().split("\n");
    const failures = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "error");
    expect(failures.map(({ left_out }) => left_out)).toEqual([undefined, expect.any(Number)]);
    expect(failures[1].left_out).toBeGreaterThanOrEqual(28); // Background work of the server may have failed as well.
    await waitUntilRecovered();
  });

  test("a server that is started while it is away prints one sentence and exits with 1", async () => {
    await postgres.stop("fast");
    const started = await home.run(["serve", "--port", "0"], { env });
    await postgres.start();
    expect(started).toEqual({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Cannot open postgres:\/\/127.0.0.1:\d+\/\w+: no server answers there\n$/),
    });
    await waitUntilRecovered();
  });

  test("it hangs (SIGSTOP): 503 meanwhile, then right responses without a restart", async () => {
    const backends = await postgres.backends(database);
    const [, postmaster] = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${backends[0]}/status`, "utf8")) ?? [];
    const all = [Number(postmaster), ...backends];
    const observed = await underLoad(async (soFar) => {
      await waitFor("50 right responses", () => soFar.filter(isRight).length > 50);
      for (const pid of all) process.kill(pid, "SIGSTOP");
      try {
        await waitUntilUnavailable(soFar);
      } finally {
        for (const pid of all) process.kill(pid, "SIGCONT");
      }
      await waitUntilRecovered();
    });
    expectNoWrongResponse(observed);
  });

  test("its connections are terminated under load, 20 times: each response is right or 503, and then all are right", async () => {
    const observed = await underLoad(async (soFar) => {
      for (let n = 0; n < 20; n++) {
        const right = () => soFar.filter(isRight).length;
        const before = right();
        await postgres.command(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
        await waitFor("30 more right responses", () => right() > before + 30);
      }
      await waitUntilRecovered();
    });
    expect(observed.filter((each) => !isRight(each) && !isUnavailable(each)).slice(0, 3)).toEqual([]);
    expect(observed.filter((each) => withoutDatabase.includes(each.path) && !isRight(each)).slice(0, 3)).toEqual([]);
  });

  test("a server that is paused (SIGSTOP) under load delays no other server, and refuses a key revoked meanwhile as soon as it resumes", async () => {
    const [paused, other] = servers as [Server, Server];
    const created = await home.run(["keys", "create", "--account", "Endless", "--json"], { env });
    const doomed = JSON.parse(created.out) as { id: string; key: string };
    const statusOf = async (server: Server) => (await server.get("/sources", doomed.key)).status;
    expect([await statusOf(paused), await statusOf(other)]).toEqual([200, 200]);
    const observed = await underLoad(async (soFar) => {
      const responsesOf = ({ port }: Server) => soFar.filter((each) => each.port === port).length;
      await waitFor("20 responses of each server", () => responsesOf(paused) > 20 && responsesOf(other) > 20);
      paused.kill("SIGSTOP");
      try {
        const before = responsesOf(other);
        expect((await home.run(["keys", "revoke", doomed.id], { env })).code).toBe(0);
        expect(await statusOf(other)).toBe(401);
        await waitFor("100 more responses of the other server", () => responsesOf(other) > before + 100);
      } finally {
        paused.kill("SIGCONT");
      }
      expect(await statusOf(paused)).toBe(401);
      await waitUntilRecovered();
    });
    expect(observed.filter((each) => !isRight(each) && !(isUnavailable(each) && each.port === paused.port)).slice(0, 3)).toEqual([]);
  });

  test("a server that is paused in the middle of a write does not make commands fail that write, too", async () => {
    const [paused] = servers as [Server];
    const created = await home.run(["keys", "create", "--account", "Endless", "--json"], { env });
    const { id } = JSON.parse(created.out) as { id: string };
    const writing = (state: string) =>
      postgres.command(`select 1 from pg_stat_activity where datname = '${database}' and query like '%"use"%' and ${state}`);
    await using sql = new SQL(postgres.url(database), { max: 1 });
    await sql.unsafe('begin; lock table fundfeed_state."use" in exclusive mode'); // So that the server stops in the middle.
    await waitFor("a server saves the use of a key", async () => {
      await request(paused, "/sources", true);
      return (await writing("wait_event_type = 'Lock'")).length > 0;
    });
    for (const server of servers) server.kill("SIGSTOP");
    try {
      await sql.unsafe("commit");
      await waitFor("it is idle in its transaction", async () => (await writing("state = 'idle in transaction'")).length > 0);
      const { code, err } = await home.run(["keys", "revoke", id], { env });
      expect([code, err]).toEqual([0, expect.any(String)]);
    } finally {
      for (const server of servers) server.kill("SIGCONT");
    }
    await waitUntilRecovered();
  });
});
