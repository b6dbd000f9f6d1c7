/** `fundfeed openapi`: print the OpenAPI document. */
import { type Command, Option } from "commander";
import { openapiDocument } from "../../http/openapi.ts";
import { publicBaseUrl } from "../arguments.ts";
import type { Cli } from "../command.ts";
import { examples, type OutputOptions } from "../output.ts";

export function openapiCommand(command: Command, cli: Cli): Command {
  return command
    .addOption(
      new Option("--base-url <url>", "public base URL in the document, ending in /v1")
        .env("FUNDFEED_BASE_URL")
        .default("http://127.0.0.1:8080/v1")
        .argParser(publicBaseUrl),
    )
    .addHelpText("after", examples("fundfeed openapi --base-url https://api.example.org/v1 > openapi.json"))
    .action((options: OutputOptions & { baseUrl: string }) =>
      cli.machine.printLine(JSON.stringify(openapiDocument(options.baseUrl), null, 2)),
    );
}
