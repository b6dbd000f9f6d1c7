/** `fundfeed serve`: serve the API. */
import { serve } from "../../server/serve.ts";
import { serveWithWorkers } from "../../server/workers.ts";
import { wholeNumber } from "../arguments.ts";
import type { Cli, CliCommand } from "../command.ts";
import { addServeOptions, type GivenServeOptions, readServeOptions } from "../serve-options.ts";

export function serveCommand(serving: CliCommand, cli: Cli): CliCommand {
  addServeOptions(serving)
    .setting(
      "--workers <n>",
      "processes that share the port; more than one needs --quotas, so that limits stay exact",
      wholeNumber(1, 64),
      1,
    )
    .examples(
      "fundfeed serve",
      "# behind a proxy that ends TLS",
      "fundfeed serve --base-url https://api.example.org/v1",
      "fundfeed serve --host 0.0.0.0 --port 443 --tls-cert c.pem --tls-key k.pem",
    );
  return serving.action(async (given: GivenServeOptions) => {
    const options = readServeOptions(serving, cli.machine, given);
    cli.isLasting = true;
    const { workers = 1 } = options;
    if (workers > 1 && options.quotas === undefined)
      serving.error("error: --workers requires --quotas redis://…: without Redis, each worker would grant a key its whole quota");
    cli.exitCode = await (workers > 1 ? serveWithWorkers(cli.machine, options) : serve(cli.machine, options));
  });
}
