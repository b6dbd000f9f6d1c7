import type { Command } from "commander";
import { openapiDocument } from "../http/openapi.ts";
import { type Cli, type CommonOptions, command } from "./command.ts";

export function openapiCommand(cli: Cli): Command {
  return command("openapi", "Print the OpenAPI document")
    .option("--base-url <url>", "public base address in the document", "http://127.0.0.1:8080/v1")
    .action((options: CommonOptions & { baseUrl: string }) => cli.machine.print(JSON.stringify(openapiDocument(options.baseUrl), null, 2)));
}
