/** `fundfeed health`: check that a running server responds. */
import { get as getPlainly } from "node:http";
import { get as getSecurely } from "node:https";
import { Failure } from "../../../db/reason.ts";
import type { Machine } from "../../runtime/machine.ts";
import { noResponse, requestFailure } from "../../text/request-failure.ts";
import { apiBaseUrl, type CliCommand } from "../command.ts";

const URL_HELP = "base URL of the server (default: port FUNDFEED_PORT or 8080 of this machine, with TLS if FUNDFEED_TLS_CERT is set)";
const TIMEOUT_MS = 2000;
const PORT_MAX = 65_535;

export function healthCommand(command: CliCommand): CliCommand {
  return command.setting("--url <url>", URL_HELP, apiBaseUrl, undefined, undefined, "HEALTH_").action(async (options: { url?: string }) => {
    const url = options.url ?? ownAddress(command.machine.env);
    const status = await ask(`${url}/meta`, options.url !== undefined);
    if (status !== 200) throw new Failure(`Cannot get a healthy response from ${url}: GET /meta returned ${status}`);
    command.print({ url, status }, `${url} is healthy`);
  });
}

function ownAddress({ FUNDFEED_PORT: port = "8080", FUNDFEED_TLS_CERT = "" }: Machine["env"]): string {
  if (!/^\d+$/.test(port) || Number(port) > PORT_MAX) throw new Failure(`Cannot read FUNDFEED_PORT: it must be a port, not "${port}"`);
  return `${FUNDFEED_TLS_CERT === "" ? "http" : "https"}://127.0.0.1:${port}/v1`;
}

/** Returns the status of a GET. fetch() would use a proxy of the environment. On this machine, the certificate is for another name. */
async function ask(url: string, verify: boolean): Promise<number> {
  const get = url.startsWith("https:") ? getSecurely : getPlainly;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = get(url, { signal: AbortSignal.timeout(TIMEOUT_MS), rejectUnauthorized: verify }, (response) => {
    resolve(response.statusCode ?? 0);
    request.destroy(); // The body is not read: another server could send one that never ends.
  });
  const fail = (error: Error) => {
    const isLate = error.name === "TimeoutError" || error.name === "AbortError";
    const reason = isLate ? `no response within ${TIMEOUT_MS / 1000} s` : requestFailure(error).reason;
    reject(new Failure(`Cannot reach ${url}: ${reason}`));
  };
  request.on("error", fail);
  request.on("close", () => fail(noResponse()));
  return promise;
}
