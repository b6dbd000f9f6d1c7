import { get as getPlainly } from "node:http";
import { get as getSecurely } from "node:https";
import { type Command, Option } from "commander";
import type { Machine } from "../runtime/machine.ts";
import { requestFailure } from "../text/request-failure.ts";
import { type AnyOptions, answer, baseAddress, type Cli, command } from "./command.ts";

const TIMEOUT_MS = 2000;

export function healthCommand(cli: Cli): Command {
  return command("health", "Ask a running server whether it answers; exit with 1 when it does not (for container health checks)")
    .addOption(
      new Option(
        "--url <url>",
        "base address to ask (default: this machine, at FUNDFEED_PORT or 8080, over TLS where FUNDFEED_TLS_CERT is set)",
      )
        .env("FUNDFEED_HEALTH_URL")
        .argParser(baseAddress),
    )
    .action(async (options: AnyOptions & { url?: string }) => {
      const url = options.url ?? ownAddress(cli.machine.env);
      const status = await ask(`${url}/meta`, options.url !== undefined);
      if (status !== 200) throw new Error(`Cannot call ${url} healthy: /meta answered ${status}`);
      answer(cli, options, { url, status }, `${url} answers`);
    });
}

function ownAddress({ FUNDFEED_PORT = "8080", FUNDFEED_TLS_CERT = "" }: Machine["env"]): string {
  return `${FUNDFEED_TLS_CERT === "" ? "http" : "https"}://127.0.0.1:${FUNDFEED_PORT}/v1`;
}

/**
 * Not with fetch(), which would ask a proxy that the environment names: what a proxy answers says nothing of the server. On this machine
 * the certificate is another name's, and nothing is sent that would need it.
 */
async function ask(url: string, verify: boolean): Promise<number> {
  const get = url.startsWith("https:") ? getSecurely : getPlainly;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = get(url, { signal: AbortSignal.timeout(TIMEOUT_MS), rejectUnauthorized: verify }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.on("error", (error) => reject(new Error(`Cannot reach ${url}: ${reason(error)}`)));
  return promise;
}

function reason(error: Error): string {
  if (error.name === "TimeoutError" || error.name === "AbortError") return `no answer within ${TIMEOUT_MS / 1000} s`;
  return requestFailure(error).reason;
}
