/** Clients that misbehave: what they cost the others, and what becomes of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { aFile, dropScratch } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);
afterAll(dropScratch);

const openFilesMax = Number(Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout.toString()) || 1024;
const IDLE = Math.min(10_000, openFilesMax - 300);

let home: Home;
let server: Server;
let key: string;
beforeAll(async () => {
  home = aHome();
  const text = "word ".repeat(60_000);
  const records = Array.from({ length: 100 }, (_, n) => ({
    source: { code: "OWN", opportunity_id: `${n}` },
    title: "A title",
    description: text,
  }));
  const { code } = await fundfeed(["import", "records", aFile(records), "--data", home.at("fundfeed-data")]);
  expect(code).toBe(0);
  key = await home.key();
  server = await home.serve(["serve", "--port", "0"], { through: ["sh", "-c", 'ulimit -n "$(ulimit -H -n)"; exec "$@"', "sh"] });
});
afterAll(() => server.stop());

const opened: Socket[] = [];
afterAll(() => {
  for (const socket of opened) socket.destroy();
});

/** A connection whose reading is paused until it is asked for. */
function open(port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(port, "127.0.0.1", () => resolve(socket));
  socket.on("error", reject);
  opened.push(socket);
  return promise;
}

const headOf = (path: string) => `GET /v1${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;

async function expectService(to: Server): Promise<void> {
  expect([(await to.get("/meta")).status, (await to.get("/opportunities?limit=1", key)).status]).toEqual([200, 200]);
}

const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

describe("other clients are served, and memory stays bounded, despite", () => {
  test(`${IDLE.toLocaleString("en-US")} idle connections`, async () => {
    const before = memoryOf(server.pid);
    const idle: Socket[] = [];
    for (let n = 0; n < IDLE; n += 500) {
      idle.push(...(await Promise.all(Array.from({ length: Math.min(500, IDLE - n) }, () => open(server.port)))));
    }
    await expectService(server);
    expect(memoryOf(server.pid) - before).toBeLessThan(300_000_000);
    for (const socket of idle) socket.destroy();
  });

  test("clients that send their request a byte at a time", async () => {
    const slow = await Promise.all(Array.from({ length: 50 }, () => open(server.port)));
    for (const letter of headOf("/meta").slice(0, 20)) {
      for (const socket of slow) socket.write(letter);
      await Bun.sleep(1);
    }
    await expectService(server);
    for (const socket of slow) socket.write(`${headOf("/meta").slice(20)}Connection: close\r\n\r\n`);
    const answers = await Promise.all(slow.map(async (socket) => Buffer.concat(await Array.fromAsync(socket)).toString()));
    expect(new Set(answers.map((answer) => answer.slice(0, 15)))).toEqual(new Set(["HTTP/1.1 200 OK"]));
  });

  test("responses of 30 MB that nobody reads", async () => {
    const before = memoryOf(server.pid);
    const deaf = await Promise.all(Array.from({ length: 5 }, () => open(server.port)));
    for (const socket of deaf) socket.pause().write(`${headOf("/opportunities?limit=100")}\r\n`);
    await expectService(server);
    expect(memoryOf(server.pid) - before).toBeLessThan(1_000_000_000);
    for (const socket of deaf) socket.destroy();
    await expectService(server);
  });

  test("request bodies of 300 MB", async () => {
    const before = memoryOf(server.pid);
    const piece = Buffer.alloc(1_000_000);
    for (const [method, framing] of [
      ["POST", "Content-Length: 300000000"],
      ["GET", "Content-Length: 300000000"],
      ["POST", "Transfer-Encoding: chunked"],
    ]) {
      const uploading = await open(server.port);
      const response = once(uploading, "data");
      uploading.write(headOf("/opportunities?limit=1").replace("GET", method ?? ""));
      uploading.write(`${framing}\r\n\r\n${framing?.endsWith("chunked") ? `${(300_000_000).toString(16)}\r\n` : ""}`);
      for (let sent = 0; sent < 300; sent++) if (!uploading.write(piece)) await once(uploading, "drain");
      expect(String(await response)).toStartWith(`HTTP/1.1 ${method === "GET" ? 200 : 405} `);
      await expectService(server);
      uploading.destroy();
    }
    expect(memoryOf(server.pid) - before).toBeLessThan(100_000_000);
  });

  test("request heads that are too long or never end", async () => {
    const [long, endless] = await Promise.all([open(server.port), open(server.port)]);
    endless.write(headOf("/meta"));
    long.write(`${headOf("/meta")}X: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(Buffer.concat(await Array.fromAsync(long)).toString()).toStartWith("HTTP/1.1 431 ");
    await expectService(server);
    endless.destroy();
  });
});

describe("a server without free file descriptors", () => {
  test("serves its open connections, and accepts new ones after some are closed", async () => {
    const small = await home.serve(["serve", "--port", "0"], { through: ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"] });
    const kept = await open(small.port);
    const ask = async () => {
      kept.write(`${headOf("/sources")}\r\n`);
      const [answer] = await once(kept, "data");
      return String(answer).slice(0, 15);
    };
    expect(await ask()).toBe("HTTP/1.1 200 OK");
    const crowd = await Promise.all(Array.from({ length: 100 }, () => open(small.port))); // The kernel takes them; the server cannot.
    await waitFor("it has no descriptor left", () => readdirSync(`/proc/${small.pid}/fd`).length === 64);
    expect(await ask()).toBe("HTTP/1.1 200 OK");
    for (const socket of crowd) socket.destroy();
    await waitFor("it takes connections again", async () => (await small.get("/meta").catch(() => undefined))?.status === 200);
    kept.destroy();
    expect(await small.stop()).toBe(0);
  });
});

describe("a stop while a client does not read", () => {
  test("waits for them; a second signal cuts them off, with exit code 1", async () => {
    const other = await home.serve();
    const deaf = await open(other.port);
    deaf.pause().write(`${headOf("/opportunities?limit=100")}\r\n`);
    await expectService(other);
    other.kill("SIGTERM");
    await waitFor("it takes no more connections", async () => (await other.get("/meta").catch(() => undefined)) === undefined);
    expect(await Promise.race([other.ended, Bun.sleep(300).then(() => "waits")])).toBe("waits");
    expect(await other.stop()).toBe(1);
  });
});
