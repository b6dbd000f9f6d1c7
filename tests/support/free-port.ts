import { createServer } from "node:net";

/**
 * The range lies below Linux's ephemeral ports. In that range, any connection on this machine could take the port before the server under
 * test listens on it, or while that server restarts.
 */
const [LOWEST_PORT, PORT_COUNT] = [10_000, 20_000];

/** Returns a loopback port on which nothing listens at the moment. */
export async function freePort(): Promise<number> {
  const port = LOWEST_PORT + Math.floor(Math.random() * PORT_COUNT);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer()
    .once("error", () => resolve(false))
    .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return (await promise) ? port : freePort();
}
