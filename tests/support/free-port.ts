import { createServer } from "node:net";

/** Below those that Linux gives to connections: one of anybody's would take the port while who it is for starts, or starts again. */
const [LOWEST, COUNT] = [10_000, 20_000];

/** A port on loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const port = LOWEST + Math.floor(Math.random() * COUNT);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer()
    .once("error", () => resolve(false))
    .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return (await promise) ? port : freePort();
}
