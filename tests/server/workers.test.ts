/** `serve --workers`: processes that share one port and one Redis, as clients and operators see them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { aHome, dropHomes, type Home, QUICK, type Server } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { moreResponses, startLoad } from "../support/load.ts";
import { childrenOf, runs } from "../support/processes.ts";
import { aRedis, countedByRedis, metricsIn, type RedisServer, redisIsInstalled } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

const PASSWORD = "workers-secret";

/** Uses a new connection: a kept one would stay with one worker. */
const status = async (server: Server, path: string, key?: string): Promise<number> => {
  const headers = { Connection: "close", ...(key !== undefined && { Authorization: `Bearer ${key}` }) };
  return (await fetch(server.base + path, { headers, keepalive: false })).status;
};

const records = (more: object, count: number) =>
  Array.from(
    { length: count },
    (_, n) => `${JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `T ${n}`, ...more })}\n`,
  ).join("");

/** Runs a command on the data of a home, within this process, and returns what it printed. */
async function printed(home: Home, ...args: string[]): Promise<string> {
  const { code, out, err } = await fundfeed([...args, "--data", home.at("fundfeed-data")]);
  expect([code, err]).toEqual([0, expect.any(String)]);
  return out;
}

/** A home with these records. */
async function aFilledHome(more: object, count: number): Promise<Home> {
  const home = aHome();
  await printed(home, "import", "records", home.file("records.ndjson", records(more, count)));
  return home;
}

describe("without a Redis", () => {
  test("several workers are refused, and the message says what to do", async () => {
    const { code, out, err } = await aHome().run(["serve", "--workers", "2", "--port", "0"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toStartWith("error: --workers requires --quotas redis://…: without Redis, each worker would grant a key its whole quota\n");
  });

  test("one worker is a single process that does not share its port", async () => {
    const home = aHome();
    const server = await home.serve(["serve", "--workers", "1", "--port", "0"]);
    expect(childrenOf(server.pid)).toEqual([]);
    expect((await home.run(["serve", "--port", `${server.port}`])).err).toContain("the port is in use");
    expect(await server.stop()).toBe(0);
  });
});

describe.skipIf(!redisIsInstalled)(redisIsInstalled ? "workers" : "workers: there is no redis-server here", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await aRedis(() => ["--requirepass", PASSWORD]);
  });
  afterAll(() => redis.stop());

  const address = () => `redis://:${PASSWORD}@127.0.0.1:${redis.port}/0`;
  const begin = (home: Home, workers: number, ...more: string[]) =>
    home.serve(["serve", "--port", "0", ...more], { env: { FUNDFEED_WORKERS: `${workers}`, FUNDFEED_QUOTAS: address() } });
  const metric = async (address: string, name: string): Promise<number> => {
    const text = await (await fetch(address)).text();
    return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, "gm"))].reduce((sum, [, value]) => sum + Number(value), 0);
  };

  describe("three workers", () => {
    let home: Home;
    let server: Server;
    let metrics: string[];
    beforeAll(async () => {
      home = aHome();
      await printed(home, "sources", "add", "OWN", "--name", "Own", "--description", "Ours");
      const closesAt = new Date(Date.now() - 60_000).toISOString();
      // An import whose clock is an hour behind takes them as open, so that each worker has statuses to turn when it starts.
      const file = home.file("records.ndjson", records({ dates: { closes_at: closesAt } }, 300));
      const hourAgo = () => Date.now() - 3_600_000;
      expect((await fundfeed(["import", "records", file, "--data", home.at("fundfeed-data")], {}, hourAgo)).code).toBe(0);
      server = await begin(home, 3, "--metrics-port", "0");
      metrics = await waitFor("each says where its metrics are", () => {
        const said = metricsIn(server.log());
        return said.length === 3 && said;
      });
    });
    afterAll(async () => {
      const workers = childrenOf(server.pid);
      expect(await server.stop()).toBe(0);
      expect([server.log().includes(PASSWORD), workers.some(runs)]).toEqual([false, false]);
    });
    const aKey = async (perMinute: number) => {
      await printed(home, "plans", "set", `p${perMinute}`, "--daily", "100000", "--per-minute", `${perMinute}`);
      return (await printed(home, "keys", "create", "--account", `A${perMinute}`, "--plan", `p${perMinute}`)).trim();
    };

    test("print one address and share the requests of its port", async () => {
      expect(server.printed()).toBe(`listening on http://127.0.0.1:${server.port}/v1\n`);
      expect(childrenOf(server.pid)).toHaveLength(3);
      for (let n = 0; n < 150; n++) expect(await status(server, "/meta")).toBe(200);
      const shares = await Promise.all(metrics.map((address) => metric(address, "fundfeed_requests_total")));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(150);
      expect(Math.min(...shares)).toBeGreaterThan(15);
    });

    test("grant exactly a minute's quota when 240 requests arrive at once", async () => {
      const [granted = 0, refused = 0, back = 0] = await countedByRedis(metrics, async () => {
        const key = await aKey(12);
        const from = performance.now();
        const seen = await Promise.all(Array.from({ length: 240 }, () => status(server, "/sources", key)));
        const counts = [200, 429].map((each) => seen.filter((one) => one === each).length);
        return [...counts, Math.floor((performance.now() - from) / 5000)]; // Tokens that a slow machine has got back meanwhile.
      });
      expect([granted + refused, granted >= 12 && granted <= 12 + back]).toEqual([240, true]);
    });

    test("turn each status once, although each worker looks for status turns", async () => {
      const key = await aKey(100_000);
      const closed = async () =>
        ((await (await server.get("/opportunities?status=closed&limit=100", key)).json()) as { data: { id: string }[] }).data;
      const [one] = await waitFor("they are closed", async () => ((await closed()).length === 100 ? closed() : undefined));
      const { data } = (await (await server.get(`/opportunities/${one?.id}/events`, key)).json()) as { data: { type: string }[] };
      expect(data.filter(({ type }) => type === "status_changed")).toHaveLength(1);
      const moved = await waitFor("all are counted", async () => {
        const counts = await Promise.all(metrics.map((address) => metric(address, "fundfeed_refreshed_records_total")));
        const sum = counts.reduce((total, count) => total + count, 0);
        return sum >= 300 ? sum : undefined;
      });
      expect(moved).toBe(300);
      expect(await printed(home, "check")).toBe("No problems found\n");
    });

    test("do not show the password in the list of processes", () => {
      const lines = [server.pid, ...childrenOf(server.pid)].map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      expect(lines).toHaveLength(4);
      for (const line of lines) expect(line).not.toContain(PASSWORD);
    });

    test("write whole lines into one log", async () => {
      await Promise.all(Array.from({ length: 300 }, () => status(server, "/meta")));
      const lines = await waitFor("all are written", () => {
        const written = server.log().trim().split("\n");
        return written.filter((line) => line.includes('"/meta"')).length >= 450 ? written : undefined;
      });
      for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    });

    test.each([["1"], ["2"]])("do not share their port with another server of %s workers", async (workers) => {
      const env = { FUNDFEED_QUOTAS: address() };
      const { code, err } = await home.run(["serve", "--workers", workers, "--port", `${server.port}`], { env });
      expect([code, err]).toEqual([
        1,
        `Cannot listen on 127.0.0.1:${server.port}: the port is in use; stop the program that listens there, or choose another port (0 takes a free one)\n`,
      ]);
    });
  });

  describe("two workers", () => {
    test("respond to all requests that they accepted before SIGTERM, and log them", async () => {
      const home = await aFilledHome({}, 50);
      const [server, key] = [await begin(home, 2), await home.key()];
      const load = startLoad(server, key);
      await moreResponses(load, 300);
      expect(await server.stop()).toBe(0);
      await load.stop();
      expect([...load.statuses]).toEqual([200]);
      // A connection may still be queued at the other worker, which closes it a moment later without accepting it.
      for (const code of load.errors) expect(["ECONNREFUSED", "ECONNRESET"]).toContain(code);
      const [use] = JSON.parse(await printed(home, "keys", "list", "--json")) as { used_today: number }[];
      const lines = server.log().trim().split("\n");
      expect([lines.filter((line) => line.includes('"request_id"')).length, use?.used_today]).toEqual([load.responses, load.responses]);
      expect(lines.filter((line) => line.includes("The API reference is at"))).toHaveLength(1);
    });

    test("complete their responses when all processes get a signal at once, as systemd and terminals send it", async () => {
      const home = await aFilledHome({ description: "word ".repeat(60_000) }, 100);
      const [server, key] = [await begin(home, 2), await home.key()];
      const socket = connect(server.port, "127.0.0.1");
      socket.write(`GET /v1/opportunities?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`);
      await once(socket, "readable"); // Reads no further for now: 30 MB are far more than the sockets' buffers hold.
      for (const worker of childrenOf(server.pid)) process.kill(worker, "SIGTERM");
      const ended = server.stop();
      await waitFor("connections are refused", async () => (await status(server, "/meta").catch(() => 0)) === 0);
      await Bun.sleep(300); // Time for a second signal to do harm.
      let bytes = 0;
      for await (const piece of socket) bytes += (piece as Buffer).length;
      expect(bytes).toBeGreaterThan(30_000_000);
      expect(await ended).toBe(0);
    });

    test("a killed worker is replaced and logged, and the other one's connections go on; all stop at SIGHUP without a certificate", async () => {
      const home = await aFilledHome({}, 50);
      const [server, key] = [await begin(home, 2), await home.key()];
      const load = startLoad(server, key);
      await moreResponses(load, 300);
      const [killed = 0, other = 0] = childrenOf(server.pid);
      process.kill(killed, "SIGKILL");
      const replaced = () => childrenOf(server.pid).filter((pid) => pid !== killed);
      await waitFor("it is replaced", () => replaced().length === 2);
      expect(replaced()).toContain(other);
      await moreResponses(load, 300);
      await load.stop();
      expect([...load.statuses]).toEqual([200]);
      expect(load.errors.length).toBeLessThanOrEqual(8); // Only what was under way at the killed worker.
      expect(server.log()).toMatch(/Worker \d ended \(SIGKILL\): another one starts in 0\.1 s/);
      for (const worker of childrenOf(server.pid)) process.kill(worker, "SIGHUP"); // As a closed terminal does.
      server.kill("SIGHUP");
      expect(await server.ended).toBe(0);
      expect(server.log().split("SIGHUP: the server stops").length).toBe(2);
    });

    test("all stop, with one sentence, when their files are replaced", async () => {
      const home = aHome();
      const server = await begin(home, 2);
      const workers = childrenOf(server.pid);
      renameSync(home.at("fundfeed-data"), home.at("away"));
      expect(await server.ended).toBe(1);
      expect(workers.some(runs)).toBe(false);
      expect(server.log().split("Cannot go on: the files in fundfeed-data were replaced").length).toBe(2);
      expect(server.log()).not.toContain("another one starts");
      expect(existsSync(home.at("fundfeed-data"))).toBe(false);
    });

    test("report an error once and fail if the first worker cannot start", async () => {
      const home = aHome();
      home.file("not-a-directory", "");
      const { code, out, err } = await home.run(["serve", "--workers", "2", "--port", "0", "--data", "not-a-directory"], {
        env: { FUNDFEED_QUOTAS: address() },
      });
      expect([code, out, err.trim().split("\n").length]).toEqual([1, "", 1]);
      expect(err).toStartWith("Cannot ");
    });

    test("serve over TLS, all use the new certificate after SIGHUP, and end when their parent process is killed", async () => {
      const home = aHome();
      const certify = (name: string) => {
        const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
        const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", home.at("server.key")];
        Bun.spawnSync(["openssl", "req", "-x509", ...key, "-out", home.at("server.crt"), "-days", "2", ...subject]);
        return readFileSync(home.at("server.crt"));
      };
      const first = certify("first");
      const server = await begin(home, 2, "--tls-cert", "server.crt", "--tls-key", "server.key");
      const accepted = async (ca: Buffer) => {
        const answers = Array.from({ length: 20 }, () => fetch(`${server.base}/meta`, { keepalive: false, tls: { ca } }));
        return (await Promise.allSettled(answers)).filter(({ status }) => status === "fulfilled").length;
      };
      expect(await accepted(first)).toBe(20);
      const second = certify("second");
      server.kill("SIGHUP");
      await waitFor("both reload it", () => server.log().split("Reloaded the certificate").length === 3);
      expect([await accepted(first), await accepted(second)]).toEqual([0, 20]);
      const workers = childrenOf(server.pid);
      server.kill("SIGKILL");
      await waitFor("no worker is left", () => !workers.some(runs));
      expect(workers).toHaveLength(2);
    });

    test("also run from source", async () => {
      const data = aHome().at("data");
      const main = join(import.meta.dir, "../../src/main.ts");
      const child = Bun.spawn([process.execPath, main, "serve", "--workers", "2", "--port", "0", "--data", data], {
        env: { ...process.env, ...QUICK, FUNDFEED_QUOTAS: address() },
        stdout: "pipe",
        stderr: "ignore",
      });
      const { value } = await child.stdout.getReader().read();
      const [, base = ""] = /listening on (\S+)/.exec(new TextDecoder().decode(value)) ?? [];
      expect([(await fetch(`${base}/meta`)).status, childrenOf(child.pid).length]).toEqual([200, 2]);
      child.kill("SIGTERM");
      expect(await child.exited).toBe(0);
    });
  });
});
