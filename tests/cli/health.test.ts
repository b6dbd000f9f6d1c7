import { expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { fundfeed } from "../support/command-line.ts";

test("health reads nothing of a body without an end", async () => {
  const piece = new Uint8Array(1024 ** 2);
  const cancelled = Promise.withResolvers<void>();
  let pieces = 0;
  const body = () =>
    new ReadableStream({
      pull: (controller) => {
        pieces++;
        controller.enqueue(piece);
      },
      cancel: () => cancelled.resolve(),
    });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(body()) });
  const url = `http://127.0.0.1:${server.port}/v1`;
  expect(await fundfeed(["health", "--url", url])).toEqual({ code: 0, out: `${url} is healthy\n`, err: "" });
  await cancelled.promise;
  expect(pieces).toBeLessThan(32);
  await server.stop(true);
});

test("health fails if the server switches protocols", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const err = `Cannot reach ${url}/meta: its response is not valid HTTP (UnrequestedUpgrade)\n`;
  expect(await fundfeed(["health", "--url", url])).toEqual({ code: 1, out: "", err });
  server.close();
});
