/** Whoever reads the log must not be able to stop the service by not reading it. */
import { afterAll, expect, test } from "bun:test";
import { aHome, dropHomes } from "../support/binary.ts";

afterAll(dropHomes);

test("a log whose reader hangs blocks nothing: requests get responses, and SIGTERM ends the server", async () => {
  const home = aHome();
  const key = await home.key();
  const fifo = home.at("log");
  Bun.spawnSync(["mkfifo", fifo]);
  const reader = Bun.spawn(["sh", "-c", 'exec sleep 600 <> "$0"', fifo]); // Holds the pipe open and reads nothing of it.
  const server = await home.serve(["serve", "--port", "0"], { through: ["sh", "-c", 'fifo="$0"; exec "$@" 2>"$fifo"', fifo] });
  // A pipe holds 64 KiB; each of these leaves a line of some 200 bytes.
  for (let round = 0; round < 40; round++) {
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await server.get("/opportunities?limit=1", key)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
  }
  expect(await server.stop()).toBe(0);
  reader.kill();
});
