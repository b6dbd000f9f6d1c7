import { type Command, Option } from "commander";
import { answer, type Cli, type CommonOptions, command } from "./command.ts";

const TIMEOUT_MS = 2000;

export function healthCommand(cli: Cli): Command {
  return command("health", "Ask a running server whether it answers; exit with 1 when it does not (for container health checks)")
    .addOption(new Option("--url <url>", "base address to ask").env("FUNDFEED_HEALTH_URL").default("http://127.0.0.1:8080/v1"))
    .action(async (options: CommonOptions & { url: string }) => {
      const { status } = await ask(`${options.url.replace(/\/+$/, "")}/meta`);
      if (status !== 200) throw new Error(`Cannot call ${options.url} healthy: /meta answered ${status}`);
      answer(cli, options, { url: options.url, status }, `${options.url} answers`);
    });
}

async function ask(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  } catch (error) {
    throw new Error(`Cannot reach ${url}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
