/**
 * Preloaded into a server by `commands.ts`: measures how long its event loop stops. `GET /` on the port in `STOP_PROBE_PORT` returns the longest
 * stop since the last request, in milliseconds of the thread's CPU time, because wall-clock time also passes while other programs run.
 */
let longestMs = 0;
let before = threadMs();

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

setInterval(() => {
  const now = threadMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
}, 1).unref();

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.STOP_PROBE_PORT),
  fetch: () => {
    const response = new Response(String(longestMs));
    longestMs = 0;
    return response;
  },
}).unref();
