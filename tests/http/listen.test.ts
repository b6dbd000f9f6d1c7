/** The listener of the API, as other programs on the same machine meet it. */
import { expect, test } from "bun:test";
import { listen } from "../../src/http/listen.ts";

const app = { fetch: async () => new Response("here") };

test("a port that is taken is refused, and its first listener goes on", async () => {
  const first = await listen(app, { hostname: "127.0.0.1", port: 0 });
  const { port } = first;
  await expect(listen(app, { hostname: "127.0.0.1", port })).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: the port is in use;`);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("here");
  await first.stop(true);
});
