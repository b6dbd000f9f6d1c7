/** A webhook receiver on this machine that answers as a test wants and remembers what it accepted. */
export type Posted = { path: string; headers: Headers; body: string };

export type Receiver = {
  url: string;
  posted: Posted[];
  /** Makes the response to each request; 204 unless a test replaces it. */
  respond: (posted: Posted) => Response | Promise<Response>;
  stop: () => Promise<void>;
};

export function startReceiver(): Receiver {
  const receiver: Receiver = {
    url: "",
    posted: [],
    respond: () => new Response(null, { status: 204 }),
    stop: () => server.stop(true),
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const posted = { path: new URL(request.url).pathname, headers: request.headers, body: await request.text() };
      receiver.posted.push(posted);
      return receiver.respond(posted);
    },
  });
  receiver.url = `http://127.0.0.1:${server.port}/hook`;
  return receiver;
}
