/** `fundfeed serve`: serve the API. */
import { serve } from "../../server/serve.ts";
import type { CliCommand } from "../command.ts";
import { addServeOptions, type GivenServeOptions, readServeOptions } from "../serve-options.ts";

export function serveCommand(serving: CliCommand): CliCommand {
  addServeOptions(serving)
    .former("--workers", "start several servers behind a proxy instead; see fundfeed help scale")
    .examples(
      "fundfeed serve",
      "# behind a proxy that ends TLS",
      "fundfeed serve --base-url https://api.example.org/v1",
      "fundfeed serve --host 0.0.0.0 --port 443 --tls-cert c.pem --tls-key k.pem",
    );
  return serving.action(async (given: GivenServeOptions) => {
    const options = readServeOptions(serving, serving.machine, given);
    serving.cli.isLasting = true;
    serving.cli.exitCode = await serve(serving.machine, options);
  });
}
